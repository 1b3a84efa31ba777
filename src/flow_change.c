/*-------------------------------------------------------------------------
 *
 * flow_change.c
 *	  Small changes of flows, and their end.
 *
 * A flow ends when it is dropped, and when one of its tables is: an event
 * trigger looks, after each DROP, for flows that have lost their target, their
 * stream or their view, which goes with any table that the query reads.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/dependency.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "commands/event_trigger.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "argument.h"
#include "attempt.h"
#include "captured.h"
#include "change_log.h"
#include "failpoint.h"
#include "flow.h"
#include "flow_catalog.h"
#include "flow_change.h"
#include "flow_view.h"
#include "query.h"
#include "reentry.h"
#include "role.h"
#include "sql_text.h"
#include "table_trigger.h"
#include "target.h"
#include "wake_up.h"
#include "wake_up_trigger.h"

PG_FUNCTION_INFO_V1(replace_flow_drop_flow);
PG_FUNCTION_INFO_V1(replace_flow_pause_flow);
PG_FUNCTION_INFO_V1(replace_flow_resume_flow);
PG_FUNCTION_INFO_V1(replace_flow_add_expectation);
PG_FUNCTION_INFO_V1(replace_flow_drop_expectation);
PG_FUNCTION_INFO_V1(replace_flow_after_drop);
PG_FUNCTION_INFO_V1(replace_flow_before_drop_extension);

static void
lock_target(const RfFlow *flow, LOCKMODE mode)
{
	if (mode == NoLock)
		return;
	rf_target_check_owner(flow->target, flow->owner, flow->name);
	LockRelationOid(flow->target, mode);
}

/*
 * Lock a flow for a change by the caller, after its target and the tables that
 * wake it; they need no lock (NoLock) if the change does not touch them.  The
 * context is the connection's.
 */
RfFlow *
rf_flow_lock_for_change(const char *name, MemoryContext context, LOCKMODE target_lock,
						LOCKMODE waking_lock)
{
	RfFlow	   *flow;

	PreventCommandIfReadOnly("changing a flow");
	rf_flow_check_isolation(name, "be changed");
	flow = rf_flow_find(name);
	rf_flow_check_caller(flow);
	rf_reentry_enter(flow, context);
	lock_target(flow, target_lock);
	rf_wake_up_triggers_lock(flow, waking_lock);
	rf_catalog_lock_for_change();
	flow = rf_flow_lock(name, true);
	/* it may have been created anew meanwhile */
	rf_flow_check_caller(flow);
	lock_target(flow, target_lock);
	return flow;
}

/*
 * Take a flow out of the catalog, and then drop its view and ledger: when they
 * go, nobody misses them.  Gives the tables whose changes were of use to it.
 */
static List *
drop(int32 flow_id)
{
	Oid			view = rf_flow_find_view(flow_id);
	Oid			window = rf_flow_find_window(flow_id);
	Oid			ledger = rf_flow_find_ledger(flow_id);
	RfSeen		seen;
	List	   *relids = rf_seen_load(flow_id, &seen) ? seen.relids : NIL;
	RfRoleGuard guard;

	rf_captured_forget(flow_id);
	rf_catalog_drop_flow(flow_id);
	/* what was kept for it alone; the runs of others may find nothing to do */
	rf_change_log_prune(relids);
	rf_failpoint("flow", "dropped");
	rf_role_assume_catalog(&guard);
	if (OidIsValid(view))
		(void) rf_query_execute(rf_sql_drop_own_view(view), NULL);
	if (OidIsValid(window))
		(void) rf_query_execute(rf_sql_drop_own_view(window), NULL);
	if (OidIsValid(ledger))
		(void) rf_query_execute(rf_sql_drop_own_table(ledger), NULL);
	rf_role_restore(&guard);
	return relids;
}

/*
 * drop_flow(flow, drop_target)
 */
