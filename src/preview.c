/*-------------------------------------------------------------------------
 *
 * preview.c
 *	  What a run would do.
 *
 * The run's own code does the work and counts; only nothing is written.  So the
 * numbers are those of a run at the same moment.
 *
 * A run of a using flow goes from key to key, and tells here where one begins
 * and ends, with what it has counted by then; the difference is the key's.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "argument.h"
#include "preview.h"
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

/* The keys that the run of a using flow would touch. */
struct RfKeyPreview
{
	TupleDesc	desc;			/* of the result */
	Tuplestorestate *rows;		/* a row of the result for each key */
	const RfFlow *flow;
	TupleDesc	key_desc;
	MemoryContext key_context;	/* for one key */
	bool		open;
	Datum		key;			/* the open one, as jsonb */
	RfRunCounts before;			/* what was counted when it was opened */
};

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

/*
 * Begin to look at what becomes of the keys of an open flow.
 */
void
rf_preview_begin_keys(RfKeyPreview *preview, const RfFlow *flow)
{
	preview->flow = flow;
	preview->key_desc = CreateTemplateTupleDesc(flow->nkeys);
	for (int i = 0; i < flow->nkeys; i++)
		TupleDescCopyEntry(preview->key_desc, i + 1, flow->columns, flow->keys[i] + 1);
	BlessTupleDesc(preview->key_desc);
	preview->key_context = AllocSetContextCreate(CurrentMemoryContext, "replace_flow key",
												 ALLOCSET_DEFAULT_SIZES);
}

/*
 * The run comes to a key, of which this is a row.
 */
void
rf_preview_open_key(RfKeyPreview *preview, const Datum *values, const bool *nulls,
					const RfRunCounts *counts)
{
	const RfFlow *flow = preview->flow;
	Datum	   *key_values = palloc(flow->nkeys * sizeof(Datum));
	bool	   *key_nulls = palloc(flow->nkeys * sizeof(bool));
	MemoryContext caller;

	for (int i = 0; i < flow->nkeys; i++)
	{
		key_values[i] = values[flow->keys[i]];
		key_nulls[i] = nulls[flow->keys[i]];
	}
	MemoryContextReset(preview->key_context);
	caller = MemoryContextSwitchTo(preview->key_context);
	preview->key = rf_row_to_jsonb(preview->key_desc, key_values, key_nulls);
	MemoryContextSwitchTo(caller);
	preview->before = *counts;
	preview->open = true;
}

/*
 * The run is done with the open key, if there is one.
 */
void
rf_preview_close_key(RfKeyPreview *preview, const RfRunCounts *counts)
{
	const RfRunCounts *before = &preview->before;
	RfRunCounts change = {0};

	if (!preview->open)
		return;
	change.rows_inserted = counts->rows_inserted - before->rows_inserted;
	change.rows_updated = counts->rows_updated - before->rows_updated;
	change.rows_deleted = counts->rows_deleted - before->rows_deleted;
	change.rows_unchanged = counts->rows_unchanged - before->rows_unchanged;
	if (change.rows_inserted + change.rows_updated + change.rows_deleted > 0)
		put(preview->rows, preview->desc, preview->key, false, &change);
	preview->open = false;
}

/* The totals come first, and are known last. */
static void
put_result(ReturnSetInfo *result, const RfKeyPreview *keys, const RfRunCounts *totals)
{
	TupleTableSlot *slot = MakeSingleTupleTableSlot(keys->desc, &TTSOpsMinimalTuple);

	put(result->setResult, keys->desc, (Datum) 0, true, totals);
	while (tuplestore_gettupleslot(keys->rows, true, false, slot))
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
	RfKeyPreview keys = {0};
	RfRunCounts totals;

	InitMaterializedSRF(fcinfo, 0);
	keys.desc = result->setDesc;
	keys.rows = tuplestore_begin_heap(false, false, work_mem);
	/* an override says that a where flow is meant */
	if (override == NULL && kind_of(flow_name) == RF_USING)
		totals = rf_preview_apply(flow_name, &keys);
	else
		totals = rf_preview_refresh(flow_name, override);
	put_result(result, &keys, &totals);
	tuplestore_end(keys.rows);
	return (Datum) 0;
}
