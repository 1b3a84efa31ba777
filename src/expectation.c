/*-------------------------------------------------------------------------
 *
 * expectation.c
 *	  Conditions on the rows that a flow's query gives, in a run.
 *
 * The flow's view computes each condition as a column.  Only true passes.  All
 * conditions are judged on every row, so that their counts tell the whole
 * story; a row is dropped by the first one, by name, that drops it.
 *
 * This comes before anything else is done with a row: a dropped row sets no
 * floor and replaces nothing.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "executor/executor.h"
#include "funcapi.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "expectation.h"
#include "flow_catalog.h"
#include "rejected_rows.h"

typedef struct RfCheck
{
	const RfExpectation *expectation;
	int			column;			/* position in the row read */
	int64		passed;
	int64		failed;
} RfCheck;

struct RfChecks
{
	const RfFlow *flow;
	MemoryContext context;
	int			count;
	RfCheck    *checks;
	int64		rejected;
	TupleDesc	row_desc;		/* the query's output, once a row was rejected */
	RfRejected *rows;			/* or NULL */
};

/*
 * Prepare to check the rows that a run reads.
 */
RfChecks *
rf_checks_begin(const RfFlow *flow)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "replace_flow expectations",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext caller = MemoryContextSwitchTo(context);
	RfChecks   *checks = palloc0(sizeof(RfChecks));
	ListCell   *cell;

	checks->flow = flow;
	checks->context = context;
	checks->checks = palloc0(list_length(flow->expectations) * sizeof(RfCheck));
	foreach(cell, flow->expectations)
	{
		RfCheck    *check = &checks->checks[checks->count];

		check->expectation = lfirst(cell);
		check->column = flow->first_expectation + checks->count++;
	}
	MemoryContextSwitchTo(caller);
	return checks;
}

/*
 * The query's output, as a row type that has a name for each value.  The rows
 * of a plan need not carry names: those of an Append do not.
 */
static TupleDesc
describe_output(const RfFlow *flow, TupleDesc input)
{
	TupleDesc	desc = CreateTemplateTupleDesc(flow->noutputs);

	for (int i = 0; i < flow->noutputs; i++)
	{
		TupleDescCopyEntry(desc, i + 1, input, i + 1);
		namestrcpy(&TupleDescAttr(desc, i)->attname, flow->outputs[i]);
	}
	return BlessTupleDesc(desc);
}

static void
keep_rejected(RfChecks *checks, const RfExpectation *expectation, TupleTableSlot *row)
{
	if (checks->rows == NULL)
	{
		MemoryContext caller = MemoryContextSwitchTo(checks->context);

		checks->row_desc = describe_output(checks->flow, row->tts_tupleDescriptor);
		checks->rows = rf_rejected_begin();
		MemoryContextSwitchTo(caller);
	}
	rf_rejected_add(checks->rows, expectation->name, checks->row_desc,
					row->tts_values, row->tts_isnull);
}

/*
 * Judge a row; false when it is dropped.
 */
bool
rf_checks_pass(RfChecks *checks, TupleTableSlot *row)
{
	const RfExpectation *dropped_by = NULL;

	if (checks->count == 0)
		return true;
	slot_getallattrs(row);
	for (int i = 0; i < checks->count; i++)
	{
		RfCheck    *check = &checks->checks[i];

		if (!row->tts_isnull[check->column] &&
			DatumGetBool(row->tts_values[check->column]))
		{
			check->passed++;
			continue;
		}
		check->failed++;
		if (check->expectation->action == RF_ACTION_DROP && dropped_by == NULL)
			dropped_by = check->expectation;
	}
	if (dropped_by == NULL)
		return true;
	checks->rejected++;
	if (checks->flow->keep_rejected)
		keep_rejected(checks, dropped_by, row);
	return false;
}

int64
rf_checks_rejected(const RfChecks *checks)
{
	return checks->rejected;
}

static const char *const mend_stream =
"Mend or remove the rows in the stream, or change the expectation; nothing was consumed.";
static const char *const mend_sources =
"Mend the rows that the query reads, or change the expectation; nothing was changed.";

/*
 * All rows were judged: stop the run if an expectation says so.
 */
void
rf_checks_complete(RfChecks *checks)
{
	for (int i = 0; i < checks->count; i++)
	{
		const RfCheck *check = &checks->checks[i];

		if (check->expectation->action == RF_ACTION_FAIL && check->failed > 0)
			ereport(ERROR,
					(errcode(ERRCODE_CHECK_VIOLATION),
					 errmsg("rows of flow \"%s\" violate expectation \"%s\"",
							checks->flow->name, check->expectation->name),
					 errdetail(INT64_FORMAT " of " INT64_FORMAT " rows violate it.",
							   check->failed, check->failed + check->passed),
					 errhint("%s", checks->flow->kind == RF_USING ? mend_stream : mend_sources)));
	}
}

/*
 * Record the counts and the rejected rows.  The run's record exists.
 */
void
rf_checks_record(RfChecks *checks, int64 run_id)
{
	for (int i = 0; i < checks->count; i++)
	{
		const RfCheck *check = &checks->checks[i];

		rf_catalog_add_expectation_result(run_id, check->expectation->name,
										  check->expectation->action,
										  check->passed, check->failed);
	}
	if (checks->rows != NULL)
		rf_rejected_record(checks->rows, checks->flow, run_id, NULL);
}

void
rf_checks_end(RfChecks *checks)
{
	if (checks->rows != NULL)
		rf_rejected_end(checks->rows);
	MemoryContextDelete(checks->context);
}