Datum
replace_flow_drop_flow(PG_FUNCTION_ARGS)
{
	char	   *name = rf_argument_text(fcinfo, 0, "flow");
	bool		drop_target = rf_argument_bool(fcinfo, 1, "drop_target");
	RfFlow	   *flow;
	List	   *relids;
	RfRoleGuard guard;

	flow = rf_flow_lock_for_change(name, rf_query_begin(),
								   drop_target ? AccessExclusiveLock : NoLock,
								   AccessExclusiveLock);
	relids = drop(flow->id);
	(void) rf_triggers_settle(false);
	rf_triggers_tell_what_stays(relids);
	if (drop_target && get_rel_name(flow->target) != NULL)
	{
		rf_role_assume(&guard, flow->owner);
		(void) rf_query_execute(rf_sql_drop_table(flow->target), NULL);
		rf_role_restore(&guard);
	}
	rf_query_end();
	PG_RETURN_VOID();
}

/* Drop one of our own objects; the statement says what. */
static void
drop_own(void *sql)
{
	RfRoleGuard guard;

	rf_role_assume_catalog(&guard);
	(void) rf_query_execute(sql, NULL);
	rf_role_restore(&guard);
}

/*
 * Drop what is left of a flow, in somebody else's transaction, which it must
 * neither hold up nor fail: what cannot be dropped at once is left behind.
 */
static void
try_to_drop(Oid relid, char *sql)
{
	ErrorData  *error;

	if (!ConditionalLockRelationOid(relid, AccessExclusiveLock))
		return;
	error = rf_attempt(drop_own, sql);
	if (error != NULL)
		ereport(WARNING,
				(errmsg("a flow is gone, and \"%s\" is left of it", get_rel_name(relid)),
				 errdetail("It cannot be dropped: %s", error->message)));
}

/*
 * Remove flows that have lost a table.  One whose view this session is about to
 * put back has not.
 */
void
rf_flow_drop_lost(void)
{
	RfRow	   *rows;
	int			nrows = rf_catalog_lost_flows(&rows);

	if (nrows == 0)
		return;
	for (int i = 0; i < nrows; i++)
	{
		int32		flow_id = (int32) rf_row_int64(&rows[i], "flow_id");
		Oid			view = rf_flow_find_view(flow_id);
		Oid			window = rf_flow_find_window(flow_id);
		Oid			ledger = rf_flow_find_ledger(flow_id);

		if (rf_reentry_is_in(flow_id))
			continue;
		rf_captured_forget(flow_id);
		rf_catalog_drop_flow(flow_id);
		rf_failpoint("flow", "dropped");
		if (OidIsValid(view))
			try_to_drop(view, rf_sql_drop_own_view(view));
		if (OidIsValid(window))
			try_to_drop(window, rf_sql_drop_own_view(window));
		if (OidIsValid(ledger))
			try_to_drop(ledger, rf_sql_drop_own_table(ledger));
	}
	(void) rf_triggers_settle(false);
}

/* A part of a table is dropped with its rows; of which one cannot be seen any more. */
static void
note_dropped_parts(void)
{
	RfRoleGuard guard;
	RfRow	   *rows;

	rf_role_assume_catalog(&guard);
	if (rf_query_all("SELECT FROM pg_event_trigger_dropped_objects()"
					 " WHERE classid = 'pg_trigger'::regclass"
					 " AND starts_with(object_identity, 'replace_flow_staged') LIMIT 1",
					 NULL, &rows) > 0)
		rf_wake_up_note_anything();
	rf_role_restore(&guard);
}

/*
 * after_drop(): event trigger, after any command that drops something.
 */
Datum
replace_flow_after_drop(PG_FUNCTION_ARGS)
{
	if (!CALLED_AS_EVENT_TRIGGER(fcinfo))
		elog(ERROR, "unexpected call of replace_flow.after_drop()");
	rf_query_begin();
	note_dropped_parts();
	rf_flow_drop_lost();
	rf_query_end();
	PG_RETURN_NULL();
}

/*
 * before_drop_extension(): event trigger.  Views and ledgers that a dump or
 * pg_upgrade brought back do not belong to the extension, as new ones do, and
 * would be in the way; even those of flows that the dump left out.
 */
