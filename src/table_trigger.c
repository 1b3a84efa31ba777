/*-------------------------------------------------------------------------
 *
 * table_trigger.c
 *	  The triggers of users' tables: which need them, and which have them.
 *
 * A table has triggers because rows that come into it wake the worker
 * (wake_up_trigger.c), because its changes are captured (captured.c), or both.
 * Each table of a family has its own, since it can be written by its own name:
 * triggers of statements, which fire always; and where rows are stored, triggers
 * of rows, which fire only for those that a subscription applies, since that fires
 * no triggers of statements.  A row trigger on the partitioned table itself would
 * be copied by the server to each table that is attached, and fail that where the
 * table has one already.
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
 * nothing, or finds that nothing is to be captured; it goes the next time.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/dependency.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_trigger.h"
#include "catalog/pg_type.h"
#include "commands/trigger.h"
#include "nodes/makefuncs.h"
#include "storage/lmgr.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/hsearch.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "attempt.h"
#include "captured.h"
#include "flow.h"
#include "flow_catalog.h"
#include "query.h"
#include "role.h"
#include "table_family.h"
#include "table_trigger.h"
#include "wake_up.h"
#include "wake_up_trigger.h"

/* Types of triggers, as pg_trigger has them. */
#define ANY_STATEMENT \
	(TRIGGER_TYPE_INSERT | TRIGGER_TYPE_UPDATE | TRIGGER_TYPE_DELETE | TRIGGER_TYPE_TRUNCATE)
#define NEW_ROW (TRIGGER_TYPE_ROW | TRIGGER_TYPE_INSERT | TRIGGER_TYPE_UPDATE)
#define ANY_ROW (NEW_ROW | TRIGGER_TYPE_DELETE)

/* A trigger that tables have. */
typedef struct RfTrigger
{
	int			purpose;
	const char *function;
	const char *name;
	int16		type;
} RfTrigger;

#define NOTE "note_staged"
#define CAPTURE "capture_change"

static const RfTrigger triggers[] =
{
	{RF_WAKES_STREAM | RF_WAKES_SOURCE, NOTE, "replace_flow_staged", ANY_STATEMENT},
	{RF_WAKES_STREAM, NOTE, "replace_flow_staged_replica", NEW_ROW},
	{RF_WAKES_SOURCE, NOTE, "replace_flow_staged_replica", ANY_ROW},

	/*
	 * a trigger sees the rows of a statement only if it fires for nothing
	 * else
	 */
	{RF_CAPTURED, CAPTURE, "replace_flow_captured_insert", TRIGGER_TYPE_INSERT},
	{RF_CAPTURED, CAPTURE, "replace_flow_captured_update", TRIGGER_TYPE_UPDATE},
	{RF_CAPTURED, CAPTURE, "replace_flow_captured_delete", TRIGGER_TYPE_DELETE},
	{RF_CAPTURED, CAPTURE, "replace_flow_captured_truncate", TRIGGER_TYPE_TRUNCATE},
	{RF_CAPTURED, CAPTURE, "replace_flow_captured_replica", ANY_ROW}
};

/* A table that needs triggers. */
typedef struct RfNeed
{
	Oid			relid;			/* hash key */
	int			purposes;
} RfNeed;

/*
 * Whether a table needs a trigger for these purposes.  For a source the trigger
 * that a stream has is not enough.
 */
static bool
is_needed(const RfTrigger *trigger, Oid relid, int purposes)
{
	if (purposes & RF_WAKES_SOURCE)
		purposes &= ~RF_WAKES_STREAM;
	return (trigger->purpose & purposes) != 0 &&
		(!TRIGGER_FOR_ROW(trigger->type) || get_rel_relkind(relid) == RELKIND_RELATION);
}

/* The triggers that a table needs. */
static List *
needed_triggers(Oid relid, int purposes)
{
	List	   *needed = NIL;

	for (size_t i = 0; i < lengthof(triggers); i++)
	{
		if (is_needed(&triggers[i], relid, purposes))
			needed = lappend(needed, unconstify(RfTrigger *, &triggers[i]));
	}
	return needed;
}

/* When triggers of a type fire. */
static char
fires_when(int16 type)
{
	return TRIGGER_FOR_ROW(type) ? TRIGGER_FIRES_ON_REPLICA : TRIGGER_FIRES_ALWAYS;
}

