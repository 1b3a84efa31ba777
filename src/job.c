/*-------------------------------------------------------------------------
 *
 * job.c
 *	  What schedulers and job processes tell each other.
 *
 * A job is a place for a process that runs flows of one database.  There are
 * replace_flow.max_workers of them for the whole server.  A scheduler claims
 * one with an order, and starts a process for it if it is a new one; a process
 * that has no order waits for the next one for a while.
 *
 *		free -> ordered (by the scheduler) -> done (by the process)
 *			 -> idle (by the scheduler, who takes the result) -> ordered ...
 *
 * What code of one role leaves in its session may not be met by that of another,
 * so a process runs flows of one owner only.  Where there is no room for a new
 * one, an idle process of another owner or database has to go.
 *
 * A process that ends leaves its job free; or done, if it ended with an order.
 * When the scheduler ends, its jobs have no owner any more: the processes end
 * what they are doing and go.
 *
 * All of this is read and written under the lock of shared_state.c, which each
 * function takes itself unless its head says otherwise.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <signal.h>

#include "miscadmin.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "storage/shmem.h"

#include "database_slot.h"
#include "job.h"
#include "settings.h"
#include "shared_state.h"

typedef enum RfJobState
{
	RF_JOB_FREE,
	RF_JOB_ORDERED,
	RF_JOB_DONE,
	RF_JOB_IDLE
} RfJobState;

typedef struct RfJob
{
	RfJobState	state;
	/* set by the scheduler */
	Oid			database;
	Latch	   *scheduler;		/* NULL: it is gone */
	RfJobOrder	order;
	/* set by the process */
	pid_t		pid;			/* zero before it comes and after it went */
	Latch	   *latch;
	RfJobResult result;
	/* set by any of them, and by other databases' schedulers */
	bool		to_end;			/* the process is to go when it has no order */
} RfJob;

typedef struct RfJobs
{
	int			njobs;
	RfJob		jobs[FLEXIBLE_ARRAY_MEMBER];
} RfJobs;

static RfJobs *jobs;
static RfJob *mine;				/* of this process */

Size
rf_job_shmem_size(void)
{
	return add_size(offsetof(RfJobs, jobs), mul_size(max_worker_processes, sizeof(RfJob)));
}

void
rf_job_shmem_init(void)
{
	bool		found;

	jobs = ShmemInitStruct("replace_flow jobs", rf_job_shmem_size(), &found);
	if (!found)
	{
		memset(jobs, 0, rf_job_shmem_size());
		jobs->njobs = max_worker_processes;
	}
}

/* The number of jobs in a state.  The lock is held. */
static int
count(RfJobState state)
{
	int			njobs = 0;

	for (int i = 0; i < jobs->njobs; i++)
	{
		if (jobs->jobs[i].state == state)
			njobs++;
	}
	return njobs;
}

static bool
is_idle(const RfJob *job)
{
	return job->state == RF_JOB_IDLE && !job->to_end;
}

static bool
serves(const RfJob *job, Oid owner)
{
	return job->database == MyDatabaseId && job->order.owner == owner;
}

/* An idle job of this database and a flow's owner, or NULL.  The lock is held. */
static RfJob *
find_idle(Oid owner)
{
	for (int i = 0; i < jobs->njobs; i++)
	{
		RfJob	   *job = &jobs->jobs[i];

		if (is_idle(job) && serves(job, owner))
			return job;
	}
	return NULL;
}

/* The lock is held. */
static RfJob *
find_free(void)
{
	for (int i = 0; i < jobs->njobs; i++)
	{
		if (jobs->jobs[i].state == RF_JOB_FREE)
			return &jobs->jobs[i];
	}
	return NULL;
}

/* Let an idle process of others go, so that there is room.  The lock is held. */
static void
make_room(Oid owner)
{
	for (int i = 0; i < jobs->njobs; i++)
	{
		RfJob	   *job = &jobs->jobs[i];

		if (is_idle(job) && !serves(job, owner))
		{
			job->to_end = true;
			SetLatch(job->latch);
			return;
		}
	}
}

/*
 * A job that can have an order now: an idle one, or a free one; or NULL.  The lock
 * is held.
 */
static RfJob *
find_ready(Oid owner)
{
	int			processes = jobs->njobs - count(RF_JOB_FREE);
	RfJob	   *idle = find_idle(owner);

	if (processes - count(RF_JOB_IDLE) >= rf_max_workers || !rf_database_is_next_for_job())
		return NULL;
	if (idle != NULL)
		return idle;
	if (processes < rf_max_workers)
		return find_free();
	make_room(owner);
	return NULL;
}

/*
 * Give an order to an idle process, or to a new job, for which the caller has
 * to start a process.  Gives the job, or -1 when there is none for this database
 * now.  That it needs one is known from the same moment on: who makes a job idle
 * just after that has to see it.
 */
int
rf_job_claim(const RfJobOrder *order, bool *is_new)
{
	RfJob	   *job;

	rf_shared_lock();
	job = find_ready(order->owner);
	if (job == NULL)
		rf_database_wait_for_job();
	else
	{
		*is_new = job->state == RF_JOB_FREE;
		if (*is_new)
			memset(job, 0, sizeof(RfJob));
		else
			SetLatch(job->latch);
		job->state = RF_JOB_ORDERED;
		job->database = MyDatabaseId;
		job->scheduler = MyLatch;
		job->order = *order;
	}
	rf_shared_unlock();
	return job == NULL ? -1 : (int) (job - jobs->jobs);
}

