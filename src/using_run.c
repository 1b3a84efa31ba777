/*-------------------------------------------------------------------------
 *
 * using_run.c
 *	  One run of a using flow.
 *
 * The story of a run, once all is locked and open (flow_run.c):
 *
 *	1. Consume: the stream's rows that the snapshot sees are deleted.  The
 *	   snapshot goes on to see them.
 *	2. Read: the query gives rows; expectations drop some; the rest is
 *	   converted to the target's types and sorted by key and sequence.
 *	3. Meet: the batch's distinct keys are numbered; the target's rows that
 *	   have these keys, and the keys' floors, are found.
 *	4. Judge: batch, old rows and floors are read side by side, key by key.
 *	   A key's set is late, ties with the floor, or replaces the old rows.
 *	5. Write: deletes, updates, inserts, then the ledger.
 *
 * A preview leaves out the first step and the last.
 *
 * With a range of keys the first two steps are about the stream's rows that are
 * in it, and no others.  A run that sets rows aside consumes them and keeps them
 * as they are; no other step is taken.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "batch.h"
#include "compat.h"
#include "conversion.h"
#include "expectation.h"
#include "failpoint.h"
#include "floor.h"
#include "flow_run.h"
#include "key_set.h"
#include "preview.h"
#include "run_progress.h"
#include "query.h"
#include "rejected_rows.h"
#include "row_diff.h"
#include "run_record.h"
#include "sql_text.h"
#include "stream.h"
#include "target_shape.h"
#include "target_write.h"
#include "using_run.h"

/* What becomes of a key's set. */
typedef enum RfVerdict
{
	RF_SET_LATE,				/* below the floor */
	RF_SET_TIE_IGNORED,
	RF_SET_APPENDED,
	RF_SET_REPLACES
} RfVerdict;

/* The pieces that a run works with. */
typedef struct RfApply
{
	const RfFlow *flow;
	RfRun	   *run;
	const RfApplyOptions *options;
	RfKeyPreview *preview;		/* NULL: a run */
	RfKeyCut   *cut;			/* NULL: all keys */
	char	   *condition;		/* of a row of the stream, or NULL */
	RfTargetShape shape;
	RfDiffRules rules;
	RfBatch    *batch;
	RfChecks   *checks;
	RfConversion *conversion;
	RfKeySet   *keys;
	RfFloors   *floors;
	RfRowDiff  *diff;
	RfTargetWriter *writer;
	MemoryContext row_context;	/* for one row */
	Datum	   *values;			/* one row, converted */
	bool	   *nulls;
	bool		stored;			/* the target stores the sequence */
} RfApply;

/*
 * The key of a row, for people: (a, b)=(1, x).
 */
static char *
describe_key(const RfFlow *flow, const Datum *values, const bool *nulls)
{
	StringInfoData names;
	StringInfoData key;

	initStringInfo(&names);
	initStringInfo(&key);
	for (int i = 0; i < flow->nkeys; i++)
	{
		int			column = flow->keys[i];
		Form_pg_attribute attribute = TupleDescAttr(flow->columns, column);
		Oid			output;
		bool		is_varlena;

		appendStringInfo(&names, "%s%s", i > 0 ? ", " : "", NameStr(attribute->attname));
		getTypeOutputInfo(attribute->atttypid, &output, &is_varlena);
		appendStringInfo(&key, "%s%s", i > 0 ? ", " : "", nulls[column] ? "null" :
						 OidOutputFunctionCall(output, values[column]));
	}
	return psprintf("(%s)=(%s)", names.data, key.data);
}

static void
report_null_sequence(const RfFlow *flow, const Datum *values, const bool *nulls)
{
	ereport(ERROR,
			(errcode(ERRCODE_NOT_NULL_VIOLATION),
			 errmsg("sequence \"%s\" of flow \"%s\" is null",
					flow->sequence_view_column, flow->name),
			 errdetail("A row with key %s has no sequence.", describe_key(flow, values, nulls)),
			 errhint("Mend the row in the stream, or drop such rows with an expectation; nothing was consumed.")));
}

