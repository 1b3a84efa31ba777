/*-------------------------------------------------------------------------
 *
 * task.c
 *	  What a scheduler knows of the flows that the worker runs, and when the
 *	  next run of each is due.
 *
 * Something waits for a task when one of its tables got rows.  Then it is due at
 * once, except that
 *
 *	- it waits for its turn: tasks stand in a queue, and one that has only done a
 *	  slice of its backlog goes to the end of it;
 *	- one that failed waits for a time that doubles from try to try.  News cuts
 *	  that short: new rows may bring what was missing, an altered flow is
 *	  another one, and so may be its tables.  All but the alteration of the flow
 *	  itself can come often, so they do not cut it below a second;
 *	- a where flow is not started twice within its interval;
 *	- one that got news while it ran rests for some times as long as it ran, but
 *	  for moments only.  So under steady load there are fewer and larger runs,
 *	  which cost less, and who stages now and then waits for nothing.
 *
 * What came during a run, or since the first slice of a backlog, may have been
 * too late for it, so it is followed by another one.
 *
 * Tasks are in the memory of the scheduler alone.  When it is started again, it
 * wants all flows, and has the failures from their records.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/hsearch.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "flow.h"
#include "flow_catalog.h"
#include "flow_state.h"
#include "query.h"
#include "settings.h"
#include "task.h"
#include "wake_up_trigger.h"

/* The first retry comes after this time, in milliseconds. */
#define MIN_BACKOFF 1000
/* How long a task rests, in times of its run, and in milliseconds at most. */
#define REST_FACTOR 3
#define MAX_REST 100
/* Milliseconds between two removals of old records of one flow's runs. */
#define SWEEP_INTERVAL 60000

/* Which tasks a table has: a source can have several. */
typedef struct RfTaskTable
{
	Oid			relid;			/* hash key */
	List	   *flow_ids;
} RfTaskTable;

static MemoryContext context;
static HTAB *tasks;
static HTAB *tables;
static MemoryContext tables_context;

/* The tasks for which something waits, also while they run, in the order of their turns. */
static List *active;

