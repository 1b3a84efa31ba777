/*-------------------------------------------------------------------------
 *
 * database_slot.c
 *	  Databases that the worker serves, in shared memory.
 *
 * A database that has the extension, or may have it, has a slot.  Its states:
 *
 *		vacant		it needs a scheduler; the launcher starts one, not before
 *					a time that grows when schedulers end soon
 *		starting	the launcher has asked for one
 *		served		its scheduler is there, and leaves the slot vacant when it
 *					ends, or free if the extension is gone
 *
 * Sessions put news into the slot and wake who is to read it.  A session that
 * is about to drop the database, or to copy it, holds the slot: scheduler and
 * jobs have to go, and stay away until it is done.  Several sessions can copy the
 * same database at the same time.
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
#include "utils/timestamp.h"

#include "compat.h"
#include "database_slot.h"
#include "flow_state.h"
#include "job.h"
#include "shared_state.h"

/* A scheduler that lived longer than this ended for no reason of its own. */
#define LONG_LIFE 60000
/* Time before the first restart of a scheduler, and the longest. */
#define MIN_RESTART 1000
#define MAX_RESTART 60000
/* Time until one is tried again for which the server had no room. */
#define NO_ROOM_RESTART 5000
/* How long to wait for a held database's processes to go: as DROP DATABASE does. */
#define MAX_HOLD_WAITS 50

typedef enum RfSlotState
{
	RF_SLOT_FREE,
	RF_SLOT_VACANT,
	RF_SLOT_STARTING,
	RF_SLOT_SERVED
} RfSlotState;

typedef struct RfDatabaseSlot
{
	RfSlotState state;
	Oid			database;
	/* set by the launcher */
	TimestampTz started_at;
	/* set by the scheduler; zero when it is not there */
	pid_t		pid;
	Latch	   *latch;
	TimestampTz needs_job_since;	/* zero: it does not */
	/* set by who finds the slot vacant, for the launcher */
	int			short_lives;	/* how many in a row */
	TimestampTz not_before;
	/* set by sessions */
	int			holders;		/* how many of them hold it */
	RfNews		news;			/* the scheduler takes it */
} RfDatabaseSlot;

typedef struct RfDatabases
{
	Latch	   *launcher;		/* set by the launcher; NULL: it is not there */
	bool		look_again;		/* set by sessions: databases have come or
								 * changed */
	int			nslots;
	RfDatabaseSlot slots[FLEXIBLE_ARRAY_MEMBER];
} RfDatabases;

static RfDatabases *databases;

/* The slot that this process serves as scheduler, or holds. */
static RfDatabaseSlot *served;
static RfDatabaseSlot *held;

/* This scheduler's database needs none any more. */
static bool leaves_for_good;

Size
rf_database_shmem_size(void)
{
	/* each scheduler is a worker process, so there are no more of them */
	return add_size(offsetof(RfDatabases, slots),
					mul_size(max_worker_processes, sizeof(RfDatabaseSlot)));
}

void
rf_database_shmem_init(void)
{
	bool		found;

	databases = ShmemInitStruct("replace_flow databases", rf_database_shmem_size(), &found);
	if (!found)
	{
		memset(databases, 0, rf_database_shmem_size());
		databases->nslots = max_worker_processes;
	}
}

bool
rf_news_is_empty(const RfNews *news)
{
	return !news->definitions && !news->repair && !news->anything && news->ntables == 0;
}

void
rf_news_add_table(RfNews *news, Oid relid)
{
	for (int i = 0; i < news->ntables; i++)
	{
		if (news->tables[i] == relid)
			return;
	}
	if (news->ntables < RF_NEWS_TABLES)
		news->tables[news->ntables++] = relid;
	else
		news->anything = true;
}

static void
add_news(RfNews *news, const RfNews *more)
{
	news->definitions |= more->definitions;
	news->repair |= more->repair;
	news->anything |= more->anything;
	if (more->since != 0 && (news->since == 0 || more->since < news->since))
		news->since = more->since;
	for (int i = 0; i < more->ntables; i++)
		rf_news_add_table(news, more->tables[i]);
}

/* The lock is held. */
static RfDatabaseSlot *
find(Oid database)
{
	for (int i = 0; i < databases->nslots; i++)
	{
		if (databases->slots[i].state != RF_SLOT_FREE &&
			databases->slots[i].database == database)
			return &databases->slots[i];
	}
	return NULL;
}

/* The slot of a database, or a new one; NULL when there is no room.  The lock is held. */
static RfDatabaseSlot *
find_or_add(Oid database)
{
	RfDatabaseSlot *slot = find(database);

	for (int i = 0; slot == NULL && i < databases->nslots; i++)
	{
		if (databases->slots[i].state == RF_SLOT_FREE)
		{
			slot = &databases->slots[i];
			memset(slot, 0, sizeof(RfDatabaseSlot));
			slot->state = RF_SLOT_VACANT;
			slot->database = database;
		}
	}
	return slot;
}

