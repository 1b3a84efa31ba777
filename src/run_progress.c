/*-------------------------------------------------------------------------
 *
 * run_progress.c
 *	  How far runs are, for other sessions to see.
 *
 * Shared memory has a place for each backend, which shows the run that the
 * backend is in.  If the library was not preloaded there are no places, and
 * all of this does nothing.
 *
 * A trigger or function that a run calls may begin a run of another flow.  So a
 * backend keeps a list of the runs that it is in; its place shows the innermost
 * one, and then again the one around it.  A run leaves the list when its memory
 * context goes, as in reentry.c: it cannot be seen any more once it is over,
 * however it ended.
 *
 * Rows are counted in local memory and shown some thousand at a time.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "postmaster/bgworker.h"
#include "storage/shmem.h"
#include "storage/spin.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

#include "compat.h"
#include "run_progress.h"

PG_FUNCTION_INFO_V1(replace_flow_runs_under_way);

/* How many rows pass before their number is shown: a power of two. */
#define ROWS_BETWEEN 4096

/* What is shown of a run. */
typedef struct RfProgress
{
	int			pid;			/* 0: there is no run */
	Oid			database;
	int32		flow_id;
	bool		preview;
	int64		run_id;			/* 0: it has none, or none yet */
	RfPhase		phase;
	int64		rows_done;
	int64		rows_expected;
	TimestampTz started_at;
} RfProgress;

/*
 * A backend's place.  Only the backend writes it and all read it, under the
 * mutex.
 */
typedef struct RfPlace
{
	slock_t		mutex;
	RfProgress	progress;
} RfPlace;

/* A run that this backend is in, allocated in the memory context of the run. */
typedef struct RfUnderWay
{
	RfProgress	progress;
	const char *deed;
	char	   *flow_name;
	struct RfUnderWay *outer;
	MemoryContextCallback callback;
} RfUnderWay;

static const struct
{
	const char *name;
	bool		counts;			/* whether rows are counted one by one */
}			phases[] = {
	[RF_PHASE_WAITING] = {"waiting for locks", false},
	[RF_PHASE_OPENING] = {"opening", false},
	[RF_PHASE_CONSUMING] = {"consuming", false},
	[RF_PHASE_READING] = {"reading", true},
	[RF_PHASE_FINDING] = {"finding old rows", true},
	[RF_PHASE_COMPARING] = {"comparing", true},
	[RF_PHASE_DELETING] = {"deleting", false},
	[RF_PHASE_UPDATING] = {"updating", false},
	[RF_PHASE_INSERTING] = {"inserting", false},
	[RF_PHASE_FIRING] = {"firing triggers", false},
	[RF_PHASE_RECORDING] = {"recording", false}
};

/* The places, one for each backend; NULL if the library was not preloaded. */
static RfPlace *places = NULL;

/* The runs that this backend is in, the innermost first. */
static RfUnderWay *innermost = NULL;

Size
rf_progress_shmem_size(void)
{
	return mul_size(MaxBackends, sizeof(RfPlace));
}

/*
 * Find the places, or make them.  The caller holds AddinShmemInitLock.
 */
void
rf_progress_shmem_init(void)
{
	bool		found;

	places = ShmemInitStruct("replace_flow progress", rf_progress_shmem_size(), &found);
	if (found)
		return;
	memset(places, 0, rf_progress_shmem_size());
	for (int i = 0; i < MaxBackends; i++)
		SpinLockInit(&places[i].mutex);
}

static void
show(void)
{
	RfPlace    *place = &places[rf_backend_number()];

	SpinLockAcquire(&place->mutex);
	if (innermost != NULL)
		place->progress = innermost->progress;
	else
		place->progress.pid = 0;
	SpinLockRelease(&place->mutex);
}

/*
 * A worker of ours has no statement of a client that pg_stat_activity could
 * show.
 */
