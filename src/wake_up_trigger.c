/*-------------------------------------------------------------------------
 *
 * wake_up_trigger.c
 *	  The triggers that notice that rows came into a table.
 *
 * The worker is woken by who writes a stream, or a table that a where flow with
 * refresh_on_change reads.  Such a table, and each of its partitions, since they
 * can be written by their own names, has a statement trigger, which fires
 * always; and where its rows are stored a trigger for rows, which fires only for
 * those that a subscription applies, since that fires no statement triggers.
 * A row trigger on the partitioned table itself would be copied by the server to
 * each table that is attached, and fail that where the table has one already.
 *
 * They are internal triggers, as those of foreign keys are: they follow from the
 * flows, so a dump has the flows and not the triggers, and names of triggers are
 * the users' own.  They are told from others by their function.  They go with the
 * extension.
 *
 * Which table needs them follows from the flows and the tables as they are.  Who
 * makes a flow that needs a trigger locks the table against writers, and who
 * removes one locks it against everybody, and looks only then: so nobody
 * removes what another session has just come to need.  Where we act in somebody
 * else's transaction we neither wait nor fail; what is missing then, or after a
 * restore, is left to the scheduler.  A trigger too many wakes the worker for
 * nothing; it goes the next time.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/relation.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/catalog.h"
#include "catalog/dependency.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_trigger.h"
#include "catalog/pg_type.h"
#include "commands/event_trigger.h"
#include "commands/trigger.h"
#include "fmgr.h"
#include "nodes/makefuncs.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/hsearch.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "attempt.h"
#include "compat.h"
#include "flow.h"
#include "flow_catalog.h"
#include "query.h"
#include "query_reads.h"
#include "reentry.h"
#include "role.h"
#include "sql_text.h"
#include "wake_up.h"
#include "wake_up_trigger.h"

PG_FUNCTION_INFO_V1(replace_flow_note_staged);
PG_FUNCTION_INFO_V1(replace_flow_note_definitions);
PG_FUNCTION_INFO_V1(replace_flow_after_ddl);

/* Types of triggers, as pg_trigger has them. */
#define STATEMENT_TRIGGER \
	(TRIGGER_TYPE_INSERT | TRIGGER_TYPE_UPDATE | TRIGGER_TYPE_DELETE | TRIGGER_TYPE_TRUNCATE)
#define STREAM_ROW_TRIGGER (TRIGGER_TYPE_ROW | TRIGGER_TYPE_INSERT | TRIGGER_TYPE_UPDATE)
#define SOURCE_ROW_TRIGGER (STREAM_ROW_TRIGGER | TRIGGER_TYPE_DELETE)

/* A table that needs triggers. */
typedef struct RfWaking
{
	Oid			relid;			/* hash key */
	bool		is_source;		/* deleted rows matter too */
} RfWaking;

/*
 * note_staged(): trigger, of statements and of replicated rows.  Rows that the
 * run of a flow consumes are no news.
 */
Datum
replace_flow_note_staged(PG_FUNCTION_ARGS)
{
	TriggerData *data = (TriggerData *) fcinfo->context;
	Oid			relid;

	if (!CALLED_AS_TRIGGER(fcinfo))
		elog(ERROR, "unexpected call of replace_flow.note_staged()");
	relid = RelationGetRelid(data->tg_relation);
	if (!TRIGGER_FIRED_BY_DELETE(data->tg_event) || !rf_reentry_consumes(relid))
		rf_wake_up_note(relid);
	return PointerGetDatum(NULL);
}

/*
 * note_definitions(): trigger, of the table of flows.
 */
Datum
replace_flow_note_definitions(PG_FUNCTION_ARGS)
{
	if (!CALLED_AS_TRIGGER(fcinfo))
		elog(ERROR, "unexpected call of replace_flow.note_definitions()");
	rf_wake_up_note_definitions();
	return PointerGetDatum(NULL);
}

