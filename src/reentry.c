/*-------------------------------------------------------------------------
 *
 * reentry.c
 *	  No run or change of a flow inside a run of the same flow.
 *
 * Two sessions are kept apart by the lock on the flow's row, but that lock does
 * not stop a trigger that the run itself fires.  So this backend remembers the
 * flows that it is running.  Each is forgotten when the memory context of its
 * run goes, whether the run ends or fails, and whatever part of the transaction
 * is rolled back.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "reentry.h"

/* Ids of the flows that this backend is running. */
static List *running = NIL;

static void
forget(void *arg)
{
	running = list_delete_int(running, (int) (intptr_t) arg);
}

/*
 * Raise an error if the flow is running in this backend; else remember it for
 * as long as the context lives.
 */
void
rf_reentry_enter(const RfFlow *flow, MemoryContext context)
{
	MemoryContextCallback *callback = MemoryContextAllocZero(context, sizeof(*callback));
	MemoryContext caller;

	if (list_member_int(running, flow->id))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_IN_USE),
				 errmsg("flow \"%s\" is running already", flow->name),
				 errdetail("A trigger or function that the run calls has called for another run or for a change."),
				 errhint("Call for it after the run, in a statement of its own.")));
	caller = MemoryContextSwitchTo(TopMemoryContext);
	running = lappend_int(running, flow->id);
	MemoryContextSwitchTo(caller);
	callback->func = forget;
	callback->arg = (void *) (intptr_t) flow->id;
	MemoryContextRegisterResetCallback(context, callback);
}

/*
 * Whether this backend is running or changing the flow.
 */
bool
rf_reentry_is_in(int32 flow_id)
{
	return list_member_int(running, flow_id);
}