static Oid
function_called(const char *name)
{
	oidvector  *no_arguments = buildoidvector(NULL, 0);

	return GetSysCacheOid3(PROCNAMEARGSNSP, Anum_pg_proc_oid,
						   CStringGetDatum(name), PointerGetDatum(no_arguments),
						   ObjectIdGetDatum(rf_flow_namespace()));
}

/*
 * The function of the triggers that capture changes.
 */
Oid
rf_triggers_capture_function(void)
{
	return function_called(CAPTURE);
}

/* Add the rows of a statement, before and after, to what a trigger sees. */
static void
let_see_rows(CreateTrigStmt *statement, bool is_new)
{
	TriggerTransition *rows = makeNode(TriggerTransition);

	rows->name = is_new ? "replace_flow_new" : "replace_flow_old";
	rows->isNew = is_new;
	rows->isTable = true;
	statement->transitionRels = lappend(statement->transitionRels, rows);
}

static void
create_trigger(Oid relid, const RfTrigger *trigger)
{
	CreateTrigStmt *statement = makeNode(CreateTrigStmt);
	ObjectAddress created;

	statement->trigname = unconstify(char *, trigger->name);
	statement->row = TRIGGER_FOR_ROW(trigger->type);
	statement->timing = TRIGGER_TYPE_AFTER;
	statement->events = trigger->type & ~TRIGGER_TYPE_ROW;
	if (trigger->type == TRIGGER_TYPE_UPDATE || trigger->type == TRIGGER_TYPE_DELETE)
		let_see_rows(statement, false);
	if (trigger->type == TRIGGER_TYPE_UPDATE || trigger->type == TRIGGER_TYPE_INSERT)
		let_see_rows(statement, true);
	created = CreateTriggerFiringOn(statement, NULL, relid, InvalidOid, InvalidOid, InvalidOid,
									function_called(trigger->function), InvalidOid, NULL,
									true, false, fires_when(trigger->type));
	rf_flow_depend_on_extension(TriggerRelationId, created.objectId);
	CommandCounterIncrement();
}

static void
drop_trigger(Oid trigger)
{
	ObjectAddress address = {TriggerRelationId, trigger, 0};

	performDeletion(&address, DROP_RESTRICT,
					PERFORM_DELETION_INTERNAL | PERFORM_DELETION_QUIETLY);
}

/* Whether one of the table's triggers is this one. */
static bool
is_one(Form_pg_trigger made, const RfTrigger *trigger)
{
	return made->tgtype == trigger->type && made->tgfoid == function_called(trigger->function);
}

/* Whether a trigger fires as we made it; its owner may have disabled it. */
static bool
fires_as_made(Form_pg_trigger made)
{
	return made->tgenabled == fires_when(made->tgtype);
}

static bool
is_disabled(Form_pg_trigger made)
{
	return made->tgenabled == TRIGGER_DISABLED;
}

/* That trigger among some, or NULL. */
static RfTrigger *
find_trigger(List *some, Form_pg_trigger made)
{
	ListCell   *cell;

	foreach(cell, some)
	{
		if (is_one(made, lfirst(cell)))
			return lfirst(cell);
	}
	return NULL;
}

static bool
is_ours(Form_pg_trigger made)
{
	return made->tgfoid == function_called(NOTE) || made->tgfoid == function_called(CAPTURE);
}

/*
 * Take from the triggers that a table needs those that it has, disabled or not, or
 * only those that fire; give those of ours that it does not need.
 */
static List *
compare_triggers(Oid relid, List **needed, bool or_disabled)
{
	Relation	catalog = table_open(TriggerRelationId, AccessShareLock);
	List	   *superfluous = NIL;
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;

	ScanKeyInit(&key, Anum_pg_trigger_tgrelid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(relid));
	scan = systable_beginscan(catalog, TriggerRelidNameIndexId, true, NULL, 1, &key);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_trigger made = (Form_pg_trigger) GETSTRUCT(tuple);
		RfTrigger  *trigger = find_trigger(*needed, made);

		if (trigger != NULL && (fires_as_made(made) || (or_disabled && is_disabled(made))))
			*needed = list_delete_ptr(*needed, trigger);
		else if (is_ours(made))
			superfluous = lappend_oid(superfluous, made->oid);
	}
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
	return superfluous;
}