/* Step 2, for one row of the query. */
static void
read_row(TupleTableSlot *slot, void *arg)
{
	RfApply    *apply = arg;
	const RfFlow *flow = apply->flow;
	bool		tombstone;
	bool		sequence_is_null;
	Datum		sequence;

	apply->run->counts.rows_read++;
	rf_progress_row();
	if (!rf_checks_pass(apply->checks, slot))
		return;
	rf_conversion_row(apply->conversion, slot, apply->values, apply->nulls);
	if (apply->stored)
	{
		sequence = apply->values[flow->sequence_column];
		sequence_is_null = apply->nulls[flow->sequence_column];
	}
	else
	{
		sequence = slot->tts_values[flow->sequence_extra];
		sequence_is_null = slot->tts_isnull[flow->sequence_extra];
	}
	if (sequence_is_null)
		report_null_sequence(flow, apply->values, apply->nulls);
	tombstone = flow->tombstone_extra >= 0 &&
		!slot->tts_isnull[flow->tombstone_extra] &&
		DatumGetBool(slot->tts_values[flow->tombstone_extra]);
	rf_batch_add(apply->batch, rf_diff_hash(apply->diff, apply->values, apply->nulls),
				 tombstone, sequence, apply->values, apply->nulls);
}

static void
read_batch(RfApply *apply)
{
	const RfFlow *flow = apply->flow;

	rf_progress_phase(RF_PHASE_READING, apply->preview == NULL ?
					  apply->run->counts.rows_staged : RF_ROWS_UNKNOWN);
	apply->checks = rf_checks_begin(flow);
	if (apply->cut != NULL)
		rf_query_each_of(rf_key_cut_query(apply->cut, apply->condition), RF_PLAN_FREE, NULL,
						 flow->read_types,
						 read_row, apply);
	else
		rf_query_each(rf_sql_read_batch(flow), RF_PLAN_FREE, flow->read_types,
					  read_row, apply);
	rf_checks_complete(apply->checks);
	apply->run->counts.rows_rejected = rf_checks_rejected(apply->checks);
	rf_batch_complete(apply->batch);
}

/* Step 3: number the keys, in the order of the batch. */
static void
find_keys(RfApply *apply)
{
	RfBatchRow	row;
	int64		group = 0;

	while (rf_batch_next(apply->batch, &row))
	{
		if (row.new_key)
			rf_keys_add(apply->keys, ++group, row.values, row.nulls);
		MemoryContextReset(apply->row_context);
		CHECK_FOR_INTERRUPTS();
	}
	rf_batch_rewind(apply->batch);
	rf_keys_register(apply->keys);
}

/* What each query that finds rows gives first: group, tableoid, ctid. */
static int64
read_address(TupleTableSlot *slot, RfRowAddress *address)
{
	slot_getallattrs(slot);
	address->tableoid = DatumGetObjectId(slot->tts_values[1]);
	address->ctid = *DatumGetItemPointer(slot->tts_values[2]);
	return DatumGetInt64(slot->tts_values[0]);
}

static void
read_old_row(TupleTableSlot *slot, void *arg)
{
	RfApply    *apply = arg;
	RfRowAddress address;
	int64		group = read_address(slot, &address);
	Datum	   *values = slot->tts_values + RF_FOUND_COLUMNS;
	bool	   *nulls = slot->tts_isnull + RF_FOUND_COLUMNS;

	rf_progress_row();
	rf_diff_add_old(apply->diff, group, &address, values, nulls);
	if (apply->stored && !nulls[apply->flow->sequence_column])
		rf_floors_add_stored(apply->floors, group, values[apply->flow->sequence_column]);
}

static void
read_ledger_row(TupleTableSlot *slot, void *arg)
{
	RfApply    *apply = arg;
	RfRowAddress address;
	int64		group = read_address(slot, &address);

	rf_floors_add_ledger(apply->floors, group, slot->tts_values[RF_FOUND_COLUMNS], &address);
}

/*
 * The keys come in order, so probing an index for each of them reads it from
 * end to end and mostly finds the rows of a key together.  That beats reading
 * the whole table unless the batch touches a good part of it.
 */
static RfPlan
plan_to_find(RfApply *apply, bool has_key_index, double table_rows)
{
	double		rows = apply->run->counts.rows_read;

	return has_key_index && rows < table_rows / 4 ? RF_PLAN_PROBE : RF_PLAN_FREE;
}

/* The columns that old rows need: for the diff, the floor, and the writing. */
static bool *
needed_columns(RfApply *apply)
{
	const RfFlow *flow = apply->flow;
	bool	   *needed = palloc(flow->columns->natts * sizeof(bool));

	for (int i = 0; i < flow->columns->natts; i++)
		needed[i] = i == flow->sequence_column || rf_diff_needs_column(&apply->rules, i) ||
			bms_is_member(i, apply->shape.place_columns);
	return needed;
}

