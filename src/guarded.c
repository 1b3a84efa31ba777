/*-------------------------------------------------------------------------
 *
 * guarded.c
 *	  A step in a transaction of its own, whose error is caught.
 *
 * The worker has no caller who would be told of an error, and has to go on when
 * a flow fails.
 *
 * Its processes run code of flows' owners, in sessions of who installed the
 * server.  So nothing may stay in the session that a step has left there, and nothing of
 * a step may act when it is over, as who the process is:
 *
 *	- all of it is a security-restricted operation, whoever owns the flow;
 *	- deferred constraints and triggers act at the end of their statement, since
 *	  such an operation has no later time for them;
 *	- what the server lets such an operation leave all the same is removed: types
 *	  and functions in pg_temp, where other code could take them for its own, and
 *	  advisory locks of the session.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/namespace.h"
#include "commands/trigger.h"
#include "miscadmin.h"
#include "storage/lock.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/timeout.h"

#include "guarded.h"

/* Have deferred constraints and triggers of this transaction act at once. */
static void
defer_nothing(void)
{
	ConstraintsSetStmt *all_immediate = makeNode(ConstraintsSetStmt);

	AfterTriggerSetState(all_immediate);
}

static void
run_restricted(RfStep step, void *arg)
{
	Oid			user;
	int			context;

	GetUserIdAndSecContext(&user, &context);
	SetUserIdAndSecContext(user, context | SECURITY_RESTRICTED_OPERATION);
	defer_nothing();
	step(arg);
	ResetTempTableNamespace();
	SetUserIdAndSecContext(user, context);
}

/* The step runs as a statement would: with a snapshot, and within memory that goes. */
static void
run_in_transaction(RfStep step, void *arg)
{
	SetCurrentStatementStartTimestamp();
	StartTransactionCommand();
	PushActiveSnapshot(GetTransactionSnapshot());
	run_restricted(step, arg);
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
	LockReleaseAll(USER_LOCKMETHOD, true);
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
