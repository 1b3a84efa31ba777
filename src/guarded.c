/*-------------------------------------------------------------------------
 *
 * guarded.c
 *	  A step in a transaction of its own, whose error is caught.
 *
 * The only place that catches errors.  A worker has to go on when a flow fails,
 * and the error is then told by who called: nothing is logged here.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "guarded.h"

/* The step runs as a statement would: with a snapshot, and within memory that goes. */
static void
run_in_transaction(RfStep step, void *arg)
{
	StartTransactionCommand();
	PushActiveSnapshot(GetTransactionSnapshot());
	step(arg);
	PopActiveSnapshot();
	CommitTransactionCommand();
}

/*
 * Run a step in a transaction of its own; the caller is in none.  If it fails, or
 * its transaction cannot commit, nothing of it stays, and the error is given in
 * the caller's memory context; else NULL.
 */
ErrorData *
rf_guarded(RfStep step, void *arg)
{
	MemoryContext caller = CurrentMemoryContext;
	ErrorData  *volatile error = NULL;

	PG_TRY();
	{
		run_in_transaction(step, arg);
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(caller);
		error = CopyErrorData();
		FlushErrorState();
		AbortCurrentTransaction();
	}
	PG_END_TRY();
	MemoryContextSwitchTo(caller);
	return error;
}