/*
 * Whether a table has the triggers for these purposes; the owner of the table may
 * have disabled them.
 */
bool
rf_triggers_are_there(Oid relid, int purposes)
{
	List	   *needed = needed_triggers(relid, purposes);

	(void) compare_triggers(relid, &needed, true);
	return needed == NIL;
}

/*
 * Whether it has them, and they fire.
 */
bool
rf_triggers_fire(Oid relid, int purposes)
{
	List	   *needed = needed_triggers(relid, purposes);

	(void) compare_triggers(relid, &needed, false);
	return needed == NIL;
}

/* Rows that came while a trigger was missing that would have told are news. */
static void
create_triggers(Oid relid, List *missing)
{
	bool		is_news = false;
	ListCell   *cell;

	foreach(cell, missing)
	{
		RfTrigger  *trigger = lfirst(cell);

		create_trigger(relid, trigger);
		is_news |= trigger->purpose != RF_CAPTURED;
	}
	if (is_news)
		rf_wake_up_note(relid);
}

/*
 * Give a table the triggers for these purposes that it lacks.  The caller has locked
 * it against writers.
 */
void
rf_triggers_place(Oid relid, int purposes)
{
	List	   *missing = needed_triggers(relid, purposes);

	(void) compare_triggers(relid, &missing, true);
	create_triggers(relid, missing);
}

static void
add_need(HTAB *needs, Oid relid, int purpose)
{
	bool		found;
	RfNeed	   *need = hash_search(needs, &relid, HASH_ENTER, &found);

	need->purposes = purpose | (found ? need->purposes : 0);
}

