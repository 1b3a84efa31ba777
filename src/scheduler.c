/*-------------------------------------------------------------------------
 *
 * scheduler.c
 *	  The process that decides, for one database, which flow is run when.
 *
 * It sleeps on its latch.  A commit that staged rows wakes it with the names of
 * the tables; something waits for their tasks then (task.c), and those whose turn
 * has come go to job processes (job.c, worker.c) as orders.  A job process that is done
 * wakes it with the result.  It has a timer only while a task waits to be due, or
 * a trigger is missing.
 *
 * It reads the catalog when it starts, when flows are changed, and when a table got
 * rows that it does not know; it makes triggers that are missing, and records runs
 * whose process died.  It does nothing else in the database, and runs no code of
 * users.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "pgstat.h"
#include "postmaster/bgworker.h"
#include "storage/ipc.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "database_slot.h"
#include "failed_run.h"
#include "flow.h"
#include "guarded.h"
#include "job.h"
#include "process.h"
#include "query.h"
#include "scheduler.h"
#include "table_trigger.h"
#include "task.h"

/*
 * Milliseconds after which a process that could not be started is tried again:
 * sooner at first, since one that has just ended keeps its room for a moment.
 */
#define FIRST_START_INTERVAL 20
#define FIRST_STARTS 10
#define START_INTERVAL 1000

/* Milliseconds after which a table is tried again that was in use when it needed a trigger. */
#define SETTLE_INTERVAL 1000

/* By job: the process that this scheduler started for it. */
static BackgroundWorkerHandle **handles;

/* No process can be started before this time, after so many that could not. */
static TimestampTz start_at;
static int	failed_starts;

/* When to look again for triggers that are missing, if some are. */
static TimestampTz settle_at;

static void
load(void *extension_exists)
{
	*(bool *) extension_exists = rf_flow_extension_exists();
	if (!*(bool *) extension_exists)
		return;
	rf_query_begin();
	/* a dump has no triggers, and others could not be had at their time */
	settle_at = rf_triggers_settle(false) ? DT_NOEND :
		TimestampTzPlusMilliseconds(GetCurrentTimestamp(), SETTLE_INTERVAL);
	rf_tasks_load();
	rf_query_end();
}

/*
 * Read which flows there are.  Without the extension there is no need for a
 * scheduler.  Nor can there be one that cannot read: it ends, and another one
 * is started later.
 *
 * The catalog can be locked; who waits here keeps no other database from a job.
 */
static void
read_flows(void)
{
	bool		extension_exists;
	ErrorData  *error;

	rf_database_needs_no_job();
	error = rf_guarded(load, &extension_exists);
	if (error != NULL)
	{
		rf_guarded_log(error);
		proc_exit(1);
	}
	if (!extension_exists)
	{
		rf_database_leave();
		proc_exit(0);
	}
	pgstat_report_stat(true);
}

static void
take_news(void)
{
	RfNews		news;
	bool		known = true;
	bool		is_to_read;

	rf_database_take_news(&news);
	is_to_read = news.definitions || news.anything || settle_at <= GetCurrentTimestamp();
	if (is_to_read)
		read_flows();
	for (int i = 0; i < news.ntables; i++)
		known &= rf_tasks_want_table(news.tables[i], news.since);
	if (news.anything)
		rf_tasks_want_all(news.since);
	if (news.repair || news.anything)
		rf_tasks_retry_failing();
	if (!known && !is_to_read)
	{
		/* such as a partition that has come since */
		read_flows();
		for (int i = 0; i < news.ntables; i++)
			(void) rf_tasks_want_table(news.tables[i], news.since);
	}
}

/* Whether the process for a job will never come. */
static bool
has_not_come(int job)
{
	/* it may come and go between two looks at it */
	return rf_job_is_starting(job) && rf_process_has_ended(handles[job]) &&
		rf_job_is_starting(job);
}

/*
 * A process that ended in the middle could not record that itself.  One that
 * never came did nothing: its task has its turn again.
 */
static void
take_results(void)
{
	ListCell   *cell;

	foreach(cell, rf_tasks_running())
	{
		RfTask	   *task = lfirst(cell);
		RfJobResult result = {0};

		if (rf_job_take_result(task->job, &result))
		{
			if (result.outcome == RF_JOB_DIED)
				rf_failed_run_record_death(task->flow_id);
			rf_task_ended(task, &result);
		}
		else if (has_not_come(task->job))
		{
			rf_job_release(task->job);
			rf_task_not_started(task);
			start_at = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), START_INTERVAL);
		}
	}
}

static void
start_later(void)
{
	int			interval = ++failed_starts <= FIRST_STARTS ? FIRST_START_INTERVAL : START_INTERVAL;

	if (failed_starts > FIRST_STARTS)
		rf_process_report_shortage("worker");
	start_at = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), interval);
}

/*
 * Give a task to a job; false when there is none for it now.
 */
static bool
start_task(RfTask *task)
{
	RfJobOrder	order = rf_task_order(task);
	bool		is_new;
	int			job = rf_job_claim(&order, &is_new);

	if (job < 0)
		return false;
	if (is_new && !rf_process_start("worker", "replace_flow_worker_main", job, MyDatabaseId,
									&handles[job]))
	{
		rf_job_release(job);
		start_later();
		return false;
	}
	failed_starts = 0;
	/* if we need another one, those that have waited meanwhile come first */
	rf_database_needs_no_job();
	rf_task_started(task, &order, job);
	return true;
}

/*
 * Start what is due.  Gives the time when there will be something to do without
 * being woken.  Where all jobs are taken, the first one that becomes free wakes
 * who needs it; where the server has no room for a process, nobody does, and
 * who goes without for long lets others have the job.
 */
static TimestampTz
start_tasks(void)
{
	TimestampTz now = GetCurrentTimestamp();
	TimestampTz next;
	RfTask	   *task;
	bool		no_room;

	while ((task = rf_tasks_due(now, &next)) != NULL && start_at <= now && start_task(task))
		;
	no_room = task != NULL && start_at > now;
	if (task == NULL || (no_room && failed_starts > FIRST_STARTS))
		rf_database_needs_no_job();
	rf_job_yield();
	return no_room ? start_at : next;
}

static void
begin(Oid database)
{
	rf_process_connect(database);
	MemoryContextSwitchTo(AllocSetContextCreate(TopMemoryContext, "replace_flow scheduler",
												ALLOCSET_DEFAULT_SIZES));
	handles = MemoryContextAllocZero(TopMemoryContext,
									 max_worker_processes * sizeof(BackgroundWorkerHandle *));
	rf_tasks_begin();
	read_flows();
	pgstat_report_activity(STATE_IDLE, NULL);
}

/*
 * The scheduler of the database that has this slot.
 */
void
replace_flow_scheduler_main(Datum slot)
{
	Oid			database;

	rf_process_begin();
	database = rf_database_enter(DatumGetInt32(slot));
	if (!OidIsValid(database))
		proc_exit(0);
	begin(database);
	for (;;)
	{
		TimestampTz next;

		take_results();
		take_news();
		next = Min(start_tasks(), settle_at);
		MemoryContextReset(CurrentMemoryContext);
		rf_process_sleep(next, "ReplaceFlowSchedulerMain");
	}
}