/*
 * No process could be started for a new job.
 */
void
rf_job_release(int job)
{
	rf_shared_lock();
	jobs->jobs[job].state = RF_JOB_FREE;
	rf_shared_unlock();
}

/*
 * Whether the job's process has not come yet.
 */
bool
rf_job_is_starting(int job)
{
	bool		starting;

	rf_shared_lock();
	starting = jobs->jobs[job].state == RF_JOB_ORDERED && jobs->jobs[job].pid == 0;
	rf_shared_unlock();
	return starting;
}

/*
 * Take the result of a job that is done; false when it is not.
 */
bool
rf_job_take_result(int number, RfJobResult *result)
{
	RfJob	   *job = &jobs->jobs[number];
	bool		done;

	rf_shared_lock();
	done = job->state == RF_JOB_DONE;
	if (done)
	{
		*result = job->result;
		job->state = job->pid == 0 ? RF_JOB_FREE : RF_JOB_IDLE;
	}
	rf_shared_unlock();
	return done;
}

/*
 * Let this database's idle processes go if others wait for a job.
 */
void
rf_job_yield(void)
{
	bool		needed;

	rf_shared_lock();
	needed = rf_database_other_needs_job();
	for (int i = 0; needed && i < jobs->njobs; i++)
	{
		RfJob	   *job = &jobs->jobs[i];

		if (job->state == RF_JOB_IDLE && job->database == MyDatabaseId && !job->to_end)
		{
			job->to_end = true;
			SetLatch(job->latch);
		}
	}
	rf_shared_unlock();
}

static void
job_exit(int code, Datum arg)
{
	(void) code;
	(void) arg;
	rf_shared_lock();
	if (mine->state == RF_JOB_ORDERED)
	{
		memset(&mine->result, 0, sizeof(RfJobResult));
		mine->result.outcome = RF_JOB_DIED;
		mine->state = RF_JOB_DONE;
	}
	if (mine->state != RF_JOB_DONE || mine->scheduler == NULL)
		mine->state = RF_JOB_FREE;
	mine->pid = 0;
	mine->latch = NULL;
	if (mine->scheduler != NULL)
		SetLatch(mine->scheduler);
	rf_database_wake_needing_job();
	rf_shared_unlock();
}

/*
 * This process works for a job, in the database that it gives; in none if the
 * scheduler has gone meanwhile.
 */
Oid
rf_job_enter(int job)
{
	Oid			database = InvalidOid;

	rf_shared_lock();
	if (jobs->jobs[job].state == RF_JOB_ORDERED && jobs->jobs[job].pid == 0)
	{
		mine = &jobs->jobs[job];
		mine->pid = MyProcPid;
		mine->latch = MyLatch;
		database = mine->database;
	}
	rf_shared_unlock();
	if (OidIsValid(database))
		before_shmem_exit(job_exit, 0);
	return database;
}

/*
 * The order that is to be done, if there is one.
 */
bool
rf_job_take_order(RfJobOrder *order)
{
	bool		ordered;

	rf_shared_lock();
	ordered = mine->state == RF_JOB_ORDERED;
	if (ordered)
		*order = mine->order;
	rf_shared_unlock();
	return ordered;
}

/*
 * Whether this process is to go, since nobody needs it or it has waited for
 * long enough.  Then it gets no order any more.
 */
bool
rf_job_is_to_end(bool waited_enough)
{
	bool		to_end;

	rf_shared_lock();
	if (waited_enough && mine->state == RF_JOB_IDLE)
		mine->to_end = true;
	to_end = mine->to_end && mine->state != RF_JOB_ORDERED;
	rf_shared_unlock();
	return to_end;
}

/*
 * The order is done; the process may be going to end.
 */
void
rf_job_finish(const RfJobResult *result, bool to_end)
{
	rf_shared_lock();
	mine->result = *result;
	mine->state = RF_JOB_DONE;
	mine->to_end |= to_end;
	if (mine->scheduler != NULL)
		SetLatch(mine->scheduler);
	rf_shared_unlock();
}

/*
 * Have all processes of a database end at once; give their number.  The lock is
 * held.
 */
int
rf_job_terminate(Oid database)
{
	int			njobs = 0;

	for (int i = 0; i < jobs->njobs; i++)
	{
		RfJob	   *job = &jobs->jobs[i];

		if (job->state == RF_JOB_FREE || job->database != database)
			continue;
		/* one that has not come yet will find no order */
		if (job->pid == 0)
			job->state = RF_JOB_FREE;
		else
		{
			(void) kill(job->pid, SIGTERM);
			njobs++;
		}
	}
	return njobs;
}

/*
 * The scheduler of a database ends.  The lock is held.
 */
void
rf_job_abandon(Oid database)
{
	for (int i = 0; i < jobs->njobs; i++)
	{
		RfJob	   *job = &jobs->jobs[i];

		if (job->state == RF_JOB_FREE || job->database != database)
			continue;
		job->scheduler = NULL;
		job->to_end = true;
		if (job->pid == 0)
			job->state = RF_JOB_FREE;
		else
			SetLatch(job->latch);
	}
}