/* The types of rows that are found: group, address, columns. */
static Oid *
found_types(TupleDesc columns, const bool *needed)
{
	Oid		   *types = palloc((RF_FOUND_COLUMNS + columns->natts) * sizeof(Oid));

	types[0] = INT8OID;
	types[1] = OIDOID;
	types[2] = TIDOID;
	for (int i = 0; i < columns->natts; i++)
		types[RF_FOUND_COLUMNS + i] = needed == NULL || needed[i] ?
			TupleDescAttr(columns, i)->atttypid : InvalidOid;
	return types;
}

static void
find_old_rows(RfApply *apply)
{
	const RfFlow *flow = apply->flow;
	bool	   *needed = needed_columns(apply);

	rf_query_each(rf_keys_find_in_target(apply->keys, needed),
				  plan_to_find(apply, apply->shape.has_key_index,
							   rf_table_rows(flow->target)),
				  found_types(flow->columns, needed), read_old_row, apply);
	if (OidIsValid(flow->ledger))
	{
		TupleDesc	columns = rf_floors_ledger_columns(apply->floors);

		rf_query_each(rf_keys_find_in_ledger(apply->keys, columns),
					  plan_to_find(apply, true, rf_table_rows(flow->ledger)),
					  found_types(columns, NULL), read_ledger_row, apply);
	}
	rf_diff_old_complete(apply->diff);
	rf_floors_complete(apply->floors);
}

static RfVerdict
judge(RfApply *apply, const RfFloor *floor, Datum sequence)
{
	int			order;

	if (!floor->known)
		return RF_SET_REPLACES;
	order = rf_batch_compare_sequences(apply->batch, sequence, floor->sequence);
	if (order > 0)
		return RF_SET_REPLACES;
	if (order < 0)
		return RF_SET_LATE;
	switch (apply->flow->on_tie)
	{
		case RF_TIE_IGNORE:
			return RF_SET_TIE_IGNORED;
		case RF_TIE_REPLACE:
			return RF_SET_REPLACES;
		default:
			return RF_SET_APPENDED;
	}
}

/*
 * Keep the ledger right for a key, given the first row of its set.  Tombstones
 * come last among the rows of a sequence, so a set that begins with one is
 * empty.
 */
static void
settle_floor(RfApply *apply, const RfFloor *floor, RfVerdict verdict,
			 const RfBatchRow *first)
{
	bool		takes_rows = !first->tombstone;

	if (verdict == RF_SET_REPLACES && (!apply->stored || !takes_rows))
	{
		/* a set that replaces another of its own sequence raises nothing */
		if (apply->stored || !floor->in_ledger ||
			rf_batch_compare_sequences(apply->batch, first->sequence, floor->sequence) != 0)
			rf_floors_raise(apply->floors, floor, first->values, first->nulls,
							first->sequence);
	}
	else if (apply->stored && takes_rows &&
			 (verdict == RF_SET_REPLACES || verdict == RF_SET_APPENDED))
		rf_floors_forget(apply->floors, floor);
}

/* Count a row of the batch, and pass it on if it is part of the result. */
static void
place_row(RfApply *apply, RfVerdict verdict, RfBatchRow *row)
{
	RfRunCounts *counts = &apply->run->counts;

	if (!row->winner)
		counts->rows_superseded++;
	else if (verdict == RF_SET_LATE)
		counts->rows_late++;
	else if (verdict == RF_SET_TIE_IGNORED)
		counts->rows_tie_ignored++;
	else if (row->tombstone)
		counts->rows_tombstone++;
	else if (verdict == RF_SET_APPENDED)
		rf_writer_insert(apply->writer, row->values, row->nulls);
	else
		rf_diff_add_new(apply->diff, row->hash, row->values, row->nulls);
}

static void
count_changes(RfApply *apply)
{
	rf_run_count_changes(apply->run, apply->diff, apply->writer);
}

static void
open_key(RfApply *apply, const RfBatchRow *first)
{
	if (apply->preview == NULL)
		return;
	count_changes(apply);
	rf_preview_open_key(apply->preview, first->values, first->nulls, &apply->run->counts);
}

/* All rows of a key, if there was one, were placed. */
static void
close_key(RfApply *apply, RfVerdict verdict)
{
	if (verdict == RF_SET_REPLACES)
		rf_diff_close_group(apply->diff);
	if (apply->preview == NULL)
		return;
	count_changes(apply);
	rf_preview_close_key(apply->preview, &apply->run->counts);
}

