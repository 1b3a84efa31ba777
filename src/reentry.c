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
 * Triggers of tables ask here whether it is a run that consumes or writes the table,
 * which is no news and no change by others.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/fmgrprotos.h"
#include "utils/memutils.h"

#include "reentry.h"

/* A flow that this backend is running. */
typedef struct RfRunning
{
	int32		flow_id;
	Oid			stream;			/* or InvalidOid */
	List	   *written;		/* tables that it is writing now */
	int			trigger_depth;	/* of the run itself */
	MemoryContextCallback callback;
} RfRunning;

static List *running = NIL;		/* of RfRunning */

/*
 * How many triggers are around what this backend does.
 */
int
rf_reentry_trigger_depth(void)
{
	return DatumGetInt32(DirectFunctionCall1(pg_trigger_depth, (Datum) 0));
}

static RfRunning *
find(int32 flow_id)
{
	ListCell   *cell;

	foreach(cell, running)
	{
		RfRunning  *entry = lfirst(cell);

		if (entry->flow_id == flow_id)
			return entry;
	}
	return NULL;
}

static void
forget(void *arg)
{
	running = list_delete_ptr(running, arg);
}

/*
 * Raise an error if the flow is running in this backend; else remember it for
 * as long as the context lives.
 */
void
rf_reentry_enter(const RfFlow *flow, MemoryContext context)
{
	RfRunning  *entry;
	MemoryContext caller;

	if (rf_reentry_is_in(flow->id))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_IN_USE),
				 errmsg("flow \"%s\" is running already", flow->name),
				 errdetail("A trigger or function that the run calls has called for another run or for a change."),
				 errhint("Call for it after the run, in a statement of its own.")));
	entry = MemoryContextAllocZero(context, sizeof(RfRunning));
	entry->flow_id = flow->id;
	entry->stream = flow->source;
	entry->callback.func = forget;
	entry->callback.arg = entry;
	caller = MemoryContextSwitchTo(TopMemoryContext);
	running = lappend(running, entry);
	MemoryContextSwitchTo(caller);
	MemoryContextRegisterResetCallback(context, &entry->callback);
}

/*
 * Whether this backend is running or changing the flow.
 */
bool
rf_reentry_is_in(int32 flow_id)
{
	return find(flow_id) != NULL;
}

/*
 * Whether this backend is running a flow that consumes the table.
 */
bool
rf_reentry_consumes(Oid relid)
{
	ListCell   *cell;

	foreach(cell, running)
	{
		if (((RfRunning *) lfirst(cell))->stream == relid)
			return true;
	}
	return false;
}

/*
 * The run of a flow writes these tables itself from now on; until it writes
 * nothing (NIL).
 */
void
rf_reentry_write(int32 flow_id, List *relids)
{
	RfRunning  *entry = find(flow_id);

	if (entry == NULL)
		elog(ERROR, "unexpected write of a flow that does not run");
	entry->written = relids;
	entry->trigger_depth = rf_reentry_trigger_depth();
}

/*
 * The flow whose run is writing the table, if what this trigger sees is that run's
 * own and not what another trigger has done to the table; or else 0.
 */
int32
rf_reentry_writer(Oid relid)
{
	ListCell   *cell;

	foreach(cell, running)
	{
		RfRunning  *entry = lfirst(cell);

		if (list_member_oid(entry->written, relid) &&
			rf_reentry_trigger_depth() == entry->trigger_depth + 1)
			return entry->flow_id;
	}
	return 0;
}
