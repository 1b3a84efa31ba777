/*-------------------------------------------------------------------------
 *
 * shared_state.c
 *	  Shared memory, as a table of contents.
 *
 * It exists only where the library was preloaded; without it there is no
 * worker, and what would wake it does nothing.
 *
 * One lock guards what the worker's processes tell each other.  It is held for
 * moments: nothing that can fail or wait is done under it.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/ipc.h"
#include "storage/lwlock.h"
#include "storage/shmem.h"

#include "database_slot.h"
#include "flow_state.h"
#include "job.h"
#include "run_progress.h"
#include "shared_state.h"

#define TRANCHE "replace_flow"

static LWLock *lock = NULL;
static shmem_request_hook_type next_request_hook;
static shmem_startup_hook_type next_startup_hook;

static void
request(void)
{
	if (next_request_hook != NULL)
		next_request_hook();
	RequestNamedLWLockTranche(TRANCHE, 1);
	RequestAddinShmemSpace(rf_database_shmem_size());
	RequestAddinShmemSpace(rf_job_shmem_size());
	RequestAddinShmemSpace(rf_progress_shmem_size());
	RequestAddinShmemSpace(rf_flow_state_shmem_size());
	RequestNamedLWLockTranche(RF_FLOW_STATE_TRANCHE, 1);
}

static void
startup(void)
{
	if (next_startup_hook != NULL)
		next_startup_hook();
	LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
	rf_database_shmem_init();
	rf_job_shmem_init();
	rf_progress_shmem_init();
	rf_flow_state_shmem_init();
	lock = &GetNamedLWLockTranche(TRANCHE)->lock;
	LWLockRelease(AddinShmemInitLock);
}

/*
 * Ask for shared memory, while the server starts.
 */
void
rf_shared_state_init(void)
{
	next_request_hook = shmem_request_hook;
	shmem_request_hook = request;
	next_startup_hook = shmem_startup_hook;
	shmem_startup_hook = startup;
}

bool
rf_shared_state_exists(void)
{
	return lock != NULL;
}

void
rf_shared_lock(void)
{
	LWLockAcquire(lock, LW_EXCLUSIVE);
}

void
rf_shared_unlock(void)
{
	LWLockRelease(lock);
}