/* Step 4. */
static void
judge_keys(RfApply *apply)
{
	RfVerdict	verdict = RF_SET_LATE;
	RfBatchRow	row;
	int64		group = 0;

	while (rf_batch_next(apply->batch, &row))
	{
		if (row.new_key)
		{
			const RfFloor *floor;

			close_key(apply, verdict);
			open_key(apply, &row);
			floor = rf_floors_of(apply->floors, ++group);
			verdict = judge(apply, floor, row.sequence);
			settle_floor(apply, floor, verdict, &row);
			if (verdict == RF_SET_REPLACES)
			{
				apply->run->counts.keys_replaced++;
				rf_diff_open_group(apply->diff, group);
			}
		}
		place_row(apply, verdict, &row);
		rf_progress_row();
		MemoryContextReset(apply->row_context);
		CHECK_FOR_INTERRUPTS();
	}
	close_key(apply, verdict);
}

/* Step 5. */
static void
write_changes(RfApply *apply)
{
	rf_writer_execute(apply->writer);
	rf_floors_write(apply->floors);
}

/*
 * Where the target stores the sequence, a set that replaces another has a
 * higher one in each row, so no row of it is identical to an old one; but a
 * set that replaces another of the same sequence may be.
 */
static RfDiffRules
diff_rules(const RfApply *apply)
{
	RfDiffRules rules = {
		.matching = !apply->stored || apply->flow->on_tie == RF_TIE_REPLACE,
		.pairing = apply->shape.pairing,
		.pair_rule = apply->shape.pair_rule,
		.guarded_columns = apply->shape.guarded_columns
	};

	return rules;
}

/* Later runs find rows by their key, and the floor by the sequence. */
static const Bitmapset *
key_columns(const RfFlow *flow)
{
	Bitmapset  *columns = NULL;

	for (int i = 0; i < flow->nkeys; i++)
		columns = bms_add_member(columns, flow->keys[i]);
	if (flow->sequence_column >= 0)
		columns = bms_add_member(columns, flow->sequence_column);
	return columns;
}

static RfWriteRules
write_rules(const RfApply *apply)
{
	const RfTargetShape *shape = &apply->shape;
	RfWriteRules rules = {
		.key_rule = {key_columns(apply->flow), .by_equality = true, .nulls_agree = true},
		.key_name = "the key or the sequence",
		.key_reason = "Later runs look for the key that was sent,"
		" and take the stored sequence for the key's floor.",
		.place_columns = shape->place_columns,
		/* values that are equal may be stored otherwise */
		.fixed_columns = shape->pair_rule.by_equality ? NULL : shape->pair_rule.columns,
		.prefer_heap_only = shape->prefer_heap_only
	};

	return rules;
}

static void
begin_pieces(RfApply *apply)
{
	const RfFlow *flow = apply->flow;
	int			ncolumns = flow->columns->natts;

	apply->shape = rf_target_shape(flow->target, flow->columns, flow->nkeys, flow->keys);
	apply->stored = flow->sequence_column >= 0;
	apply->values = palloc(ncolumns * sizeof(Datum));
	apply->nulls = palloc(ncolumns * sizeof(bool));
	apply->row_context = AllocSetContextCreate(CurrentMemoryContext, "replace_flow row",
											   ALLOCSET_DEFAULT_SIZES);
	if (apply->preview != NULL)
		rf_preview_begin_keys(apply->preview, flow);
	apply->rules = diff_rules(apply);
	apply->writer = rf_writer_begin(flow->target, "table", flow->columns, write_rules(apply));
	apply->diff = rf_diff_begin(flow->columns, apply->rules, apply->writer);
	apply->conversion = rf_conversion_begin(flow);
	apply->batch = rf_batch_begin(flow);
	apply->keys = rf_keys_begin(flow);
	apply->floors = rf_floors_begin(flow);
}

static void
end_pieces(RfApply *apply)
{
	rf_conversion_end(apply->conversion);
	rf_keys_end(apply->keys);
	rf_batch_end(apply->batch);
	rf_floors_end(apply->floors);
	rf_diff_end(apply->diff);
	rf_writer_end(apply->writer);
}

static void
replace_sets(RfApply *apply)
{
	MemoryContext caller = MemoryContextSwitchTo(apply->row_context);
	const RfRunCounts *counts = &apply->run->counts;

	rf_progress_phase(RF_PHASE_FINDING, RF_ROWS_UNKNOWN);
	find_keys(apply);
	find_old_rows(apply);
	rf_progress_phase(RF_PHASE_COMPARING, counts->rows_read - counts->rows_rejected);
	judge_keys(apply);
	MemoryContextSwitchTo(caller);
	count_changes(apply);
	if (apply->preview == NULL)
		write_changes(apply);
}

