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
 * nothing.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "commands/extension.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/ipc.h"
#include "storage/proc.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "flow.h"
#include "flow_catalog.h"
#include "job.h"
#include "process.h"
#include "query.h"
#include "run_record.h"
#include "settings.h"
#include "stream.h"
#include "using_run.h"
#include "where_run.h"
#include "worker.h"

/* So that a table that somebody keeps locked does not keep the process for itself. */
#define DEFAULT_LOCK_TIMEOUT "5s"

typedef struct RfWork
{
	const RfJobOrder *order;
	RfJobResult *result;
} RfWork;

static void
apply(const char *name, Oid stream, const RfWork *work)
{
	RfApplyOptions options = {.wait = true};

	/* one that failed has to succeed, if only with nothing */
	if (work->order->failures == 0 && !rf_stream_has_rows(stream))
		work->result->outcome = RF_JOB_NOTHING;
	else
		(void) rf_apply(name, &options);
}

static void
run(void *arg)
{
	RfWork	   *work = arg;
	RfRow		flow;
	bool		found = false;

	rf_query_begin();
	if (OidIsValid(get_extension_oid("replace_flow", true)))
		found = rf_catalog_flow_by_id(work->order->flow_id, &flow);
	rf_query_end();
	if (!found)
		work->result->outcome = RF_JOB_NOTHING;
	else if (rf_flow_kind_parse(rf_row_text(&flow, "kind")) == RF_USING)
		apply(rf_row_text(&flow, "name"), rf_row_oid(&flow, "source"), work);
	else
	{
		RfRefreshOptions options = {.wait = true};

		(void) rf_refresh(rf_row_text(&flow, "name"), &options);
	}
}

/* A failure, and the flow that had it. */
typedef struct RfFailure
{
	int32		flow_id;
	const ErrorData *error;
} RfFailure;

static void
record(void *arg)
{
	const RfFailure *failure = arg;
	RfRow		flow;

	rf_query_begin();
	if (rf_catalog_flow_by_id(failure->flow_id, &flow))
		rf_run_record_failure(rf_flow_find(rf_row_text(&flow, "name")), failure->error);
	rf_query_end();
}

/* What cannot be recorded either is in the server's log. */
static void
record_failure(int32 flow_id, const ErrorData *error)
{
	RfFailure	failure = {flow_id, error};

	(void) rf_process_try(record, &failure, error->sqlerrcode);
}

/*
 * Record the run of a process that ended in the middle of it.
 */
void
rf_worker_record_death(int32 flow_id)
{
	ErrorData	error = {
		.sqlerrcode = ERRCODE_ADMIN_SHUTDOWN,
		.message = "the process that ran the flow was terminated"
	};

	record_failure(flow_id, &error);
}

/* The first failures of a kind, and then fewer and fewer, go to the log. */
static int
known_failure(const RfJobOrder *order)
{
	return (order->failures & (order->failures - 1)) == 0 ? 0 : order->sqlstate;
}

static void
do_order(const RfJobOrder *order)
{
	RfJobResult result = {.outcome = RF_JOB_SUCCEEDED};
	RfWork		work = {order, &result};
	ErrorData  *error;

	rf_run_forget_begun();
	error = rf_process_try(run, &work, known_failure(order));
	if (error != NULL)
	{
		result.outcome = RF_JOB_FAILED;
		result.sqlstate = error->sqlerrcode;
		record_failure(order->flow_id, error);
	}
	rf_job_finish(&result);
	pgstat_report_stat(true);
	pgstat_report_activity(STATE_IDLE, NULL);
}

static void
begin(Oid database)
{
	rf_process_connect(database);
	if (LockTimeout == 0)
		SetConfigOption("lock_timeout", DEFAULT_LOCK_TIMEOUT, PGC_SUSET, PGC_S_OVERRIDE);
	MemoryContextSwitchTo(AllocSetContextCreate(TopMemoryContext, "replace_flow worker",
												ALLOCSET_DEFAULT_SIZES));
}

/*
 * A process for this job.
 */
void
replace_flow_worker_main(Datum job)
{
	Oid			database;
	RfJobOrder	order;
	TimestampTz idle_until = 0;

	rf_process_begin();
	database = rf_job_enter(DatumGetInt32(job));
	if (!OidIsValid(database))
		proc_exit(0);
	begin(database);
	while (!rf_job_is_to_end(idle_until != 0 && GetCurrentTimestamp() >= idle_until))
	{
		while (rf_job_take_order(&order))
		{
			do_order(&order);
			MemoryContextReset(CurrentMemoryContext);
			idle_until = 0;
		}
		if (idle_until == 0)
			idle_until = TimestampTzPlusMilliseconds(GetCurrentTimestamp(),
													 rf_worker_idle_timeout);
		rf_process_sleep(idle_until, "ReplaceFlowWorkerMain");
	}
	proc_exit(0);
}