/* A view and a materialized view cannot, and nobody else sees a temporary child. */
static bool
can_have_triggers(Oid relid)
{
	char		relkind = get_rel_relkind(relid);

	return (relkind == RELKIND_RELATION || relkind == RELKIND_PARTITIONED_TABLE) &&
		get_rel_persistence(relid) != RELPERSISTENCE_TEMP && !IsCatalogRelationOid(relid);
}

/* Those of some relations that can have triggers, with partitions and children. */
static List *
with_parts(List *relids)
{
	List	   *tables = NIL;
	ListCell   *cell;
	ListCell   *part;

	foreach(cell, relids)
	{
		foreach(part, find_all_inheritors(lfirst_oid(cell), NoLock, NULL))
		{
			if (can_have_triggers(lfirst_oid(part)))
				tables = lappend_oid(tables, lfirst_oid(part));
		}
	}
	return tables;
}

static bool
may_have_triggered(Oid relid, Oid owner)
{
	return pg_class_aclcheck(relid, owner, ACL_TRIGGER) == ACLCHECK_OK;
}

/*
 * Of what a flow's query reads, what its owner may let wake it: the right may
 * have been revoked, or a view replaced.  By OID, as everybody locks them.
 */
static List *
waking_sources(List *reads, Oid owner)
{
	List	   *relids = NIL;
	ListCell   *cell;

	foreach(cell, reads)
	{
		if (can_have_triggers(lfirst_oid(cell)) && may_have_triggered(lfirst_oid(cell), owner))
			relids = lappend_oid(relids, lfirst_oid(cell));
	}
	list_sort(relids, list_oid_cmp);
	return with_parts(relids);
}

static bool
is_using(const RfRow *flow)
{
	return rf_flow_kind_parse(rf_row_text(flow, "kind")) == RF_USING;
}

/*
 * The tables that are to wake each of some flows, which are rows of
 * rf_catalog_woken_flows(); each table before its partitions.
 */
List **
rf_wake_up_tables(int nflows, const RfRow *flows)
{
	List	  **tables = palloc(nflows * sizeof(List *));
	int32	   *where_flows = palloc(nflows * sizeof(int32));
	List	  **reads;
	int			nwhere = 0;

	for (int i = 0; i < nflows; i++)
	{
		if (!is_using(&flows[i]))
			where_flows[nwhere++] = (int32) rf_row_int64(&flows[i], "flow_id");
	}
	reads = rf_reads_of_flows(nwhere, where_flows);
	for (int i = 0; i < nflows; i++)
		tables[i] = is_using(&flows[i]) ?
			with_parts(list_make1_oid(rf_row_oid(&flows[i], "source"))) :
			waking_sources(*reads++, rf_row_oid(&flows[i], "owner"));
	return tables;
}

/* Those of one flow; NIL if none are to wake it. */
static List *
tables_of_flow(int32 flow_id)
{
	RfRow	   *flow;

	return rf_catalog_woken_flow(flow_id, &flow) == 0 ? NIL : rf_wake_up_tables(1, flow)[0];
}

/* Add the tables of a flow to those that need triggers. */
static void
add_waking(HTAB *waking, List *tables, bool is_source)
{
	ListCell   *cell;

	foreach(cell, tables)
	{
		Oid			relid = lfirst_oid(cell);
		bool		found;
		RfWaking   *table = hash_search(waking, &relid, HASH_ENTER, &found);

		table->is_source = is_source || (found && table->is_source);
	}
}

