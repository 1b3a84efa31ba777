/*-------------------------------------------------------------------------
 *
 * preview.c
 *	  What a run would do.
 *
 * The run's own code does the work and counts; only nothing is written.  So the
 * numbers are those of a run at the same moment.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"

#include "argument.h"
#include "query.h"
#include "row_json.h"
#include "using_run.h"
#include "where_run.h"

PG_FUNCTION_INFO_V1(replace_flow_preview);

/* Columns of the result. */
enum
{
	PREVIEW_KEY,
	PREVIEW_INSERTED,
	PREVIEW_UPDATED,
	PREVIEW_DELETED,
	PREVIEW_UNCHANGED,
	PREVIEW_COLUMNS
};

typedef struct RfPreview
{
	TupleDesc	desc;
	Tuplestorestate *keys;		/* a row of the result for each */
} RfPreview;

static void
put(Tuplestorestate *rows, TupleDesc desc, Datum key, bool no_key, const RfRunCounts *counts)
{
	Datum		values[PREVIEW_COLUMNS];
	bool		nulls[PREVIEW_COLUMNS] = {no_key};

	values[PREVIEW_KEY] = key;
	values[PREVIEW_INSERTED] = Int64GetDatum(counts->rows_inserted);
	values[PREVIEW_UPDATED] = Int64GetDatum(counts->rows_updated);
	values[PREVIEW_DELETED] = Int64GetDatum(counts->rows_deleted);
	values[PREVIEW_UNCHANGED] = Int64GetDatum(counts->rows_unchanged);
	tuplestore_putvalues(rows, desc, values, nulls);
}

static void
take_key(Datum key, const RfRunCounts *counts, void *arg)
{
	RfPreview  *preview = arg;

	put(preview->keys, preview->desc, key, false, counts);
}

/* The totals come first, and are known last. */
static void
put_result(ReturnSetInfo *result, const RfPreview *preview, const RfRunCounts *totals)
{
	TupleTableSlot *slot = MakeSingleTupleTableSlot(preview->desc, &TTSOpsMinimalTuple);

	put(result->setResult, preview->desc, (Datum) 0, true, totals);
	while (tuplestore_gettupleslot(preview->keys, true, false, slot))
		tuplestore_puttupleslot(result->setResult, slot);
	ExecDropSingleTupleTableSlot(slot);
}

static RfFlowKind
kind_of(const char *flow_name)
{
	RfFlow	   *flow;

	rf_query_begin();
	flow = rf_flow_find(flow_name);
	rf_query_end();
	return flow->kind;
}

/*
 * preview(flow, predicate_override): what a run would write, in total and then,
 * for a using flow, for each key that it would touch.
 */
Datum
replace_flow_preview(PG_FUNCTION_ARGS)
{
	char	   *flow_name = rf_argument_text(fcinfo, 0, "flow");
	char	   *override = rf_argument_text_or_null(fcinfo, 1);
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	RfPreview	preview;
	RfRunCounts totals;

	InitMaterializedSRF(fcinfo, 0);
	preview.desc = result->setDesc;
	preview.keys = tuplestore_begin_heap(false, false, work_mem);
	/* an override says that a where flow is meant */
	if (override == NULL && kind_of(flow_name) == RF_USING)
		totals = rf_preview_apply(flow_name, take_key, &preview);
	else
		totals = rf_preview_refresh(flow_name, override);
	put_result(result, &preview, &totals);
	tuplestore_end(preview.keys);
	return (Datum) 0;
}