/* The tables that need triggers. */
static HTAB *
find_needs(void)
{
	HASHCTL		control = {
		.keysize = sizeof(Oid),
		.entrysize = sizeof(RfNeed),
		.hcxt = CurrentMemoryContext
	};
	HTAB	   *needs = hash_create("replace_flow tables with triggers", 64, &control,
									HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	RfRow	   *flows;
	int			nflows = rf_catalog_woken_flows(&flows);
	List	  **waking = rf_wake_up_tables(nflows, flows);
	ListCell   *cell;

	for (int i = 0; i < nflows; i++)
	{
		foreach(cell, waking[i])
			add_need(needs, lfirst_oid(cell), rf_wake_up_purpose(&flows[i]));
	}
	foreach(cell, rf_captured_families())
		add_need(needs, lfirst_oid(cell), RF_CAPTURED);
	return needs;
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
	HTAB	   *needs;
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
	RfNeed	   *need = hash_search(adjustment->needs, &relid, HASH_FIND, NULL);
	List	   *missing = need == NULL ? NIL : needed_triggers(relid, need->purposes);
	List	   *superfluous = compare_triggers(relid, &missing, true);
	ListCell   *cell;

	if (is_mine(relid))
	{
		foreach(cell, superfluous)
			drop_trigger(lfirst_oid(cell));
		CommandCounterIncrement();
	}
	create_triggers(relid, missing);
}

static Datum
array_of(Oid type, Datum *values, int count)
{
	bool		is_oid = type == OIDOID;

	return PointerGetDatum(construct_array(values, count, type,
										   is_oid ? sizeof(Oid) : sizeof(int16), true,
										   is_oid ? TYPALIGN_INT : TYPALIGN_SHORT));
}

/* The triggers that are needed, as arrays: table, function, type. */
static void
add_needed(RfArgs *args, HTAB *needs)
{
	Size		room = hash_get_num_entries(needs) * lengthof(triggers) * sizeof(Datum);
	Datum	   *relids = palloc(room);
	Datum	   *functions = palloc(room);
	Datum	   *types = palloc(room);
	int			count = 0;
	HASH_SEQ_STATUS scan;
	RfNeed	   *need;
	ListCell   *cell;

	hash_seq_init(&scan, needs);
	while ((need = hash_seq_search(&scan)) != NULL)
	{
		foreach(cell, needed_triggers(need->relid, need->purposes))
		{
			RfTrigger  *trigger = lfirst(cell);

			relids[count] = ObjectIdGetDatum(need->relid);
			functions[count] = ObjectIdGetDatum(function_called(trigger->function));
			types[count++] = Int16GetDatum(trigger->type);
		}
	}
	rf_arg(args, OIDARRAYOID, array_of(OIDOID, relids, count));
	rf_arg(args, OIDARRAYOID, array_of(OIDOID, functions, count));
	rf_arg(args, INT2ARRAYOID, array_of(INT2OID, types, count));
}

/*
 * The tables that have triggers too many ("superfluous") or too few.
 */
static int
find_unsettled(HTAB *needs, RfRow **rows)
{
	RfArgs		args = {0};
	RfRoleGuard guard;
	int			nrows;

	add_needed(&args, needs);
	rf_arg(&args, OIDOID, ObjectIdGetDatum(function_called(NOTE)));
	rf_arg(&args, OIDOID, ObjectIdGetDatum(function_called(CAPTURE)));
	rf_role_assume_catalog(&guard);
	nrows = rf_query_all("SELECT DISTINCT coalesce(n.relid, p.relid) AS relid,"
						 " n.relid IS NULL AS superfluous"
						 " FROM unnest($1, $2, $3) AS n (relid, function, type) FULL JOIN"
						 " (SELECT t.tgrelid AS relid, t.tgfoid AS function, CASE"
						 " WHEN t.tgenabled IN"
						 " ('D', CASE WHEN t.tgtype & 1::int2 = 1 THEN 'R'::\"char\" ELSE 'A' END)"
						 " THEN t.tgtype END AS type FROM pg_trigger AS t"
						 " WHERE t.tgfoid IN ($4, $5)) AS p USING (relid, function, type)"
						 " WHERE n.relid IS NULL OR p.relid IS NULL"
						 " ORDER BY superfluous DESC, relid", &args, rows);
	rf_role_restore(&guard);
	return nrows;
}

/* Lock a table for a change of its triggers; false if it cannot be had at once. */
static bool
lock_if_free(Oid relid, bool superfluous, bool in_ddl)
{
	/*
	 * a trigger that sees rows is in the way of those that go to foreign
	 * parts
	 */
	if (superfluous && in_ddl && !is_mine(relid) && !rf_table_has_foreign_parts(relid))
		return false;
	return ConditionalLockRelationOid(relid, superfluous ? AccessExclusiveLock :
									  ShareRowExclusiveLock);
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
 * is possible without waiting; false if some are missing still.  Changes that
 * nobody waits for go too.  In a transaction that defines something else (in_ddl)
 * no table is locked against everybody for the sake of a trigger too many, unless
 * it does harm.
 */
bool
rf_triggers_settle(bool in_ddl)
{
	HTAB	   *needs = find_needs();
	List	   *tables = NIL;
	RfRow	   *rows;
	int			nrows = find_unsettled(needs, &rows);
	bool		all = lock_what_is_free(nrows, rows, in_ddl, &tables);
	ListCell   *cell;

	if (!in_ddl)
		rf_catalog_sweep_changes();
	if (tables == NIL)
		return all;
	/* what is needed may have changed before the locks were there */
	needs = find_needs();
	foreach(cell, tables)
	{
		RfAdjustment adjustment = {lfirst_oid(cell), needs};
		ErrorData  *error = rf_attempt(adjust, &adjustment);

		if (error != NULL)
			ereport(DEBUG1,
					(errmsg_internal("triggers of \"%s\" are left as they are: %s",
									 get_rel_name(lfirst_oid(cell)), error->message)));
	}
	return all;
}

/*
 * Tell which of some tables have triggers that no flow needs: they were in use when
 * tables were settled.
 */
void
rf_triggers_tell_what_stays(List *relids)
{
	RfRow	   *rows;
	int			nrows = relids == NIL ? 0 : find_unsettled(find_needs(), &rows);

	for (int i = 0; i < nrows; i++)
	{
		Oid			relid = rf_row_oid(&rows[i], "relid");
		char	   *name = get_rel_name(relid);

		if (rf_row_bool(&rows[i], "superfluous") && list_member_oid(relids, relid) && name != NULL)
			ereport(NOTICE,
					(errmsg("triggers that no flow needs any more stay on \"%s\", which is in use",
							name),
					 errhint("They go when a flow is next dropped, or altered in what it reads.")));
	}
}