/* The tables that need triggers. */
static HTAB *
find_waking(void)
{
	HASHCTL		control = {
		.keysize = sizeof(Oid),
		.entrysize = sizeof(RfWaking),
		.hcxt = CurrentMemoryContext
	};
	HTAB	   *waking = hash_create("replace_flow waking tables", 64, &control,
									 HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	RfRow	   *flows;
	int			nflows = rf_catalog_woken_flows(&flows);
	List	  **tables = rf_wake_up_tables(nflows, flows);

	for (int i = 0; i < nflows; i++)
		add_waking(waking, tables[i], !is_using(&flows[i]));
	return waking;
}

/* The triggers that a table needs, by type: one or two. */
static List *
needed_types(const RfWaking *table)
{
	List	   *types = list_make1_int(STATEMENT_TRIGGER);

	if (get_rel_relkind(table->relid) == RELKIND_RELATION)
		types = lappend_int(types, table->is_source ? SOURCE_ROW_TRIGGER : STREAM_ROW_TRIGGER);
	return types;
}

/* When triggers of a type fire. */
static char
fires_when(int16 type)
{
	return TRIGGER_FOR_ROW(type) ? TRIGGER_FIRES_ON_REPLICA : TRIGGER_FIRES_ALWAYS;
}

static Oid
note_staged_function(void)
{
	oidvector  *no_arguments = buildoidvector(NULL, 0);

	return GetSysCacheOid3(PROCNAMEARGSNSP, Anum_pg_proc_oid,
						   CStringGetDatum("note_staged"), PointerGetDatum(no_arguments),
						   ObjectIdGetDatum(rf_flow_namespace()));
}

static void
create_trigger(Oid relid, int16 type)
{
	CreateTrigStmt *statement = makeNode(CreateTrigStmt);
	ObjectAddress trigger;

	statement->trigname = TRIGGER_FOR_ROW(type) ? "replace_flow_staged_replica" :
		"replace_flow_staged";
	statement->row = TRIGGER_FOR_ROW(type);
	statement->timing = TRIGGER_TYPE_AFTER;
	statement->events = type & ~TRIGGER_TYPE_ROW;
	trigger = CreateTriggerFiringOn(statement, NULL, relid, InvalidOid, InvalidOid, InvalidOid,
									note_staged_function(), InvalidOid, NULL, true, false,
									fires_when(type));
	rf_flow_depend_on_extension(TriggerRelationId, trigger.objectId);
	CommandCounterIncrement();
}

static void
drop_trigger(Oid trigger)
{
	ObjectAddress address = {TriggerRelationId, trigger, 0};

	performDeletion(&address, DROP_RESTRICT,
					PERFORM_DELETION_INTERNAL | PERFORM_DELETION_QUIETLY);
}

/* Whether a trigger fires as we made it; its owner may have disabled it. */
static bool
fires_as_made(const Trigger *trigger)
{
	return trigger->tgenabled == fires_when(trigger->tgtype) ||
		trigger->tgenabled == TRIGGER_DISABLED;
}

/* Triggers of a table that are ours and not needed; take from "types" what it has. */
static List *
superfluous_triggers(Oid relid, List **types)
{
	Relation	table = table_open(relid, NoLock);
	Oid			function = note_staged_function();
	List	   *superfluous = NIL;

	for (int i = 0; table->trigdesc != NULL && i < table->trigdesc->numtriggers; i++)
	{
		Trigger    *trigger = &table->trigdesc->triggers[i];

		if (trigger->tgfoid != function)
			continue;
		if (list_member_int(*types, trigger->tgtype) && fires_as_made(trigger))
			*types = list_delete_int(*types, trigger->tgtype);
		else
			superfluous = lappend_oid(superfluous, trigger->tgoid);
	}
	table_close(table, NoLock);
	return superfluous;
}

/* Rows that came while a trigger was missing are news. */
static void
create_triggers(Oid relid, List *types)
{
	ListCell   *cell;

	foreach(cell, types)
		create_trigger(relid, lfirst_int(cell));
	if (types != NIL)
		rf_wake_up_note(relid);
}

/* Whether this transaction keeps everybody else out of a table already. */
static bool
is_mine(Oid relid)
{
	Relation	relation;
	bool		mine;

	if (!ConditionalLockRelationOid(relid, AccessShareLock))
		return false;
	relation = try_relation_open(relid, NoLock);
	mine = relation != NULL && CheckRelationLockedByMe(relation, AccessExclusiveLock, false);
	if (relation != NULL)
		relation_close(relation, NoLock);
	return mine;
}

/* What adjust() is given. */
typedef struct RfAdjustment
{
	Oid			relid;
	HTAB	   *waking;
} RfAdjustment;

/*
 * Give a table the triggers that it needs, and no others as far as it is locked
 * for that.
 */
static void
adjust(void *arg)
{
	RfAdjustment *adjustment = arg;
	Oid			relid = adjustment->relid;
	RfWaking   *table = hash_search(adjustment->waking, &relid, HASH_FIND, NULL);
	List	   *missing = table == NULL ? NIL : needed_types(table);
	List	   *superfluous = superfluous_triggers(relid, &missing);
	ListCell   *cell;

	if (is_mine(relid))
	{
		foreach(cell, superfluous)
			drop_trigger(lfirst_oid(cell));
		CommandCounterIncrement();
	}
	create_triggers(relid, missing);
}

/* The tables, and per table the types, that triggers are needed for, as arrays. */
static void
add_needed(RfArgs *args, HTAB *waking)
{
	int			count = 0;
	Datum	   *relids = palloc(2 * hash_get_num_entries(waking) * sizeof(Datum));
	Datum	   *types = palloc(2 * hash_get_num_entries(waking) * sizeof(Datum));
	HASH_SEQ_STATUS scan;
	RfWaking   *table;
	ListCell   *type;

	hash_seq_init(&scan, waking);
	while ((table = hash_seq_search(&scan)) != NULL)
	{
		foreach(type, needed_types(table))
		{
			relids[count] = ObjectIdGetDatum(table->relid);
			types[count++] = Int16GetDatum((int16) lfirst_int(type));
		}
	}
	rf_arg(args, OIDARRAYOID,
		   PointerGetDatum(construct_array(relids, count, OIDOID, sizeof(Oid), true,
										   TYPALIGN_INT)));
	rf_arg(args, INT2ARRAYOID,
		   PointerGetDatum(construct_array(types, count, INT2OID, sizeof(int16), true,
										   TYPALIGN_SHORT)));
}

/*
 * The tables that have triggers too many ("superfluous") or too few.
 */
static int
find_unsettled(HTAB *waking, RfRow **rows)
{
	RfArgs		args = {0};
	RfRoleGuard guard;
	int			nrows;

	add_needed(&args, waking);
	rf_arg(&args, OIDOID, ObjectIdGetDatum(note_staged_function()));
	rf_role_assume(&guard, rf_role_of_catalog());
	nrows = rf_query_all("SELECT DISTINCT coalesce(n.relid, p.relid) AS relid,"
						 " n.relid IS NULL AS superfluous"
						 " FROM unnest($1, $2) AS n (relid, type) FULL JOIN"
						 " (SELECT t.tgrelid AS relid, CASE WHEN t.tgenabled IN"
						 " ('D', CASE WHEN t.tgtype & 1::int2 = 1 THEN 'R'::\"char\" ELSE 'A' END)"
						 " THEN t.tgtype END AS type FROM pg_trigger AS t WHERE t.tgfoid = $3) AS p"
						 " USING (relid, type) WHERE n.relid IS NULL OR p.relid IS NULL"
						 " ORDER BY superfluous DESC, relid", &args, rows);
	rf_role_restore(&guard);
	return nrows;
}

/* Lock a table for a change of its triggers; false if it cannot be had at once. */
static bool
lock_if_free(Oid relid, bool superfluous, bool in_ddl)
{
	if (superfluous && in_ddl && !is_mine(relid))
		return false;
	return ConditionalLockRelationOid(relid,
									  superfluous ? AccessExclusiveLock : ShareRowExclusiveLock);
}

/*
 * Lock tables that are to be settled, those that can be had at once; whether no
 * other one lacks a trigger.
 */
static bool
lock_what_is_free(int nrows, const RfRow *rows, bool in_ddl, List **tables)
{
	bool		all = true;

	for (int i = 0; i < nrows; i++)
	{
		Oid			relid = rf_row_oid(&rows[i], "relid");
		bool		superfluous = rf_row_bool(&rows[i], "superfluous");

		if (!lock_if_free(relid, superfluous, in_ddl))
			all &= superfluous;
		else if (get_rel_name(relid) != NULL)
			*tables = list_append_unique_oid(*tables, relid);
	}
	return all;
}

/*
 * Let each table have the triggers that it needs, and no others, as far as that
 * is possible without waiting; false if some are missing still.  In a
 * transaction that defines something else (in_ddl) no table is locked against
 * everybody for the sake of a trigger too many.
 */
bool
rf_wake_up_triggers_settle(bool in_ddl)
{
	HTAB	   *waking = find_waking();
	List	   *tables = NIL;
	RfRow	   *rows;
	int			nrows = find_unsettled(waking, &rows);
	bool		all = lock_what_is_free(nrows, rows, in_ddl, &tables);
	ListCell   *cell;

	if (tables == NIL)
		return all;
	/* what is needed may have changed before the locks were there */
	waking = find_waking();
	foreach(cell, tables)
	{
		RfAdjustment adjustment = {lfirst_oid(cell), waking};
		ErrorData  *error = rf_attempt(adjust, &adjustment);

		if (error != NULL)
			ereport(DEBUG1,
					(errmsg_internal("triggers of \"%s\" are left as they are: %s",
									 get_rel_name(lfirst_oid(cell)), error->message)));
	}
	return all;
}

static void
lock_tables(List *relids, LOCKMODE mode)
{
	ListCell   *cell;

	foreach(cell, relids)
		LockRelationOid(lfirst_oid(cell), mode);
}

/*
 * Give the tables of a flow that was created or altered the triggers that they
 * lack.  Other flows do not matter.
 */
void
rf_wake_up_triggers_place(int32 flow_id, bool is_source)
{
	ListCell   *cell;

	lock_tables(tables_of_flow(flow_id), ShareRowExclusiveLock);
	foreach(cell, tables_of_flow(flow_id))
	{
		RfWaking	table = {lfirst_oid(cell), is_source};
		List	   *missing = needed_types(&table);

		(void) superfluous_triggers(table.relid, &missing);
		create_triggers(table.relid, missing);
	}
}

/* What loses its triggers with a flow. */
static List *
tables_of_flow_alone(int32 flow_id)
{
	List	   *alone = NIL;
	RfRow	   *flows;
	int			nflows = rf_catalog_woken_flows(&flows);
	List	  **tables = rf_wake_up_tables(nflows, flows);

	for (int i = 0; i < nflows; i++)
	{
		if ((int32) rf_row_int64(&flows[i], "flow_id") == flow_id)
			alone = list_copy(tables[i]);
	}
	for (int i = 0; i < nflows && alone != NIL; i++)
	{
		if ((int32) rf_row_int64(&flows[i], "flow_id") != flow_id)
			alone = list_difference_oid(alone, tables[i]);
	}
	return alone;
}

/*
 * Lock, before the flow's row, the tables that are to get triggers for the sake
 * of a flow (ShareRowExclusiveLock), or that lose them with it
 * (AccessExclusiveLock).  Who staged rows in the same transaction can then still
 * run the flow.
 */
void
rf_wake_up_triggers_lock(const RfFlow *flow, LOCKMODE mode)
{
	if (mode == AccessExclusiveLock)
		lock_tables(tables_of_flow_alone(flow->id), mode);
	else if (mode != NoLock)
		lock_tables(waking_sources(rf_reads_of_flow(flow->id), flow->owner), mode);
}

static void
check_right(Oid relid, Oid owner, const char *flow_name)
{
	if (!may_have_triggered(relid, owner))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied for table \"%s\", which is to wake flow \"%s\"",
						get_rel_name(relid), flow_name),
				 errdetail("With refresh_on_change each table that the query reads gets triggers: the flow's owner needs TRIGGER on it."),
				 errhint("GRANT TRIGGER ON %s TO %s", rf_sql_relation(relid),
						 rf_sql_name(rf_role_name(owner)))));
}