/* The lock is held. */
static void
wake_launcher(void)
{
	if (databases->launcher != NULL)
		SetLatch(databases->launcher);
}

/*
 * Tell a database's scheduler the news; there will be one if there is none, and
 * the news is such as only a database with flows can have.
 *
 * This is called at commit, where nothing may fail.
 */
void
rf_database_tell(Oid database, const RfNews *news)
{
	bool		has_flows = news->definitions || news->ntables > 0;
	RfDatabaseSlot *slot;

	rf_shared_lock();
	slot = has_flows ? find_or_add(database) : find(database);
	if (slot != NULL)
		add_news(&slot->news, news);
	else if (has_flows)
		databases->look_again = true;
	if (slot != NULL && slot->state == RF_SLOT_SERVED)
		SetLatch(slot->latch);
	else if (has_flows)
		wake_launcher();
	rf_shared_unlock();
}

/*
 * Databases have come, or may be connected to now: let the launcher look.
 */
void
rf_launcher_tell(void)
{
	rf_shared_lock();
	databases->look_again = true;
	wake_launcher();
	rf_shared_unlock();
}

/* Ask the held database's processes to go; true when they are gone. */
static bool
clear_held(void)
{
	bool		clear;

	rf_shared_lock();
	if (held->state == RF_SLOT_SERVED)
		(void) kill(held->pid, SIGTERM);
	clear = rf_job_terminate(held->database) == 0 && held->state == RF_SLOT_VACANT;
	rf_shared_unlock();
	return clear;
}

/*
 * Send the worker's processes out of a database, and keep them out until
 * rf_database_unhold().  Does not insist: the server says who is in the way.
 */
void
rf_database_hold(Oid database)
{
	/* another one, if an error was caught in a transaction that goes on */
	rf_database_unhold();
	rf_shared_lock();
	held = find_or_add(database);
	if (held != NULL)
		held->holders++;
	rf_shared_unlock();
	for (int i = 0; held != NULL && !clear_held() && i < MAX_HOLD_WAITS; i++)
	{
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, 100,
						 rf_wait_event("ReplaceFlowHold"));
		ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
	}
}

/*
 * Let them in again, if this session holds a database.
 */
void
rf_database_unhold(void)
{
	if (held == NULL)
		return;
	rf_shared_lock();
	held->holders--;
	wake_launcher();
	held = NULL;
	rf_shared_unlock();
}

static void
launcher_exit(int code, Datum arg)
{
	(void) code;
	(void) arg;
	rf_shared_lock();
	databases->launcher = NULL;
	rf_shared_unlock();
}

/*
 * This process is the launcher.  Another one may have ended in the middle of
 * something.
 */
void
rf_launcher_enter(void)
{
	before_shmem_exit(launcher_exit, 0);
	rf_shared_lock();
	databases->launcher = MyLatch;
	databases->look_again = true;
	for (int i = 0; i < databases->nslots; i++)
	{
		if (databases->slots[i].state == RF_SLOT_STARTING)
			databases->slots[i].state = RF_SLOT_VACANT;
	}
	rf_shared_unlock();
}

/*
 * Whether the launcher is to look which databases there are.
 */
bool
rf_launcher_has_news(void)
{
	bool		look_again;

	rf_shared_lock();
	look_again = databases->look_again;
	databases->look_again = false;
	rf_shared_unlock();
	return look_again;
}

/*
 * A database is to have a scheduler; false when there is no room now.
 */
bool
rf_database_want(Oid database)
{
	bool		found;

	rf_shared_lock();
	found = find_or_add(database) != NULL;
	rf_shared_unlock();
	return found;
}

/*
 * A slot that is due to get a scheduler, or -1 and the time when the next one
 * will be, if any.
 */
int
rf_database_due(TimestampTz *next)
{
	TimestampTz now = GetCurrentTimestamp();
	int			due = -1;

	*next = DT_NOEND;
	rf_shared_lock();
	for (int i = 0; due < 0 && i < databases->nslots; i++)
	{
		const RfDatabaseSlot *slot = &databases->slots[i];

		if (slot->state != RF_SLOT_VACANT || slot->holders > 0)
			continue;
		if (slot->not_before <= now)
			due = i;
		else
			*next = Min(*next, slot->not_before);
	}
	rf_shared_unlock();
	return due;
}

/*
 * The database of a vacant slot, for the launcher: nobody else frees one, so it
 * may look at it without the lock.
 */
Oid
rf_database_of(int slot)
{
	return databases->slots[slot].database;
}

/*
 * The database is gone, or nobody can connect to it.
 */
void
rf_database_forget(int slot)
{
	rf_shared_lock();
	if (databases->slots[slot].holders == 0)
		databases->slots[slot].state = RF_SLOT_FREE;
	rf_shared_unlock();
}

/*
 * The launcher is about to ask for a scheduler.
 */
void
rf_database_begin_start(int slot)
{
	rf_shared_lock();
	databases->slots[slot].state = RF_SLOT_STARTING;
	databases->slots[slot].started_at = GetCurrentTimestamp();
	rf_shared_unlock();
}

