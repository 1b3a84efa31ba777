/*-------------------------------------------------------------------------
 *
 * worker.c
 *	  The process that runs flows.
 *
 * It takes orders from its database's scheduler, one at a time, and runs the
 * flow as apply() and refresh() do, in a transaction of its own.  A run that
 * fails is recorded in another one.  Without orders it waits for a while, since
 * to start a process takes longer than most runs, and then ends.
 *
 * Rows that nobody has staged are not worth a run: an order may come for
 * nothing.  Many of them are not applied at once, but in slices, one an order.
 *
 * Now and then an order is also to remove old records of the flow's runs.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <limits.h>

#include "miscadmin.h"
#include "pgstat.h"
#include "storage/ipc.h"
#include "storage/proc.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "backlog.h"
#include "failed_run.h"
#include "flow.h"
#include "flow_catalog.h"
#include "flow_run.h"
#include "guarded.h"
#include "job.h"
#include "key_range.h"
#include "process.h"
#include "quarantine.h"
#include "query.h"
#include "run_record.h"
#include "settings.h"
#include "using_run.h"
#include "where_run.h"
#include "worker.h"

/* So that a table that somebody keeps locked does not keep the process for itself. */
#define DEFAULT_LOCK_TIMEOUT "5s"

/* What belongs to one order. */
static MemoryContext order_context;

/* An order, and what became of it. */
typedef struct RfWork
{
	const RfJobOrder *order;
	RfJobResult *result;
	char	   *name;			/* of the flow; NULL: it is gone */
	RfFlowKind	kind;
	Oid			stream;
} RfWork;

/* Find the flow, in a transaction of the caller's. */
static bool
find_flow(RfWork *work)
{
	RfRow		row;
	bool		found;

	rf_query_begin();
	found = rf_catalog_flow_by_id(work->order->flow_id, &row);
	rf_query_end();
	if (!found)
		return false;
	work->name = rf_row_text(&row, "name");
	work->kind = rf_flow_kind_parse(rf_row_text(&row, "kind"));
	work->stream = rf_row_oid(&row, "source");
	return true;
}

/*
 * Whether the stream of a flow can be cut by key.  Locks come in the order in
 * which the run has them.
 */
static bool
can_be_cut(const char *name)
{
	const char *obstacle;
	RfFlow	   *flow;
	bool		possible = false;

	rf_query_begin();
	flow = rf_run_lock(name, RF_USING);
	if (flow != NULL)
	{
		rf_flow_open(flow);
		possible = rf_key_cut_find(flow, &obstacle) != NULL;
	}
	rf_query_end();
	return possible;
}

/*
 * In how many slices to apply what the stream has; 0 if that is nothing.  What
 * cannot be counted may be there; and what failed must succeed, if with nothing.
 */
static int
count_slices(const RfWork *work)
{
	int64		rows;

	if (!rf_backlog_count(work->stream, &rows))
		return 1;
	if (rows == 0 && work->order->failures == 0)
		return 0;
	if (rf_max_batch_rows == 0 || rows <= rf_max_batch_rows || !can_be_cut(work->name))
		return 1;
	return (int) Min((rows + rf_max_batch_rows - 1) / rf_max_batch_rows, INT_MAX);
}

/* The keys whose hashes are the n-th part of all. */
static RfKeyRange
slice_range(int slice, int slices)
{
	uint64		width = PG_UINT64_MAX / slices;
	uint64		first = (uint64) PG_INT64_MIN + width * slice;
	RfKeyRange	range = {(int64) first, (int64) (first + width - 1)};

	if (slice == slices - 1)
		range.last = PG_INT64_MAX;
	return range;
}

static void
apply(const RfWork *work)
{
	const RfJobOrder *order = work->order;
	RfJobResult *result = work->result;
	RfApplyOptions options = {.wait = true};
	RfKeyRange	range;

	result->slices = order->slices > 0 ? order->slices : count_slices(work);
	if (result->slices == 0)
	{
		result->outcome = RF_JOB_NOTHING;
		return;
	}
	if (result->slices > 1)
	{
		range = slice_range(order->slice, result->slices);
		options.range = &range;
	}
	(void) rf_apply(work->name, &options);
	result->next_slice = order->slice + 1;
}