/*
 * Lock those of some relations that can wake a flow of this role, which must
 * have the right to that.
 */
void
rf_wake_up_triggers_lock_sources(List *relids, Oid owner, const char *flow_name)
{
	List	   *tables = NIL;
	ListCell   *cell;

	foreach(cell, relids)
	{
		if (!can_have_triggers(lfirst_oid(cell)))
			continue;
		check_right(lfirst_oid(cell), owner, flow_name);
		tables = lappend_oid(tables, lfirst_oid(cell));
	}
	list_sort(tables, list_oid_cmp);
	lock_tables(with_parts(tables), ShareRowExclusiveLock);
}

static bool
attaches_or_detaches(const AlterTableStmt *command)
{
	ListCell   *cell;

	foreach(cell, command->cmds)
	{
		switch (lfirst_node(AlterTableCmd, cell)->subtype)
		{
			case AT_AttachPartition:
			case AT_DetachPartition:
			case AT_DetachPartitionFinalize:
			case AT_AddInherit:
			case AT_DropInherit:
				return command->objtype == OBJECT_TABLE;
			default:
				break;
		}
	}
	return false;
}

/*
 * Whether a command may have changed which tables flows are woken by, though no
 * flow was: tables get and lose parts, views read other tables, flows get other
 * owners.
 */
