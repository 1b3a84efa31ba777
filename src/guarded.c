/*-------------------------------------------------------------------------
 *
 * guarded.c
 *	  A step in a transaction of its own, whose error is caught.
 *
 * The worker has no caller who would be told of an error, and has to go on when
 * a flow fails.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/timeout.h"

#include "guarded.h"

/* The step runs as a statement would: with a snapshot, and within memory that goes. */
static void
run_in_transaction(RfStep step, void *arg)
{
	SetCurrentStatementStartTimestamp();
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
		HOLD_INTERRUPTS();
		/* what was to be cancelled has ended */
		disable_all_timeouts(false);
		QueryCancelPending = false;
		MemoryContextSwitchTo(caller);
		error = CopyErrorData();
		AbortOutOfAnyTransaction();
		FlushErrorState();
		RESUME_INTERRUPTS();
	}
	PG_END_TRY();
	MemoryContextSwitchTo(caller);
	return error;
}

/*
 * Put the error of a step into the server's log.
 */
void
rf_guarded_log(ErrorData *error)
{
	MemoryContext caller = CurrentMemoryContext;

	PG_TRY();
	{
		ThrowErrorData(error);
	}
	PG_CATCH();
	{
		EmitErrorReport();
		FlushErrorState();
	}
	PG_END_TRY();
	MemoryContextSwitchTo(caller);
}
