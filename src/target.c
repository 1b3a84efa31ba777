/*-------------------------------------------------------------------------
 *
 * target.c
 *	  The table that a flow writes: finding, creating and checking it.
 *
 * An existing table is taken as it is.  What would make runs slow or would
 * make the server refuse them gets a warning with the statement that mends it.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "catalog/catalog.h"
#include "catalog/namespace.h"
#include "catalog/partition.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_publication.h"
#include "commands/defrem.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/varlena.h"

#include "compat.h"
#include "flow_catalog.h"
#include "foreign_key.h"
#include "query.h"
#include "role.h"
#include "sql_text.h"
#include "target.h"
#include "target_shape.h"

/*
 * Look up a table's name with the caller's search path.
 */
RfTargetName
rf_target_find(const char *text)
{
	RfTargetName target = {0};
	RangeVar   *name;

	name = makeRangeVarFromNameList(textToQualifiedNameList(cstring_to_text(text)));
	target.name = name->relname;
	target.relid = RangeVarGetRelid(name, NoLock, true);
	if (OidIsValid(target.relid))
		target.schema = get_namespace_name(get_rel_namespace(target.relid));
	else
		target.schema = get_namespace_name(RangeVarGetCreationNamespace(name));
	return target;
}

/*
 * Create a target with the columns of a query, and an index on the key, if there
 * is one.  The caller's own rights decide.
 */
void
rf_target_create(RfTargetName *target, const char *flow_name,
				 int ncolumns, char **names, RfType *types,
				 int nkeys, char **keys)
{
	TupleDesc	columns = CreateTemplateTupleDesc(ncolumns);
	Oid			namespace = get_namespace_oid(target->schema, false);
	RfRoleGuard guard;

	if (isTempNamespace(namespace) || namespace == rf_flow_namespace())
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("the target of flow \"%s\" cannot be created in schema \"%s\"",
						flow_name, target->schema),
				 errdetail("A target is a permanent table of its owner."),
				 errhint("Name a schema of your own before the table's name.")));
	for (int i = 0; i < ncolumns; i++)
		rf_type_describe(columns, i + 1, names[i], types[i]);
	rf_role_assume(&guard, GetUserId());
	(void) rf_query_execute(rf_sql_create_table(target->schema, target->name, columns), NULL);
	if (nkeys > 0)
		(void) rf_query_execute(rf_sql_create_index(target->schema, target->name, nkeys, keys),
								NULL);
	rf_role_restore(&guard);
	target->relid = get_relname_relid(target->name, namespace);
}

static void
refuse(Oid relid, const char *flow_name, const char *detail)
{
	ereport(ERROR,
			(errcode(ERRCODE_WRONG_OBJECT_TYPE),
			 errmsg("\"%s\" cannot be the target of flow \"%s\"",
					get_rel_name(relid), flow_name),
			 errdetail_internal("%s", detail),
			 errhint("A target is an ordinary or partitioned table.")));
}

static void
refuse_foreign_partitions(Oid relid, const char *flow_name)
{
	ListCell   *cell;

	foreach(cell, find_all_inheritors(relid, AccessShareLock, NULL))
	{
		if (get_rel_relkind(lfirst_oid(cell)) == RELKIND_FOREIGN_TABLE)
			refuse(relid, flow_name, psprintf("Its partition \"%s\" is a foreign table.",
											  get_rel_name(lfirst_oid(cell))));
	}
}

/*
 * The flow's owner must own the table.  To be asked before the table is locked
 * too, so that nobody keeps others out of a table that is not theirs.
 */
void
rf_target_check_owner(Oid relid, Oid owner, const char *flow_name)
{
	/* whether it is still there is seen under the lock */
	if (get_rel_name(relid) != NULL && !rf_class_ownercheck(relid, owner))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("role \"%s\" must be owner of table \"%s\"",
						rf_role_name(owner), get_rel_name(relid)),
				 errdetail("The table is the target of flow \"%s\".", flow_name),
				 errhint("A flow and its target belong to one role; REASSIGN OWNED hands both on.")));
}

/*
 * Whether a table can be the target of a flow of this role: when the flow is
 * created, and at each run.
 */
void
rf_target_check(Oid relid, Oid owner, const char *flow_name)
{
	char		relkind = get_rel_relkind(relid);

	if (relkind != RELKIND_RELATION && relkind != RELKIND_PARTITIONED_TABLE)
		refuse(relid, flow_name, "It is not a table.");
	rf_target_check_owner(relid, owner, flow_name);
	if (IsCatalogRelationOid(relid) || get_rel_namespace(relid) == rf_flow_namespace())
		refuse(relid, flow_name, "It is a system catalog.");
	if (get_rel_persistence(relid) == RELPERSISTENCE_TEMP)
		refuse(relid, flow_name, "It is a temporary table, which other sessions cannot see.");
	if (relkind == RELKIND_RELATION &&
		find_inheritance_children(relid, AccessShareLock) != NIL)
		refuse(relid, flow_name, "Other tables inherit from it.");
	if (relkind == RELKIND_PARTITIONED_TABLE)
		refuse_foreign_partitions(relid, flow_name);
}