static void
run(void *arg)
{
	RfWork	   *work = arg;
	RfRefreshOptions options = {.wait = true};

	if (!find_flow(work))
		work->result->outcome = RF_JOB_NOTHING;
	else if (work->kind == RF_USING)
		apply(work);
	else
		(void) rf_refresh(work->name, &options);
}

/* The first failures of a kind, and then fewer and fewer, go to the log. */
static bool
is_to_log(const RfJobOrder *order, const ErrorData *error)
{
	return (order->failures & (order->failures - 1)) == 0 || error->sqlerrcode != order->sqlstate;
}

/* Keep the name beyond the transaction. */
static void
find_name(void *arg)
{
	RfWork	   *work = arg;

	if (find_flow(work))
		work->name = MemoryContextStrdup(order_context, work->name);
}

/* Runs until only keys are left that fail, each in a transaction of its own. */
static ErrorData *
quarantine(RfWork *work)
{
	ErrorData  *error = rf_guarded(find_name, work);

	if (error == NULL && work->name != NULL)
		error = rf_quarantine(work->name);
	return error;
}

static RfJobResult
failed(const RfJobOrder *order, ErrorData *error)
{
	RfJobResult nothing = {.outcome = RF_JOB_NOTHING};
	RfJobResult result = {
		.outcome = RF_JOB_FAILED,
		.sqlstate = error->sqlerrcode
	};

	if (!rf_failed_run_record(order->flow_id, error))
		return nothing;
	if (is_to_log(order, error))
		rf_guarded_log(error);
	return result;
}

static void
sweep(void *arg)
{
	const RfJobOrder *order = arg;

	rf_query_begin();
	if (rf_flow_extension_exists())
		rf_catalog_forget_runs(order->flow_id, rf_run_retention);
	rf_query_end();
}

/* Nobody waits for this; what fails is done the next time. */
static void
remove_old_records(RfJobOrder *order)
{
	ErrorData  *error = rf_guarded(sweep, order);

	if (error != NULL)
		rf_guarded_log(error);
}

/*
 * Whether this process has been there for long.  It has the settings that its
 * database had when it came: what fails in an old one is tried again in another.
 */
static bool
is_old(void)
{
	return TimestampDifferenceExceeds(MyStartTimestamp, GetCurrentTimestamp(), rf_max_backoff);
}

static void
do_order(RfJobOrder *order)
{
	RfJobResult result = {.outcome = RF_JOB_SUCCEEDED};
	RfWork		work = {.order = order, .result = &result};
	ErrorData  *error;

	rf_run_forget_begun();
	if (order->quarantine)
		error = quarantine(&work);
	else
		error = rf_guarded(run, &work);
	if (error != NULL)
		result = failed(order, error);
	if (order->sweep)
		remove_old_records(order);
	rf_job_finish(&result, result.outcome == RF_JOB_FAILED && is_old());
	pgstat_report_stat(true);
	pgstat_report_activity(STATE_IDLE, NULL);
}

static void
begin(Oid database)
{
	rf_process_connect(database);
	if (LockTimeout == 0)
		SetConfigOption("lock_timeout", DEFAULT_LOCK_TIMEOUT, PGC_SUSET, PGC_S_OVERRIDE);
	order_context = AllocSetContextCreate(TopMemoryContext, "replace_flow worker",
										  ALLOCSET_DEFAULT_SIZES);
	MemoryContextSwitchTo(order_context);
}

/* When a process that has had no order since then has waited for long enough. */
static TimestampTz
waits_until(TimestampTz idle_since)
{
	return TimestampTzPlusMilliseconds(idle_since, rf_worker_idle_timeout);
}

/*
 * A process for this job.
 */
void
replace_flow_worker_main(Datum job)
{
	Oid			database;
	RfJobOrder	order;
	TimestampTz idle_since;

	rf_process_begin();
	database = rf_job_enter(DatumGetInt32(job));
	if (!OidIsValid(database))
		proc_exit(0);
	begin(database);
	idle_since = GetCurrentTimestamp();
	for (;;)
	{
		if (rf_job_take_order(&order))
		{
			do_order(&order);
			MemoryContextReset(order_context);
			idle_since = GetCurrentTimestamp();
		}
		else if (rf_job_is_to_end(GetCurrentTimestamp() >= waits_until(idle_since)))
			break;
		else
			rf_process_sleep(waits_until(idle_since), "ReplaceFlowWorkerMain");
	}
	proc_exit(0);
}
