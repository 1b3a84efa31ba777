/*-------------------------------------------------------------------------
 *
 * flow_run.c
 *	  What all runs have in common.
 *
 * A run happens in the caller's transaction:
 *
 *	1. Lock: the target against other writers, a using flow's stream as those
 *	   who stage rows do, the flow's row, and what else the query reads.  Only
 *	   then does the run take its snapshot, so that it sees all that was done
 *	   before it had its locks.
 *	2. Open the flow, and see that its tables are still what it needs.
 *	3. Work, as the flow's owner: using_run.c, where_run.c.
 *	4. Record the run.
 *
 * A preview does the same work without its locks, and writes nothing.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/relation.h"
#include "catalog/pg_inherits.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/lsyscache.h"

#include "failpoint.h"
#include "flow_run.h"
#include "flow_view.h"
#include "run_progress.h"
#include "query.h"
#include "query_reads.h"
#include "reentry.h"
#include "role.h"
#include "stream.h"
#include "stream_space.h"
#include "target.h"

static bool
lock_table(Oid relid, LOCKMODE mode, bool wait)
{
	if (!wait)
		return ConditionalLockRelationOid(relid, mode);
	LockRelationOid(relid, mode);
	return true;
}

/* The same for a table and its partitions, which can be written by their own names. */
static bool
lock_family(Oid relid, LOCKMODE mode, bool wait)
{
	ListCell   *cell;

	if (!lock_table(relid, mode, wait))
		return false;
	/* a table that was dropped has none; opening the flow reports it */
	if (get_rel_name(relid) == NULL)
		return true;
	foreach(cell, find_all_inheritors(relid, NoLock, NULL))
	{
		if (!lock_table(lfirst_oid(cell), mode, wait))
			return false;
	}
	return true;
}

static bool
lock_tables(const RfFlow *flow, bool wait)
{
	return lock_family(flow->target, ShareRowExclusiveLock, wait) &&
		(flow->kind == RF_WHERE || lock_family(flow->source, RowExclusiveLock, wait));
}

/*
 * Lock all that a run needs, under the flow's own settings (lock_timeout may be
 * one); NULL when it would have to wait and must not, and when the flow is
 * paused.
 *
 * Tables come first, as for a session that writes the target by hand and then
 * calls for a run.  The flow may have been changed, or created anew, before its
 * row was locked: then its caller is checked again and its tables are locked
 * too.  So are those of a flow that was paused and is no more.
 */
static RfFlow *
lock_flow(RfFlow *found, bool wait)
{
	RfRoleGuard guard;
	RfFlow	   *flow = NULL;
	bool		locked;

	rf_target_check_owner(found->target, found->owner, found->name);
	rf_flow_assume(&guard, found);
	locked = found->paused || lock_tables(found, wait);
	if (locked)
		flow = rf_flow_lock(found->name, wait);
	rf_role_restore(&guard);
	if (flow == NULL)
		return NULL;
	rf_flow_check_caller(flow);
	found->paused = flow->paused;
	if (flow->paused)
		return NULL;
	rf_flow_assume(&guard, flow);
	locked = lock_tables(flow, wait) && rf_reads_lock(flow, wait);
	rf_role_restore(&guard);
	return locked ? flow : NULL;
}

/*
 * Keep the flow's tables open, so that code of users that the run calls cannot
 * rewrite, empty or drop them: the snapshot would not see what it makes of them.
 */
static List *
hold_tables(const RfFlow *flow)
{
	List	   *relids = list_copy(flow->read_relids);
	List	   *held = NIL;
	ListCell   *cell;

	relids = list_concat_unique_oid(relids, find_all_inheritors(flow->target, NoLock, NULL));
	if (OidIsValid(flow->ledger))
		relids = list_append_unique_oid(relids, flow->ledger);
	foreach(cell, relids)
		held = lappend(held, relation_open(lfirst_oid(cell), NoLock));
	return held;
}

static void
release_tables(List *held)
{
	ListCell   *cell;

	foreach(cell, held)
		relation_close(lfirst(cell), NoLock);
}

/*
 * The tables that nobody else may write, if this is a run, are those that the
 * flow needs.
 */
static void
open_flow(RfFlow *flow)
{
	rf_flow_open(flow);
	rf_view_check(flow);
	rf_target_check(flow->target, flow->owner, flow->name);
	if (flow->kind == RF_USING)
		rf_stream_check_parts(flow->source, flow->name);
	rf_target_check_alone(flow->name, flow->id, flow->target, flow->source);
}

