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
 * They are ordinary triggers, so that one sees in \d what wakes the worker, and
 * a dump has them.  They are told from others by their function.  They go with
 * the extension.
 *
 * Which table needs them follows from the flows and the tables as they are.  Who
 * makes a flow that needs a trigger locks the table against writers, and who
 * removes one locks it against everybody, and looks only then: so nobody
 * removes what another session has just come to need.  Where we act in somebody
 * else's transaction we neither wait nor fail; what cannot be had is left to the
 * next time.  A trigger too many wakes the worker for nothing.
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

/* The tables that need triggers, each before its partitions. */
typedef struct RfWoken
{
	List	   *tables;			/* all of them */
	List	   *sources;		/* those whose deleted rows matter too */
} RfWoken;

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
waking_sources(int32 flow_id, Oid owner)
{
	List	   *relids = NIL;
	ListCell   *cell;

	foreach(cell, rf_reads_of_flow(flow_id))
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
 * The tables that are to wake a flow, which is a row of rf_catalog_woken_flows().
 */
List *
rf_wake_up_tables(const RfRow *flow)
{
	if (is_using(flow))
		return with_parts(list_make1_oid(rf_row_oid(flow, "source")));
	return waking_sources((int32) rf_row_int64(flow, "flow_id"), rf_row_oid(flow, "owner"));
}

static void
look_at_flow(RfWoken *woken, const RfRow *flow)
{
	List	   *tables = rf_wake_up_tables(flow);

	woken->tables = list_concat(woken->tables, tables);
	if (!is_using(flow))
		woken->sources = list_concat(woken->sources, tables);
}

/* The tables that need triggers for the sake of some flows: of one or of the others. */
static RfWoken
look_at_flows(bool is_one, int32 flow_id)
{
	RfWoken		woken = {0};
	RfRow	   *flows;
	int			nflows = rf_catalog_woken_flows(&flows);

	for (int i = 0; i < nflows; i++)
	{
		if ((rf_row_int64(&flows[i], "flow_id") == flow_id) == is_one)
			look_at_flow(&woken, &flows[i]);
	}
	return woken;
}

/* No flow has the number 0. */
static RfWoken
look_at_all_flows(void)
{
	return look_at_flows(false, 0);
}

/* The triggers that a table needs, by type: none, one or two. */
static List *
needed_types(const RfWoken *woken, Oid relid)
{
	List	   *types;

	if (!list_member_oid(woken->tables, relid))
		return NIL;
	types = list_make1_int(STATEMENT_TRIGGER);
	if (get_rel_relkind(relid) == RELKIND_RELATION)
		types = lappend_int(types, list_member_oid(woken->sources, relid) ?
							SOURCE_ROW_TRIGGER : STREAM_ROW_TRIGGER);
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
									note_staged_function(), InvalidOid, NULL, false, false,
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

/*
 * Give a table the triggers that it needs, and no others; it is locked for
 * that.
 */
static void
adjust(Oid relid, const RfWoken *woken)
{
	List	   *missing = needed_types(woken, relid);
	List	   *superfluous = superfluous_triggers(relid, &missing);
	RfRoleGuard guard;
	ListCell   *cell;

	rf_role_assume(&guard, rf_role_of_catalog());
	foreach(cell, superfluous)
		drop_trigger(lfirst_oid(cell));
	CommandCounterIncrement();
	foreach(cell, missing)
		create_trigger(relid, lfirst_int(cell));
	rf_role_restore(&guard);
}

/* What adjust() is given, in a subtransaction. */
typedef struct RfAdjustment
{
	Oid			relid;
	const RfWoken *woken;
} RfAdjustment;

static void
adjust_as_told(void *arg)
{
	RfAdjustment *adjustment = arg;

	adjust(adjustment->relid, adjustment->woken);
}

/* The tables, and per table the types, that triggers are needed for, as arrays. */
static void
add_needed(RfArgs *args, const RfWoken *woken)
{
	int			count = 0;
	Datum	   *relids = palloc(2 * list_length(woken->tables) * sizeof(Datum));
	Datum	   *types = palloc(2 * list_length(woken->tables) * sizeof(Datum));
	ListCell   *table;
	ListCell   *type;

	foreach(table, woken->tables)
	{
		foreach(type, needed_types(woken, lfirst_oid(table)))
		{
			relids[count] = ObjectIdGetDatum(lfirst_oid(table));
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
find_unsettled(const RfWoken *woken, RfRow **rows)
{
	RfArgs		args = {0};
	RfRoleGuard guard;
	int			nrows;

	add_needed(&args, woken);
	rf_arg(&args, OIDOID, ObjectIdGetDatum(note_staged_function()));
	rf_role_assume(&guard, rf_role_of_catalog());
	nrows = rf_query_all("WITH needed AS (SELECT n.relid, n.type"
						 " FROM unnest($1, $2) AS n (relid, type)),"
						 " placed AS (SELECT t.tgrelid AS relid, t.tgtype AS type,"
						 " t.tgenabled = 'D' OR t.tgenabled"
						 " = CASE WHEN t.tgtype & 1::int2 = 1 THEN 'R' ELSE 'A' END AS as_made"
						 " FROM pg_trigger AS t WHERE t.tgfoid = $3)"
						 " SELECT p.relid, true AS superfluous FROM placed AS p"
						 " WHERE NOT p.as_made OR NOT EXISTS (SELECT FROM needed AS n"
						 " WHERE n.relid = p.relid AND n.type = p.type)"
						 " UNION SELECT n.relid, false FROM needed AS n"
						 " WHERE NOT EXISTS (SELECT FROM placed AS p"
						 " WHERE p.relid = n.relid AND p.type = n.type AND p.as_made)"
						 " ORDER BY superfluous DESC, relid", &args, rows);
	rf_role_restore(&guard);
	return nrows;
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

/* Lock tables that are to be settled, those that can be had at once. */
static List *
lock_what_is_free(int nrows, const RfRow *rows, bool in_ddl)
{
	List	   *tables = NIL;

	for (int i = 0; i < nrows; i++)
	{
		Oid			relid = rf_row_oid(&rows[i], "relid");
		bool		superfluous = rf_row_bool(&rows[i], "superfluous");
		LOCKMODE	mode = superfluous ? AccessExclusiveLock : ShareRowExclusiveLock;

		if (superfluous && in_ddl && !is_mine(relid))
			continue;
		if (ConditionalLockRelationOid(relid, mode) && get_rel_name(relid) != NULL)
			tables = list_append_unique_oid(tables, relid);
	}
	return tables;
}

/*
 * Let each table have the triggers that it needs, and no others, as far as that
 * is possible without waiting.  In a transaction that defines something else
 * (in_ddl) no table is locked against everybody for the sake of a trigger too
 * many.
 */
void
rf_wake_up_triggers_settle(bool in_ddl)
{
	RfWoken		woken = look_at_all_flows();
	RfRow	   *rows;
	int			nrows = find_unsettled(&woken, &rows);
	List	   *tables = lock_what_is_free(nrows, rows, in_ddl);
	ListCell   *cell;

	if (tables == NIL)
		return;
	/* what is needed may have changed before the locks were there */
	woken = look_at_all_flows();
	foreach(cell, tables)
	{
		RfAdjustment adjustment = {lfirst_oid(cell), &woken};
		ErrorData  *error = rf_attempt(adjust_as_told, &adjustment);

		if (error != NULL)
			ereport(DEBUG1,
					(errmsg_internal("triggers of \"%s\" are left as they are: %s",
									 get_rel_name(lfirst_oid(cell)), error->message)));
	}
}

static void
lock_tables(List *relids, LOCKMODE mode)
{
	ListCell   *cell;

	foreach(cell, relids)
		LockRelationOid(lfirst_oid(cell), mode);
}

/*
 * Give the tables of a flow that was created or altered their triggers.
 */
void
rf_wake_up_triggers_place(int32 flow_id)
{
	RfWoken		woken;
	ListCell   *cell;

	lock_tables(look_at_flows(true, flow_id).tables, ShareRowExclusiveLock);
	woken = look_at_all_flows();
	foreach(cell, look_at_flows(true, flow_id).tables)
		adjust(lfirst_oid(cell), &woken);
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
		lock_tables(list_difference_oid(look_at_flows(true, flow->id).tables,
										look_at_flows(false, flow->id).tables), mode);
	else if (mode != NoLock)
		lock_tables(waking_sources(flow->id, flow->owner), mode);
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
 * flow was: tables get and lose parts, and views read other tables.
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

/* Rows came with the table that was attached, or left with the one that was detached. */
static void
note_parts(const AlterTableStmt *command)
{
	Oid			relid = RangeVarGetRelid(command->relation, NoLock, true);

	if (OidIsValid(relid))
		rf_wake_up_note(relid);
}

static void
settle_after_ddl(void *arg)
{
	(void) arg;
	rf_query_begin();
	rf_wake_up_triggers_settle(true);
	rf_query_end();
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
	if (concerns_triggers(command))
		(void) rf_attempt(settle_after_ddl, NULL);
	if (IsA(command, AlterTableStmt) && attaches_or_detaches((const AlterTableStmt *) command))
		note_parts((const AlterTableStmt *) command);
	PG_RETURN_NULL();
}
