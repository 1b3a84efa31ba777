/*-------------------------------------------------------------------------
 *
 * ledger.c
 *	  Where floors are kept, when flows are created and altered.
 *
 * The floor of a key is in the target's rows where they store the sequence, and
 * else in the flow's ledger; so are floors of emptied keys.  Either must go on
 * to mean what it meant when a flow is altered.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/lsyscache.h"

#include "flow.h"
#include "ledger.h"
#include "query.h"
#include "regcolumn.h"
#include "role.h"
#include "sql_text.h"
#include "using_definition.h"

/* Default privileges of the catalog's owner are not meant for a ledger. */
static void
revoke_all(Oid relid)
{
	RfArgs		args = {0};
	RfRow	   *rows;
	int			nrows;

	rf_arg(&args, OIDOID, ObjectIdGetDatum(relid));
	nrows = rf_query_all("SELECT DISTINCT grantee FROM pg_class, aclexplode(relacl)"
						 " WHERE pg_class.oid = $1 AND grantee <> relowner", &args, &rows);
	for (int i = 0; i < nrows; i++)
		(void) rf_query_execute(rf_sql_revoke_all(relid, rf_row_oid(&rows[i], "grantee")), NULL);
}

/*
 * Create a flow's ledger.
 */
void
rf_ledger_create(const RfDefinition *definition, int32 flow_id)
{
	char	   *name = rf_flow_ledger_name(flow_id);
	RfType	   *types = palloc(definition->nkeys * sizeof(RfType));
	RfRoleGuard guard;

	for (int i = 0; i < definition->nkeys; i++)
		types[i] = rf_type_of_column(definition->row.target, definition->key_attnums[i]);
	rf_role_assume_catalog(&guard);
	(void) rf_query_execute(rf_sql_create_ledger(name, definition->nkeys, types,
												 rf_definition_sequence_type(definition)),
							NULL);
	revoke_all(get_relname_relid(name, rf_flow_namespace()));
	(void) rf_query_execute(rf_sql_set_table_owner(name, GetUserNameFromId(definition->owner,
																		   false)), NULL);
	rf_flow_depend_on_extension(RelationRelationId,
								get_relname_relid(name, rf_flow_namespace()));
	rf_role_restore(&guard);
}

static bool
is_kept_in_ledger(const RfFlow *flow, const char *column, RfType type)
{
	AttrNumber	attnum = get_attnum(flow->ledger, column);

	return attnum != InvalidAttrNumber &&
		rf_type_is_same(rf_type_of_column(flow->ledger, attnum), type);
}

/* Whether the ledger's floors would mean something else. */
static bool
outdates_ledger(const RfDefinition *definition, bool new_sequence)
{
	const RfFlow *flow = definition->before;
	bool		was_stored = rf_flow_attnum(flow, flow->sequence_view_column) > 0;

	if (new_sequence || definition->nkeys != flow->nkeys ||
		definition->stored != was_stored ||
		!is_kept_in_ledger(flow, RF_LEDGER_SEQUENCE, rf_definition_sequence_type(definition)))
		return true;
	for (int i = 0; i < flow->nkeys; i++)
	{
		AttrNumber	attnum = definition->key_attnums[i];

		if (attnum != rf_flow_attnum(flow, flow->key_outputs[i]) ||
			!is_kept_in_ledger(flow, rf_sql_ledger_key(i),
							   rf_type_of_column(flow->target, attnum)))
			return true;
	}
	return false;
}

static bool
finds_rows(const RfFlow *flow, const char *sql)
{
	RfRoleGuard guard;
	bool		found;

	rf_role_assume(&guard, flow->owner);
	found = rf_query_execute(sql, NULL) > 0;
	rf_role_restore(&guard);
	return found;
}

static void
refuse_new_floors(const RfFlow *flow, const char *where)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("key and sequence of flow \"%s\" cannot change any more", flow->name),
			 errdetail("Its %s holds floors under the old ones.", where),
			 errhint("Drop the flow, which forgets its floors, and create it again.")));
}

/*
 * Floors that the target holds must stay what they are: the sequence may move
 * to another of its columns that has a value in each row, and else only while
 * there are no rows.
 */
void
rf_ledger_check_target(const RfDefinition *definition)
{
	const RfFlow *flow = definition->before;
	AttrNumber	before = rf_flow_attnum(flow, flow->sequence_view_column);
	int			output = rf_definition_output(definition, definition->row.sequence_column);
	AttrNumber	attnum = definition->stored ? definition->output_attnums[output] : 0;

	if (before > 0 && attnum != before &&
		finds_rows(flow, rf_sql_first_row(flow->target, attnum > 0 ?
										  rf_column_name(flow->target, attnum) : NULL)))
		refuse_new_floors(flow, "target");
}

/*
 * A ledger goes on to be kept once there is one: it may hold the floors of
 * emptied keys.
 */
void
rf_ledger_settle(RfDefinition *definition, bool new_sequence)
{
	const RfFlow *flow = definition->before;
	RfRoleGuard guard;

	if (flow->has_ledger && outdates_ledger(definition, new_sequence))
	{
		if (finds_rows(flow, rf_sql_first_row(flow->ledger, NULL)))
			refuse_new_floors(flow, "ledger");
		rf_role_assume_catalog(&guard);
		(void) rf_query_execute(rf_sql_drop_own_table(flow->ledger), NULL);
		rf_role_restore(&guard);
		if (definition->row.has_ledger)
			rf_ledger_create(definition, flow->id);
	}
	else if (flow->has_ledger)
		definition->row.has_ledger = true;
	else if (definition->row.has_ledger)
		rf_ledger_create(definition, flow->id);
}