/*
 * A table, its partitions and children, and the tables that it is a part of.
 */
List *
rf_table_family(Oid relid)
{
	return list_concat_copy(find_all_inheritors(relid, AccessShareLock, NULL),
							get_partition_ancestors(relid));
}

static void
refuse_shared(const char *flow_name, Oid relid, const char *role, const char *other)
{
	if (other != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_DUPLICATE_OBJECT),
				 errmsg("table \"%s\" cannot serve flow \"%s\"",
						get_rel_name(relid), flow_name),
				 errdetail("It is, or is a part or a parent of, %s of flow \"%s\".", role, other),
				 errhint("Use a table of its own for each flow.")));
}

bool
rf_have_common_member(List *relids1, List *relids2)
{
	ListCell   *cell;

	foreach(cell, relids1)
	{
		if (list_member_oid(relids2, lfirst_oid(cell)))
			return true;
	}
	return false;
}

static List *
family_of_stream(Oid source)
{
	return OidIsValid(source) ? rf_table_family(source) : NIL;
}

/*
 * A table is the target of one flow, or the stream of one flow.  The caller
 * keeps others from defining flows.  A where flow has no stream.
 */
void
rf_target_check_free(const char *flow_name, int32 flow_id, Oid target, Oid source)
{
	List	   *target_family = rf_table_family(target);
	List	   *source_family = family_of_stream(source);

	if (rf_have_common_member(target_family, source_family))
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" cannot be the stream of flow \"%s\"",
						get_rel_name(source), flow_name),
				 errdetail("It is, or is a part or a parent of, the flow's target."),
				 errhint("Stage the rows in an ordinary or partitioned table of their own.")));
	refuse_shared(flow_name, target, "the target",
				  rf_catalog_flow_of_target(target_family, flow_id));
	refuse_shared(flow_name, target, "the stream",
				  rf_catalog_flow_of_source(target_family, flow_id));
	refuse_shared(flow_name, source, "the target",
				  rf_catalog_flow_of_target(source_family, flow_id));
	refuse_shared(flow_name, source, "the stream",
				  rf_catalog_flow_of_source(source_family, flow_id));
}

/*
 * The same for a run: a table may have been attached to another since.  One
 * that is no part and has none belongs to nobody else.
 */
void
rf_target_check_alone(const char *flow_name, int32 flow_id, Oid target, Oid source)
{
	if (list_length(rf_table_family(target)) > 1 || list_length(family_of_stream(source)) > 1)
		rf_target_check_free(flow_name, flow_id, target, source);
}

/*
 * Warn when no index of the target serves the key.
 */
void
rf_target_warn_of_index(const RfTargetName *target, const char *flow_name,
						int nkeys, const AttrNumber *keys, char **names)
{
	if (!rf_has_key_index(target->relid, nkeys, keys))
		ereport(WARNING,
				(errmsg("no index of table \"%s\" serves the key of flow \"%s\"",
						target->name, flow_name),
				 errdetail("Each run has to read the whole table to find the rows of its keys."),
				 errhint("%s", rf_sql_create_index(target->schema, target->name, nkeys, names))));
}

static const char *
action_name(char action)
{
	switch (action)
	{
		case FKCONSTR_ACTION_CASCADE:
			return "CASCADE";
		case FKCONSTR_ACTION_SETNULL:
			return "SET NULL";
		case FKCONSTR_ACTION_SETDEFAULT:
			return "SET DEFAULT";
		default:
			return NULL;
	}
}

/*
 * Warn of foreign keys that change other tables when a run deletes rows.
 */
void
rf_target_warn_of_cascades(Oid relid, const char *flow_name)
{
	ListCell   *cell;

	foreach(cell, rf_foreign_keys(relid))
	{
		RfForeignKey *key = lfirst(cell);
		const char *action = action_name(key->on_delete);

		if (action != NULL)
			ereport(WARNING,
					(errmsg("foreign key \"%s\" of table \"%s\" acts when flow \"%s\" deletes rows",
							key->name, get_rel_name(key->table), flow_name),
					 errdetail("It is ON DELETE %s, and a run deletes rows that a newer set no longer has.",
							   action),
					 errhint("Make it ON DELETE NO ACTION to have such runs fail instead.")));
	}
}

/*
 * Warn when a table is published in a way that makes the server refuse to
 * delete its rows.
 */
void
rf_target_warn_of_publication(Oid relid, const char *what, const char *flow_name)
{
	Relation	table = table_open(relid, AccessShareLock);
	PublicationDesc publication;
	bool		refused;

	RelationBuildPublicationDesc(table, &publication);
	refused = (publication.pubactions.pubdelete || publication.pubactions.pubupdate) &&
		table->rd_rel->relreplident != REPLICA_IDENTITY_FULL &&
		!OidIsValid(RelationGetReplicaIndex(table));
	table_close(table, NoLock);
	if (refused)
		ereport(WARNING,
				(errmsg("the %s \"%s\" of flow \"%s\" is published without a replica identity",
						what, get_rel_name(relid), flow_name),
				 errdetail("The server refuses to delete and update its rows, and runs that need to will fail."),
				 errhint("%s", rf_sql_replica_identity_hint(relid))));
}