/* Steps 2 to 5. */
static void
merge_batch(RfApply *apply, List *parts)
{
	RfRun	   *run = apply->run;

	begin_pieces(apply);
	read_batch(apply);
	rf_stream_check_same_parts(apply->flow, parts);
	rf_failpoint("stream", "read");
	if (run->counts.rows_read > run->counts.rows_rejected)
		replace_sets(apply);
	end_pieces(apply);
	PopActiveSnapshot();
	if (apply->preview == NULL)
	{
		rf_progress_phase(RF_PHASE_RECORDING, RF_ROWS_UNKNOWN);
		rf_checks_record(apply->checks, run->run_id);
	}
	rf_failpoint("expectations", "recorded");
	rf_checks_end(apply->checks);
}

/* What is consumed, in a run that sets it aside. */
typedef struct RfAside
{
	TupleDesc	desc;
	RfRejected *rows;
} RfAside;

static void
keep_staged_row(TupleTableSlot *slot, void *arg)
{
	RfAside    *aside = arg;

	slot_getallattrs(slot);
	rf_rejected_add(aside->rows, NULL, aside->desc, slot->tts_values, slot->tts_isnull);
}

/*
 * Keep the stream's rows in the place of steps 2 to 5.  Nowhere else would they
 * be, so they are kept also where dropped rows are not.
 */
static void
set_aside(RfApply *apply, List *parts)
{
	const RfFlow *flow = apply->flow;
	RfRun	   *run = apply->run;
	RfAside		aside = {rf_stream_columns(flow), rf_rejected_begin()};

	rf_query_each(rf_sql_read_staged(flow->source, apply->condition), RF_PLAN_FREE, NULL,
				  keep_staged_row, &aside);
	rf_stream_check_same_parts(flow, parts);
	PopActiveSnapshot();
	run->error = apply->options->quarantine;
	run->reasons = lappend(run->reasons,
						   "QUARANTINED: a run failed for this key; its rows are kept as rejected");
	run->counts.rows_read = run->counts.rows_rejected = rf_rejected_count(aside.rows);
	if (run->counts.rows_read > 0)
		rf_rejected_record(aside.rows, flow, run->run_id, run->error);
	rf_rejected_end(aside.rows);
}

static void
settle_range(RfApply *apply)
{
	const RfKeyRange *range = apply->options->range;

	if (range == NULL)
		return;
	apply->cut = rf_key_cut_require(apply->flow);
	apply->condition = rf_key_cut_condition(apply->cut, range);
}

static void
work(RfRun *run, void *arg)
{
	RfApply    *apply = arg;
	const RfApplyOptions *options = apply->options;
	List	   *parts = rf_stream_parts(run->flow);

	apply->run = run;
	apply->flow = run->flow;
	if (options->reason != NULL)
		run->reasons = list_make1(unconstify(char *, options->reason));
	settle_range(apply);
	if (apply->preview != NULL)
		PushActiveSnapshot(GetTransactionSnapshot());
	else
	{
		rf_progress_phase(RF_PHASE_CONSUMING, RF_ROWS_UNKNOWN);
		run->counts.rows_staged = rf_stream_consume(apply->flow, apply->condition);
	}
	rf_failpoint("stream", "consumed");
	if (options->quarantine != NULL)
		set_aside(apply, parts);
	else
		merge_batch(apply, parts);
}

/*
 * Run a using flow once; give the run's record.
 */
RfRow
rf_apply(const char *flow_name, const RfApplyOptions *options)
{
	RfApply		apply = {.options = options};
	RfRunOrder	order = {
		.command = "replace_flow.apply()",
		.flow_name = flow_name,
		.kind = RF_USING,
		.wait = options->wait,
		.work = work,
		.arg = &apply
	};

	return rf_run(&order);
}

/*
 * What a run would do, in total and for each key.
 */
RfRunCounts
rf_preview_apply(const char *flow_name, RfKeyPreview *preview)
{
	static const RfApplyOptions options = {.wait = true};
	RfApply		apply = {.options = &options, .preview = preview};
	RfRunOrder	order = {
		.command = "replace_flow.preview()",
		.flow_name = flow_name,
		.kind = RF_USING,
		.work = work,
		.arg = &apply
	};

	return rf_preview(&order);
}
