/*-------------------------------------------------------------------------
 *
 * flow_state.c
 *	  What the worker knows of flows that wait for it.
 *
 * The scheduler of a database writes since when rows of a flow wait and when it
 * will try a failed run again; view replace_flow.flows shows it.  Flows for which
 * there is nothing to say have no entry.  The table has a fixed size: flows for
 * which there is no room are run all the same, and the view shows NULLs.
 *
 * If the library was not preloaded there is no table, and no worker.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "storage/lwlock.h"
#include "storage/shmem.h"
#include "utils/hsearch.h"
#include "utils/timestamp.h"

#include "flow.h"
#include "flow_state.h"

PG_FUNCTION_INFO_V1(replace_flow_worker_flow_state);

#define MAX_ENTRIES 4096

typedef struct RfFlowKey
{
	Oid			database;
	int32		flow_id;
} RfFlowKey;

/* Written by the scheduler of the database, read by all, both under the lock. */
typedef struct RfFlowState
{
	RfFlowKey	key;
	TimestampTz waiting_since;	/* 0: nothing waits */
	TimestampTz next_retry_at;	/* 0: there is nothing to try again */
} RfFlowState;

/* In shared memory; NULL if the library was not preloaded. */
static HTAB *states = NULL;
static LWLock *lock = NULL;

Size
rf_flow_state_shmem_size(void)
{
	return hash_estimate_size(MAX_ENTRIES, sizeof(RfFlowState));
}

/*
 * Find the table, or make it.  The caller holds AddinShmemInitLock.
 */
void
rf_flow_state_shmem_init(void)
{
	HASHCTL		control = {.keysize = sizeof(RfFlowKey), .entrysize = sizeof(RfFlowState)};

	states = ShmemInitHash("replace_flow flow state", MAX_ENTRIES, MAX_ENTRIES, &control,
						   HASH_ELEM | HASH_BLOBS | HASH_FIXED_SIZE);
	lock = &GetNamedLWLockTranche(RF_FLOW_STATE_TRANCHE)->lock;
}

/*
 * Say of a flow of this database since when rows wait, and when it will be tried
 * again; 0 for neither.
 */
void
rf_flow_state_set(int32 flow_id, TimestampTz waiting_since, TimestampTz next_retry_at)
{
	RfFlowKey	key = {MyDatabaseId, flow_id};
	bool		empty = waiting_since == 0 && next_retry_at == 0;
	RfFlowState *state;

	LWLockAcquire(lock, LW_EXCLUSIVE);
	state = hash_search(states, &key, empty ? HASH_REMOVE : HASH_ENTER_NULL, NULL);
	if (state != NULL && !empty)
	{
		state->waiting_since = waiting_since;
		state->next_retry_at = next_retry_at;
	}
	LWLockRelease(lock);
}

/*
 * A database has no scheduler any more.
 */
void
rf_flow_state_forget_database(Oid database)
{
	HASH_SEQ_STATUS scan;
	RfFlowState *state;

	LWLockAcquire(lock, LW_EXCLUSIVE);
	hash_seq_init(&scan, states);
	while ((state = hash_seq_search(&scan)) != NULL)
	{
		if (state->key.database == database)
			(void) hash_search(states, &state->key, HASH_REMOVE, NULL);
	}
	LWLockRelease(lock);
}

/* The states of this database's flows, copied. */
static RfFlowState *
copy_states(int *count)
{
	HASH_SEQ_STATUS scan;
	RfFlowState *state;
	RfFlowState *copies;

	*count = 0;
	if (states == NULL)
		return NULL;
	LWLockAcquire(lock, LW_SHARED);
	copies = palloc(hash_get_num_entries(states) * sizeof(RfFlowState));
	hash_seq_init(&scan, states);
	while ((state = hash_seq_search(&scan)) != NULL)
	{
		if (state->key.database == MyDatabaseId)
			copies[(*count)++] = *state;
	}
	LWLockRelease(lock);
	return copies;
}

static void
put_state(ReturnSetInfo *result, const RfFlowState *state)
{
	Datum		values[] = {
		Int32GetDatum(state->key.flow_id),
		TimestampTzGetDatum(state->waiting_since),
		TimestampTzGetDatum(state->next_retry_at)
	};
	bool		nulls[] = {false, state->waiting_since == 0, state->next_retry_at == 0};

	tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
}

/*
 * worker_flow_state(): what the worker of this database says of flows that the
 * caller may see.
 */
Datum
replace_flow_worker_flow_state(PG_FUNCTION_ARGS)
{
	int			count;
	RfFlowState *copies = copy_states(&count);

	InitMaterializedSRF(fcinfo, 0);
	for (int i = 0; i < count; i++)
	{
		if (rf_flow_is_visible(copies[i].key.flow_id, InvalidOid))
			put_state((ReturnSetInfo *) fcinfo->resultinfo, &copies[i]);
	}
	return (Datum) 0;
}