/* One that was sent away comes back at once.  The lock is held. */
static void
leave_vacant(RfDatabaseSlot *slot)
{
	TimestampTz now = GetCurrentTimestamp();
	int			delay = MIN_RESTART;

	slot->state = RF_SLOT_VACANT;
	if (slot->holders > 0)
		return;
	if (TimestampDifferenceExceeds(slot->started_at, now, LONG_LIFE))
		slot->short_lives = 0;
	for (int i = 0; i < slot->short_lives && delay < MAX_RESTART; i++)
		delay *= 2;
	slot->short_lives++;
	slot->not_before = TimestampTzPlusMilliseconds(now, Min(delay, MAX_RESTART));
}

/*
 * No scheduler was started, or it ended; if it got as far as its slot, it has
 * left it itself.
 */
void
rf_database_not_started(int slot)
{
	rf_shared_lock();
	if (databases->slots[slot].state == RF_SLOT_STARTING)
		leave_vacant(&databases->slots[slot]);
	rf_shared_unlock();
}

/*
 * The server had no room for the scheduler.  It is no fault of the database, so
 * the time until the next try does not grow.
 */
void
rf_database_no_room(int slot)
{
	rf_shared_lock();
	databases->slots[slot].state = RF_SLOT_VACANT;
	databases->slots[slot].not_before =
		TimestampTzPlusMilliseconds(GetCurrentTimestamp(), NO_ROOM_RESTART);
	rf_shared_unlock();
}

static void
scheduler_exit(int code, Datum arg)
{
	(void) code;
	(void) arg;
	rf_flow_state_forget_database(served->database);
	rf_shared_lock();
	rf_job_abandon(served->database);
	served->pid = 0;
	served->latch = NULL;
	served->needs_job_since = 0;
	if (leaves_for_good && served->holders == 0 && rf_news_is_empty(&served->news))
		served->state = RF_SLOT_FREE;
	else
		leave_vacant(served);
	rf_database_wake_needing_job();
	wake_launcher();
	rf_shared_unlock();
}

/*
 * This process is the scheduler of the slot's database, or of none if the slot
 * was taken from it before it came.
 */
Oid
rf_database_enter(int slot)
{
	RfDatabaseSlot *mine = &databases->slots[slot];
	Oid			database = InvalidOid;

	rf_shared_lock();
	if (mine->state == RF_SLOT_STARTING && mine->holders == 0)
	{
		served = mine;
		served->state = RF_SLOT_SERVED;
		served->pid = MyProcPid;
		served->latch = MyLatch;
		/* it looks at everything anyway */
		memset(&served->news, 0, sizeof(RfNews));
		database = served->database;
	}
	rf_shared_unlock();
	if (OidIsValid(database))
		before_shmem_exit(scheduler_exit, 0);
	return database;
}

/*
 * The database needs no scheduler any more; this one is about to end.
 */
void
rf_database_leave(void)
{
	leaves_for_good = true;
}

/*
 * Take what sessions have told this scheduler.
 */
void
rf_database_take_news(RfNews *news)
{
	rf_shared_lock();
	*news = served->news;
	memset(&served->news, 0, sizeof(RfNews));
	rf_shared_unlock();
}

/* A database waits no more; perhaps others did because of it.  The lock is held. */
static void
stop_waiting(RfDatabaseSlot *slot)
{
	if (slot->needs_job_since == 0)
		return;
	slot->needs_job_since = 0;
	rf_database_wake_needing_job();
}

/*
 * This scheduler waits for a job to become free, if it does not already.  The
 * lock is held.
 */
void
rf_database_wait_for_job(void)
{
	if (served->needs_job_since == 0)
		served->needs_job_since = GetCurrentTimestamp();
}

/*
 * This scheduler needs no job that others have, or has got one.
 */
void
rf_database_needs_no_job(void)
{
	rf_shared_lock();
	stop_waiting(served);
	rf_shared_unlock();
}

/*
 * Whether no other scheduler has waited for a job for longer.  The lock is held.
 */
bool
rf_database_is_next_for_job(void)
{
	for (int i = 0; i < databases->nslots; i++)
	{
		const RfDatabaseSlot *other = &databases->slots[i];

		if (other != served && other->needs_job_since != 0 &&
			(served->needs_job_since == 0 || other->needs_job_since < served->needs_job_since))
			return false;
	}
	return true;
}

/*
 * Whether another scheduler waits for a job.  The lock is held.
 */
bool
rf_database_other_needs_job(void)
{
	for (int i = 0; i < databases->nslots; i++)
	{
		const RfDatabaseSlot *other = &databases->slots[i];

		if (other != served && other->needs_job_since != 0)
			return true;
	}
	return false;
}

/*
 * A job is free: wake the schedulers that wait for one.  The lock is held.
 */
void
rf_database_wake_needing_job(void)
{
	for (int i = 0; i < databases->nslots; i++)
	{
		const RfDatabaseSlot *slot = &databases->slots[i];

		if (slot->needs_job_since != 0)
			SetLatch(slot->latch);
	}
}
