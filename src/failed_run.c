/*-------------------------------------------------------------------------
 *
 * failed_run.c
 *	  Runs of the worker that failed, recorded in another transaction.
 *
 * The transaction of a run that fails leaves nothing, and the worker has no caller
 * who would get its error.  So the failure has a transaction of its own, and what
 * the log tells of it names the run.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "failed_run.h"
#include "flow.h"
#include "flow_catalog.h"
#include "guarded.h"
#include "query.h"
#include "run_record.h"

/* A failure, and the flow that had it. */
typedef struct RfFailure
{
	int32		flow_id;
	ErrorData  *error;
	MemoryContext context;		/* of the error */
	bool		is_gone;		/* the flow was dropped meanwhile */
} RfFailure;

/* Most errors say themselves which run they are of, but not those of a lock or of the commit. */
static void
add_context(const RfFailure *failure, int64 run_id, const char *flow_name)
{
	ErrorData  *error = failure->error;
	MemoryContext caller = MemoryContextSwitchTo(failure->context);
	char	   *context = psprintf("run " INT64_FORMAT " of flow \"%s\"", run_id, flow_name);

	if (error->context == NULL)
		error->context = context;
	else if (strstr(error->context, context) == NULL)
		error->context = psprintf("%s\n%s", error->context, context);
	MemoryContextSwitchTo(caller);
}

static void
record(void *arg)
{
	RfFailure  *failure = arg;
	RfRow		flow;

	rf_query_begin();
	failure->is_gone = !rf_catalog_flow_by_id(failure->flow_id, &flow);
	if (!failure->is_gone)
	{
		const char *name = rf_row_text(&flow, "name");

		add_context(failure, rf_run_record_failure(rf_flow_find(name), failure->error), name);
	}
	rf_query_end();
}

/*
 * Record that the run of a flow failed which this process began last; the error
 * gets to know the run.  That it cannot be recorded may have the same reason.
 * False when the flow is gone: nobody wants to know.
 */
bool
rf_failed_run_record(int32 flow_id, ErrorData *error)
{
	RfFailure	failure = {flow_id, error, CurrentMemoryContext, false};
	ErrorData  *obstacle = rf_guarded(record, &failure);

	if (obstacle != NULL && obstacle->sqlerrcode != error->sqlerrcode)
		rf_guarded_log(obstacle);
	return !failure.is_gone;
}

/*
 * Record the run of another process, which ended in the middle of it.
 */
void
rf_failed_run_record_death(int32 flow_id)
{
	ErrorData	error = {
		.sqlerrcode = ERRCODE_ADMIN_SHUTDOWN,
		.message = "the process that ran the flow was terminated"
	};

	(void) rf_failed_run_record(flow_id, &error);
}