static void
work(const RfRunOrder *order, RfFlow *flow, RfRun *run)
{
	RfRoleGuard guard;
	List	   *held;

	open_flow(flow);
	if (order->prepare != NULL)
		order->prepare(run, order->arg);
	held = hold_tables(flow);
	rf_flow_assume(&guard, flow);
	order->work(run, order->arg);
	rf_role_restore(&guard);
	release_tables(held);
}

static void
add_context(void *arg)
{
	RfRun	   *run = arg;

	if (run->run_id != 0)
		errcontext("run " INT64_FORMAT " of flow \"%s\"", run->run_id, run->flow->name);
	else
		errcontext("preview of flow \"%s\"", run->flow->name);
}

static void
work_in_context(const RfRunOrder *order, RfFlow *flow, RfRun *run)
{
	ErrorContextCallback callback = {error_context_stack, add_context, run};

	error_context_stack = &callback;
	work(order, flow, run);
	error_context_stack = callback.previous;
}

static RfRow
run_flow(const RfRunOrder *order, RfFlow *flow)
{
	RfRun		run;
	RfRow		record;

	rf_run_begin(&run, flow);
	rf_progress_identify(&run);
	work_in_context(order, flow, &run);
	record = rf_run_finish(&run, "succeeded");
	rf_failpoint("run", "recorded");
	return record;
}

static RfRow
skip_run(RfFlow *flow)
{
	RfRun		run;

	rf_run_begin(&run, flow);
	run.reasons = list_make1(flow->paused ? "PAUSED: the flow is paused" :
							 "LOCKED: a lock that the run needs was not free");
	return rf_run_finish(&run, "skipped");
}

static RfFlow *
find_flow(const char *name, RfFlowKind kind)
{
	RfFlow	   *flow = rf_flow_find(name);

	rf_flow_check_caller(flow);
	rf_flow_check_kind(flow, kind);
	return flow;
}

/*
 * Lock all that a run of a flow needs, which is not to be run yet; NULL when the
 * flow is paused.  The run that follows then waits for nobody.
 */
RfFlow *
rf_run_lock(const char *flow_name, RfFlowKind kind)
{
	return lock_flow(find_flow(flow_name, kind), true);
}

/*
 * Run a flow once; give the run's record.
 */
RfRow
rf_run(const RfRunOrder *order)
{
	RfFlow	   *flow;
	RfFlow	   *locked;
	MemoryContext connection;
	RfRow		record;

	PreventCommandIfReadOnly(order->command);
	PreventCommandDuringRecovery(order->command);
	rf_flow_check_isolation(order->flow_name, "run");
	connection = rf_query_begin();
	flow = find_flow(order->flow_name, order->kind);
	rf_reentry_enter(flow, connection);
	rf_progress_begin(flow, false, connection);
	if (flow->kind == RF_USING && !flow->paused)
		rf_stream_reclaim(flow->source);

	locked = lock_flow(flow, order->wait);
	/* another flow may have taken the name meanwhile */
	if (locked != NULL && locked->id != flow->id)
		rf_reentry_enter(locked, connection);
	if (locked != NULL)
		record = run_flow(order, locked);
	else
		record = skip_run(flow);
	rf_query_end();
	return record;
}

/*
 * Find a flow and keep its tables and its view from being changed.  It may have
 * been changed itself before that.
 */
static RfFlow *
find_to_read(const RfRunOrder *order)
{
	RfFlow	   *flow = NULL;
	RfFlow	   *found = find_flow(order->flow_name, order->kind);

	while (flow == NULL || found->id != flow->id ||
		   found->definition_version != flow->definition_version)
	{
		flow = found;
		(void) lock_family(flow->target, AccessShareLock, true);
		(void) rf_reads_lock(flow, true);
		found = find_flow(order->flow_name, order->kind);
	}
	return flow;
}

/*
 * Do the work of a run, which must not write, beside other sessions; give what
 * it counted.
 */
RfRunCounts
rf_preview(const RfRunOrder *order)
{
	RfFlow	   *flow;
	RfRun		run = {0};
	MemoryContext connection = rf_query_begin();

	flow = find_to_read(order);
	run.flow = flow;
	rf_progress_begin(flow, true, connection);
	work_in_context(order, flow, &run);
	rf_query_end();
	return run.counts;
}