Datum
replace_flow_before_drop_extension(PG_FUNCTION_ARGS)
{
	RfArgs		args = {0};
	RfRow	   *rows;
	int			nrows;

	if (!CALLED_AS_EVENT_TRIGGER(fcinfo))
		elog(ERROR, "unexpected call of replace_flow.before_drop_extension()");
	rf_query_begin();
	rf_arg(&args, OIDOID, ObjectIdGetDatum(rf_flow_namespace()));
	nrows = rf_query_all("SELECT oid FROM pg_class WHERE relnamespace = $1"
						 " AND relname ~ '^(flow|window|floor)_[0-9]+$'"
						 " AND relkind IN ('r', 'v')", &args, &rows);
	for (int i = 0; i < nrows; i++)
	{
		Oid			relid = rf_row_oid(&rows[i], "oid");

		if (getAutoExtensionsOfObject(RelationRelationId, relid) == NIL)
			rf_flow_depend_on_extension(RelationRelationId, relid);
	}
	rf_query_end();
	PG_RETURN_NULL();
}

static Datum
set_paused(FunctionCallInfo fcinfo, bool paused)
{
	char	   *name = rf_argument_text(fcinfo, 0, "flow");
	RfFlow	   *flow = rf_flow_lock_for_change(name, rf_query_begin(), NoLock, NoLock);

	rf_catalog_pause_flow(flow->id, paused);
	rf_query_end();
	PG_RETURN_VOID();
}

/*
 * pause_flow(flow): nobody runs it until it is resumed.
 */
Datum
replace_flow_pause_flow(PG_FUNCTION_ARGS)
{
	return set_paused(fcinfo, true);
}

/*
 * resume_flow(flow)
 */
Datum
replace_flow_resume_flow(PG_FUNCTION_ARGS)
{
	return set_paused(fcinfo, false);
}

/* Take up a flow's view to change it. */
static RfFlow *
begin_change(const char *flow_name, RfView **view)
{
	RfFlow	   *flow = rf_flow_lock_for_change(flow_name, rf_query_begin(),
											   ShareRowExclusiveLock, NoLock);

	rf_flow_open_definition(flow);
	*view = rf_view_load(flow);
	return flow;
}

static void
end_change(const RfFlow *flow, RfView *view)
{
	rf_view_store(view, rf_flow_view_name(flow->id), flow->owner);
	rf_catalog_raise_version(flow->id);
	rf_query_end();
}

/*
 * add_expectation(flow, name, condition, action)
 */
Datum
replace_flow_add_expectation(PG_FUNCTION_ARGS)
{
	char	   *flow_name = rf_argument_text(fcinfo, 0, "flow");
	char	   *name = rf_argument_text(fcinfo, 1, "name");
	char	   *condition = rf_argument_text(fcinfo, 2, "condition");
	RfAction	action = rf_action_parse(rf_argument_text(fcinfo, 3, "action"));
	RfFlow	   *flow;
	RfView	   *view;
	RfRoleGuard guard;
	char	   *column;

	if (name[0] == '\0')
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_NAME),
				 errmsg("the name of an expectation of flow \"%s\" must not be empty", flow_name)));
	flow = begin_change(flow_name, &view);
	rf_role_read_as(&guard, flow->owner);
	rf_flow_set_creator_settings(flow);
	column = rf_view_add(view, "condition", condition, BOOLOID, "expectation");
	rf_role_restore(&guard);
	if (!rf_catalog_add_expectation(flow->id, name, action, condition, column))
		ereport(ERROR,
				(errcode(ERRCODE_DUPLICATE_OBJECT),
				 errmsg("flow \"%s\" already has an expectation \"%s\"", flow_name, name),
				 errhint("Remove it first with replace_flow.drop_expectation().")));
	end_change(flow, view);
	PG_RETURN_VOID();
}

/*
 * drop_expectation(flow, name)
 */
Datum
replace_flow_drop_expectation(PG_FUNCTION_ARGS)
{
	char	   *flow_name = rf_argument_text(fcinfo, 0, "flow");
	char	   *name = rf_argument_text(fcinfo, 1, "name");
	RfFlow	   *flow;
	RfView	   *view;
	ListCell   *cell;

	flow = begin_change(flow_name, &view);
	if (!rf_catalog_drop_expectation(flow->id, name))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("flow \"%s\" has no expectation \"%s\"", flow_name, name),
				 errhint("Table replace_flow.expectation lists those that there are.")));
	foreach(cell, flow->expectations)
	{
		RfExpectation *expectation = lfirst(cell);

		if (strcmp(expectation->name, name) == 0)
			rf_view_remove(view, expectation->view_column);
	}
	end_change(flow, view);
	PG_RETURN_VOID();
}