static void
report_activity(void)
{
	char		activity[1024];

	if (innermost == NULL || MyBgworkerEntry == NULL ||
		strcmp(MyBgworkerEntry->bgw_library_name, "replace_flow") != 0)
		return;
	snprintf(activity, sizeof(activity), "%s of flow \"%s\": %s", innermost->deed,
			 innermost->flow_name, phases[innermost->progress.phase].name);
	pgstat_report_activity(STATE_RUNNING, activity);
}

static void
forget(void *arg)
{
	RfUnderWay *run = arg;
	RfUnderWay **link = &innermost;

	while (*link != run)
		link = &(*link)->outer;
	*link = run->outer;
	show();
	report_activity();
}

/*
 * A run of a flow, or a preview of one, begins, and is shown for as long as the
 * context lives.
 */
void
rf_progress_begin(const RfFlow *flow, bool preview, MemoryContext context)
{
	RfUnderWay *run;

	if (places == NULL)
		return;
	run = MemoryContextAllocZero(context, sizeof(RfUnderWay));
	run->deed = preview ? "preview" : flow->kind == RF_USING ? "apply" : "refresh";
	run->flow_name = MemoryContextStrdup(context, flow->name);
	run->progress.pid = MyProcPid;
	run->progress.database = MyDatabaseId;
	run->progress.flow_id = flow->id;
	run->progress.preview = preview;
	run->progress.started_at = GetCurrentTimestamp();
	run->callback.func = forget;
	run->callback.arg = run;
	MemoryContextRegisterResetCallback(context, &run->callback);
	run->outer = innermost;
	innermost = run;
	rf_progress_phase(preview ? RF_PHASE_OPENING : RF_PHASE_WAITING, RF_ROWS_UNKNOWN);
}

/*
 * The run has its locks, and with them a number; the flow of that name may have
 * become another one meanwhile.
 */
void
rf_progress_identify(const RfRun *run)
{
	if (innermost == NULL)
		return;
	innermost->progress.run_id = run->run_id;
	innermost->progress.flow_id = run->flow->id;
	rf_progress_phase(RF_PHASE_OPENING, RF_ROWS_UNKNOWN);
}

/*
 * A phase begins, with this many rows to do.
 */
void
rf_progress_phase(RfPhase phase, int64 rows_expected)
{
	if (innermost == NULL)
		return;
	innermost->progress.phase = phase;
	innermost->progress.rows_done = 0;
	innermost->progress.rows_expected = rows_expected;
	show();
	report_activity();
}

/*
 * Another row of the phase is done.
 */
void
rf_progress_row(void)
{
	if (innermost != NULL && ++innermost->progress.rows_done % ROWS_BETWEEN == 0)
		show();
}

static void
put_run(ReturnSetInfo *result, const RfProgress *run)
{
	bool		counts = phases[run->phase].counts;
	Datum		values[] = {
		Int32GetDatum(run->flow_id),
		CStringGetTextDatum(run->preview ? "preview" : "run"),
		Int32GetDatum(run->pid),
		Int64GetDatum(run->run_id),
		CStringGetTextDatum(phases[run->phase].name),
		Int64GetDatum(run->rows_done),
		Int64GetDatum(run->rows_expected),
		TimestampTzGetDatum(run->started_at)
	};
	bool		nulls[] = {
		false, false, false, run->run_id == 0, false, !counts,
		run->rows_expected == RF_ROWS_UNKNOWN, false
	};

	tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
}

/*
 * runs_under_way(): the runs and previews in this database, of flows that the
 * caller may see.
 */
Datum
replace_flow_runs_under_way(PG_FUNCTION_ARGS)
{
	InitMaterializedSRF(fcinfo, 0);
	for (int i = 0; places != NULL && i < MaxBackends; i++)
	{
		RfProgress	run;

		SpinLockAcquire(&places[i].mutex);
		run = places[i].progress;
		SpinLockRelease(&places[i].mutex);
		if (run.pid != 0 && run.database == MyDatabaseId &&
			rf_flow_is_visible(run.flow_id, InvalidOid))
			put_run((ReturnSetInfo *) fcinfo->resultinfo, &run);
	}
	return (Datum) 0;
}
