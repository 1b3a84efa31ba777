/*-------------------------------------------------------------------------
 *
 * quarantine.c
 *	  Keys of a using flow that fail are found and set aside.
 *
 * All keys are applied; when that fails, each half of them is, and so on, until
 * what fails is a single key.  Its rows are moved from the stream to
 * replace_flow.rejected, with the error.  So one bad key of a million costs some
 * twenty runs that fail, of which most are short, and all other keys are applied.
 *
 * Each run has a transaction of its own.  What is applied, and what is set aside,
 * leaves a record; ranges that fail on the way do not, since what comes of them
 * has one.  Whatever ends this early, what is done is done, and the rest is in
 * the stream.
 *
 * A half is one of the hashes that the stream has, from the lowest to the
 * highest, so that no range without rows is tried, and each half has fewer keys.
 * A key is set aside only when it has failed alone, and not when rows that came or
 * went meanwhile have made it the last one.
 *
 * Only errors that come of what the rows hold count.  Any other, such as a lock
 * that was not free, a missing table or a full disk, is no fault of a key: it
 * ends the procedure.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"

#include "flow_run.h"
#include "guarded.h"
#include "key_range.h"
#include "quarantine.h"
#include "query.h"
#include "role.h"
#include "using_run.h"

/* What is tried in a transaction: a range, and what is to become of it. */
typedef struct RfTrial
{
	const char *flow_name;
	RfKeyRange	range;
	const ErrorData *cause;		/* set the rows aside, with this error */
	bool		found;			/* the stream has rows in the range */
} RfTrial;

/* Classes of SQLSTATE that tell of values, and of rules on values. */
static const int classes_of_data[] = {
	ERRCODE_CARDINALITY_VIOLATION,
	ERRCODE_DATA_EXCEPTION,
	ERRCODE_INTEGRITY_CONSTRAINT_VIOLATION,
	ERRCODE_TRIGGERED_DATA_CHANGE_VIOLATION,
	ERRCODE_WITH_CHECK_OPTION_VIOLATION,
	ERRCODE_PROGRAM_LIMIT_EXCEEDED,
	ERRCODE_PLPGSQL_ERROR
};

static bool
is_of_data(const ErrorData *error)
{
	for (size_t i = 0; i < lengthof(classes_of_data); i++)
	{
		if (ERRCODE_TO_CATEGORY(error->sqlerrcode) == ERRCODE_TO_CATEGORY(classes_of_data[i]))
			return true;
	}
	return false;
}

static void
run(void *arg)
{
	const RfTrial *trial = arg;
	RfApplyOptions options = {.wait = true, .range = &trial->range, .quarantine = trial->cause};

	(void) rf_apply(trial->flow_name, &options);
}

/* Make the range as narrow as the hashes are that the stream has in it. */
static void
narrow(void *arg)
{
	RfTrial    *trial = arg;
	RfFlow	   *flow;
	RfRoleGuard guard;

	rf_query_begin();
	flow = rf_run_lock(trial->flow_name, RF_USING);
	if (flow != NULL)
	{
		rf_flow_open(flow);
		rf_flow_assume(&guard, flow);
		trial->found = rf_key_cut_narrow(rf_key_cut_require(flow), &trial->range);
		rf_role_restore(&guard);
	}
	rf_query_end();
}

static ErrorData *settle(const char *flow_name, RfKeyRange range);

/* Settle both halves of a range. */
static ErrorData *
settle_halves(const char *flow_name, RfKeyRange range)
{
	/* the width of a range need not fit into a signed number */
	uint64		width = (uint64) range.last - (uint64) range.first;
	int64		middle = (int64) ((uint64) range.first + width / 2);
	RfKeyRange	lower = {range.first, middle};
	RfKeyRange	upper = {middle + 1, range.last};
	ErrorData  *error = settle(flow_name, lower);

	return error != NULL ? error : settle(flow_name, upper);
}

/* A range has failed: find out which keys of it do, and set them aside. */
static ErrorData *
settle_failed(const char *flow_name, RfKeyRange range, const ErrorData *cause)
{
	RfTrial		trial = {.flow_name = flow_name, .range = range};
	ErrorData  *error;

	if (range.first == range.last)
	{
		trial.cause = cause;
		return rf_guarded(run, &trial);
	}
	error = rf_guarded(narrow, &trial);
	if (error != NULL || !trial.found)
		return error;
	if (trial.range.first == trial.range.last)
		return settle(flow_name, trial.range);
	return settle_halves(flow_name, trial.range);
}

/* Apply the keys of a range, or set them aside; give the error that hinders it. */
static ErrorData *
settle(const char *flow_name, RfKeyRange range)
{
	RfTrial		trial = {.flow_name = flow_name, .range = range};
	ErrorData  *cause;
	ErrorData  *error;

	check_stack_depth();
	cause = rf_guarded(run, &trial);
	if (cause == NULL || !is_of_data(cause))
		return cause;
	error = settle_failed(flow_name, range, cause);
	FreeErrorData(cause);
	return error;
}

/*
 * Apply a using flow, and set aside the keys that fail.  The caller is in no
 * transaction, and may run the flow.  Gives NULL when all that was in the stream
 * is settled, or the flow is paused, and else the error that ended it.
 */
ErrorData *
rf_quarantine(const char *flow_name)
{
	RfKeyRange	all = {PG_INT64_MIN, PG_INT64_MAX};

	return settle(flow_name, all);
}