static bool
concerns_triggers(const Node *command)
{
	ListCell   *cell;

	switch (nodeTag(command))
	{
		case T_CreateStmt:
			return ((const CreateStmt *) command)->inhRelations != NIL;
		case T_AlterTableStmt:
			return attaches_or_detaches((const AlterTableStmt *) command);
		case T_ViewStmt:
			return ((const ViewStmt *) command)->replace;
		case T_ReassignOwnedStmt:
			return true;
		case T_CreateSchemaStmt:
			foreach(cell, ((const CreateSchemaStmt *) command)->schemaElts)
			{
				if (concerns_triggers(lfirst(cell)))
					return true;
			}
			return false;
		default:
			return false;
	}
}

/* Rows came into a table, or left it, with a part of it. */
static void
note_parts(const AlterTableStmt *command)
{
	ListCell   *cell;

	rf_wake_up_note(RangeVarGetRelid(command->relation, NoLock, true));
	foreach(cell, command->cmds)
	{
		const AlterTableCmd *change = lfirst_node(AlterTableCmd, cell);

		if (change->subtype == AT_DropInherit)
			rf_wake_up_note(RangeVarGetRelid(castNode(RangeVar, change->def), NoLock, true));
	}
}

/* A restore brings back the view of a flow after the flow itself. */
static bool
makes_own_view(const Node *command)
{
	const RangeVar *view = IsA(command, ViewStmt) ? ((const ViewStmt *) command)->view : NULL;

	return view != NULL && view->schemaname != NULL &&
		strcmp(view->schemaname, "replace_flow") == 0;
}

/*
 * The worker has to look at the tables anew: one that was none of a flow's may be
 * a part of it now; and at triggers that could not be placed.
 */
static void
settle_after_ddl(void *arg)
{
	(void) arg;
	rf_query_begin();
	(void) rf_wake_up_triggers_settle(true);
	rf_query_end();
	rf_wake_up_note_definitions();
}

/*
 * after_ddl(): event trigger, after any command that defines something.
 */
Datum
replace_flow_after_ddl(PG_FUNCTION_ARGS)
{
	const Node *command;

	if (!CALLED_AS_EVENT_TRIGGER(fcinfo))
		elog(ERROR, "unexpected call of replace_flow.after_ddl()");
	command = ((EventTriggerData *) fcinfo->context)->parsetree;
	rf_wake_up_note_repair();
	if (makes_own_view(command))
		rf_wake_up_note_definitions();
	if (concerns_triggers(command))
		(void) rf_attempt(settle_after_ddl, NULL);
	if (IsA(command, AlterTableStmt) && attaches_or_detaches((const AlterTableStmt *) command))
		note_parts((const AlterTableStmt *) command);
	PG_RETURN_NULL();
}