static HTAB *
create_table(const char *name, Size keysize, Size entrysize, MemoryContext where)
{
	HASHCTL		control = {.keysize = keysize, .entrysize = entrysize, .hcxt = where};

	return hash_create(name, 64, &control, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
}

/*
 * This process is a scheduler: it knows of no task yet.
 */
void
rf_tasks_begin(void)
{
	context = AllocSetContextCreate(TopMemoryContext, "replace_flow tasks",
									ALLOCSET_DEFAULT_SIZES);
	tasks = create_table("replace_flow tasks", sizeof(int32), sizeof(RfTask), context);
}

/* Its turn comes after that of all others. */
static void
go_to_the_end(RfTask *task)
{
	MemoryContext caller = MemoryContextSwitchTo(context);

	active = lappend(list_delete_ptr(active, task), task);
	MemoryContextSwitchTo(caller);
}

/* Let replace_flow.flows show it. */
static void
publish(const RfTask *task)
{
	rf_flow_state_set(task->flow_id, task->waiting_since,
					  task->failures > 0 && !task->paused ? task->retry_at : 0);
}

static bool
is_running(const RfTask *task)
{
	return task->job >= 0;
}

/* What comes during a run, or between its slices, may be too late for it. */
static void
want(RfTask *task, TimestampTz since)
{
	if (is_running(task))
		task->news = true;
	if (is_running(task) || task->slice > 0)
	{
		if (task->next_waiting_since == 0)
			task->next_waiting_since = since;
	}
	else if (task->waiting_since == 0)
	{
		task->waiting_since = since;
		go_to_the_end(task);
		publish(task);
	}
}

static int
backoff(int failures)
{
	int64		time = MIN_BACKOFF;

	for (int i = 1; i < failures && time < rf_max_backoff; i++)
		time *= 2;
	return (int) Min(time, rf_max_backoff);
}

/* What the flow's row says. */
static void
load_task(RfTask *task, const RfRow *row)
{
	task->version = (TransactionId) rf_row_int64(row, "version");
	task->owner = rf_flow_owner(task->flow_id, rf_row_oid(row, "target"));
	task->paused = rf_row_bool(row, "paused");
	task->quarantine = rf_row_bool(row, "quarantine");
	task->min_interval = rf_row_int64(row, "min_interval");
}

/*
 * A flow that was changed in any way is tried at once: it may work now, or it is
 * another one, with tables that have rows already.
 */
static void
take_row(const RfRow *row)
{
	int32		flow_id = (int32) rf_row_int64(row, "flow_id");
	bool		known;
	RfTask	   *task = hash_search(tasks, &flow_id, HASH_ENTER, &known);
	TransactionId version;

	if (!known)
	{
		memset(task, 0, sizeof(RfTask));
		task->flow_id = flow_id;
		task->job = -1;
	}
	version = task->version;
	load_task(task, row);
	task->found = true;
	if (known && version == task->version)
		return;
	task->retry_at = 0;
	task->slices = task->slice = 0;
	want(task, GetCurrentTimestamp());
	publish(task);
}

static void
forget_lost(void)
{
	HASH_SEQ_STATUS scan;
	RfTask	   *task;

	hash_seq_init(&scan, tasks);
	while ((task = hash_seq_search(&scan)) != NULL)
	{
		/* a run under way is waited for; it will find nothing to do */
		if (task->found || is_running(task))
		{
			task->found = false;
			continue;
		}
		active = list_delete_ptr(active, task);
		rf_flow_state_set(task->flow_id, 0, 0);
		(void) hash_search(tasks, &task->flow_id, HASH_REMOVE, NULL);
	}
}

static void
take_table(Oid relid, int32 flow_id)
{
	bool		known;
	RfTaskTable *table = hash_search(tables, &relid, HASH_ENTER, &known);
	MemoryContext caller = MemoryContextSwitchTo(tables_context);

	if (!known)
		table->flow_ids = NIL;
	table->flow_ids = lappend_int(table->flow_ids, flow_id);
	MemoryContextSwitchTo(caller);
}

/* Which tables wake which flow. */
static void
load_tables(void)
{
	RfRow	   *flows;
	int			nflows = rf_catalog_woken_flows(&flows);
	List	  **woken_by = rf_wake_up_tables(nflows, flows);
	ListCell   *cell;

	if (tables_context != NULL)
		MemoryContextDelete(tables_context);
	tables_context = AllocSetContextCreate(context, "replace_flow tables", ALLOCSET_DEFAULT_SIZES);
	tables = create_table("replace_flow tables", sizeof(Oid), sizeof(RfTaskTable), tables_context);
	for (int i = 0; i < nflows; i++)
	{
		foreach(cell, woken_by[i])
			take_table(lfirst_oid(cell), (int32) rf_row_int64(&flows[i], "flow_id"));
	}
}

/* Flows that failed before there was this scheduler go on to wait. */
static void
load_failures(void)
{
	RfRow	   *rows;
	int			nrows = rf_catalog_worker_failures(&rows);

	for (int i = 0; i < nrows; i++)
	{
		int32		flow_id = (int32) rf_row_int64(&rows[i], "flow_id");
		RfTask	   *task = hash_search(tasks, &flow_id, HASH_FIND, NULL);
		bool		isnull;

		if (task == NULL)
			continue;
		task->failures = (int) rf_row_int64(&rows[i], "failures");
		task->ended_at = DatumGetTimestampTz(rf_row_datum(&rows[i], "failed_at", &isnull));
		task->retry_at = TimestampTzPlusMilliseconds(task->ended_at, backoff(task->failures));
		publish(task);
	}
}

/*
 * Read the catalog, in a transaction of the caller's.
 */
void
rf_tasks_load(void)
{
	bool		first = tables == NULL;
	RfRow	   *rows;
	int			nrows = rf_catalog_worker_flows(&rows);

	for (int i = 0; i < nrows; i++)
		take_row(&rows[i]);
	forget_lost();
	load_tables();
	if (first)
		load_failures();
}

/*
 * Any table may have got rows.
 */
void
rf_tasks_want_all(TimestampTz since)
{
	HASH_SEQ_STATUS scan;
	RfTask	   *task;

	hash_seq_init(&scan, tasks);
	while ((task = hash_seq_search(&scan)) != NULL)
		want(task, since);
}

static void
retry_soon(RfTask *task)
{
	TimestampTz soon = TimestampTzPlusMilliseconds(task->ended_at, MIN_BACKOFF);

	if (task->retry_at > soon)
	{
		task->retry_at = soon;
		publish(task);
	}
}

/*
 * A table got rows; false if it was not known.  After the catalog was read for its
 * sake it is, if with no flow.
 */
bool
rf_tasks_want_table(Oid relid, TimestampTz since)
{
	bool		known;
	RfTaskTable *table = hash_search(tables, &relid, HASH_ENTER, &known);
	ListCell   *cell;

	if (!known)
		table->flow_ids = NIL;
	foreach(cell, table->flow_ids)
	{
		int32		flow_id = lfirst_int(cell);
		RfTask	   *task = hash_search(tasks, &flow_id, HASH_FIND, NULL);

		if (task == NULL)
			continue;
		want(task, since);
		retry_soon(task);
	}
	return known;
}

/*
 * Something was changed that may have made flows fail.
 */
void
rf_tasks_retry_failing(void)
{
	ListCell   *cell;

	foreach(cell, active)
		retry_soon(lfirst(cell));
}

static TimestampTz
due_at(const RfTask *task)
{
	TimestampTz due = Max(task->retry_at, task->rests_until);

	if (task->started_at != 0 && task->min_interval > 0)
		due = Max(due, TimestampTzPlusMilliseconds(task->started_at, task->min_interval));
	return due;
}

/*
 * The task whose turn it is, or NULL and the time when one will be due.
 */
RfTask *
rf_tasks_due(TimestampTz now, TimestampTz *next)
{
	ListCell   *cell;

	*next = DT_NOEND;
	foreach(cell, active)
	{
		RfTask	   *task = lfirst(cell);

		if (task->paused || is_running(task))
			continue;
		if (due_at(task) <= now)
			return task;
		*next = Min(*next, due_at(task));
	}
	return NULL;
}

/*
 * The tasks that are running.
 */
List *
rf_tasks_running(void)
{
	List	   *running = NIL;
	ListCell   *cell;

	foreach(cell, active)
	{
		if (is_running(lfirst(cell)))
			running = lappend(running, lfirst(cell));
	}
	return running;
}

/* Whether it is time to remove old records. */
static bool
is_to_sweep(const RfTask *task)
{
	return rf_run_retention >= 0 &&
		TimestampDifferenceExceeds(task->swept_at, GetCurrentTimestamp(), SWEEP_INTERVAL);
}

/*
 * What a job process is to do for a task.
 */
RfJobOrder
rf_task_order(const RfTask *task)
{
	RfJobOrder	order = {
		.flow_id = task->flow_id,
		.owner = task->owner,
		.quarantine = task->quarantine && task->failures > rf_max_retries,
		.failures = task->failures,
		.sqlstate = task->sqlstate,
		.sweep = is_to_sweep(task),
		.slices = task->slices,
		.slice = task->slice
	};

	return order;
}

/*
 * A job has the order of a task.  A run that does not go on with a slice takes all
 * that waits.
 */
void
rf_task_started(RfTask *task, const RfJobOrder *order, int job)
{
	task->job = job;
	task->started_at = GetCurrentTimestamp();
	task->news = false;
	if (order->sweep)
		task->swept_at = task->started_at;
	if (task->slice == 0)
		task->next_waiting_since = 0;
}

/*
 * The process for the run never came.
 */
void
rf_task_not_started(RfTask *task)
{
	task->job = -1;
}

static void
rest(RfTask *task)
{
	TimestampTz time = REST_FACTOR * (task->ended_at - task->started_at);

	task->rests_until = task->ended_at + Min(time, MAX_REST * INT64CONST(1000));
}

static void
succeeded(RfTask *task, const RfJobResult *result)
{
	task->failures = 0;
	task->sqlstate = 0;
	task->retry_at = 0;
	go_to_the_end(task);
	if (result->next_slice < result->slices)
	{
		task->slices = result->slices;
		task->slice = result->next_slice;
		return;
	}
	task->slices = task->slice = 0;
	task->waiting_since = task->next_waiting_since;
	if (task->waiting_since == 0)
		active = list_delete_ptr(active, task);
	else
		rest(task);
}

static void
failed(RfTask *task, const RfJobResult *result)
{
	task->failures++;
	task->sqlstate = result->sqlstate;
	task->retry_at = TimestampTzPlusMilliseconds(task->ended_at, backoff(task->failures));
	if (task->news)
		retry_soon(task);
	go_to_the_end(task);
}

/*
 * A run has ended.
 */
void
rf_task_ended(RfTask *task, const RfJobResult *result)
{
	task->job = -1;
	task->ended_at = GetCurrentTimestamp();
	if (result->outcome == RF_JOB_FAILED || result->outcome == RF_JOB_DIED)
		failed(task, result);
	else
		succeeded(task, result);
	publish(task);
}
