/*-------------------------------------------------------------------------
 *
 * batch.c
 *	  The rows that a run read, by key and sequence.
 *
 * All rows go into one tuplesort, ordered by the key columns as the target's
 * types and collations order them, then by sequence from the highest down.
 * So the rows of a key are neighbours, and its first row has the sequence that
 * wins.  Among these tombstones come last, so that the first row also tells
 * whether the set has any rows; the rest is ordered by the hash that row_diff
 * wants.
 *
 * The batch can be read more than once: first for its keys, then, when the old
 * rows of these are known, for its rows.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_operator.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/sortsupport.h"
#include "utils/tuplesort.h"
#include "utils/typcache.h"

#include "batch.h"

/* Columns of a row as it is sorted; the stored columns follow. */
enum
{
	BATCH_HASH,
	BATCH_TOMBSTONE,
	BATCH_SEQUENCE,
	BATCH_COLUMNS				/* how many come first */
};

struct RfBatch
{
	const RfFlow *flow;
	MemoryContext context;
	TupleDesc	desc;
	Tuplesortstate *rows;
	TupleTableSlot *put_slot;
	TupleTableSlot *row_slot;
	TupleTableSlot *first_slot; /* the first row of the current key */
	SortSupport keys;			/* to compare keys of two rows */
	SortSupport sequence;
};

static TupleDesc
describe(const RfFlow *flow)
{
	TupleDesc	desc = CreateTemplateTupleDesc(BATCH_COLUMNS + flow->columns->natts);

	TupleDescInitEntry(desc, BATCH_HASH + 1, "hash", INT8OID, -1, 0);
	TupleDescInitEntry(desc, BATCH_TOMBSTONE + 1, "tombstone", BOOLOID, -1, 0);
	rf_type_describe(desc, BATCH_SEQUENCE + 1, "sequence", flow->sequence_type);
	for (int i = 0; i < flow->columns->natts; i++)
		TupleDescCopyEntry(desc, BATCH_COLUMNS + i + 1, flow->columns, i + 1);
	return desc;
}

static Tuplesortstate *
begin_sort(const RfFlow *flow, TupleDesc desc)
{
	int			nsort = flow->nkeys + 3;
	AttrNumber *columns = palloc(nsort * sizeof(AttrNumber));
	Oid		   *operators = palloc(nsort * sizeof(Oid));
	Oid		   *collations = palloc(nsort * sizeof(Oid));
	bool	   *nulls_first = palloc0(nsort * sizeof(bool));
	int			i;

	for (i = 0; i < flow->nkeys; i++)
	{
		RfType		type = rf_flow_column_type(flow, flow->keys[i]);

		columns[i] = BATCH_COLUMNS + flow->keys[i] + 1;
		operators[i] = lookup_type_cache(type.type, TYPECACHE_LT_OPR)->lt_opr;
		collations[i] = type.collation;
	}
	columns[i] = BATCH_SEQUENCE + 1;
	operators[i] = lookup_type_cache(flow->sequence_type.type, TYPECACHE_GT_OPR)->gt_opr;
	collations[i++] = flow->sequence_type.collation;
	columns[i] = BATCH_TOMBSTONE + 1;
	operators[i] = lookup_type_cache(BOOLOID, TYPECACHE_LT_OPR)->lt_opr;
	collations[i++] = InvalidOid;
	columns[i] = BATCH_HASH + 1;
	operators[i] = Int8LessOperator;
	collations[i] = InvalidOid;
	/* all else of a run takes less, so this gets more */
	return tuplesort_begin_heap(desc, nsort, columns, operators, collations,
								nulls_first, Min(2.0 * work_mem, MAX_KILOBYTES), NULL,
								TUPLESORT_RANDOMACCESS);
}

static void
prepare_comparison(SortSupport support, RfType type)
{
	support->ssup_cxt = CurrentMemoryContext;
	support->ssup_collation = type.collation;
	PrepareSortSupportFromOrderingOp(lookup_type_cache(type.type, TYPECACHE_LT_OPR)->lt_opr,
									 support);
}

RfBatch *
rf_batch_begin(const RfFlow *flow)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "replace_flow batch",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext caller = MemoryContextSwitchTo(context);
	RfBatch    *batch = palloc0(sizeof(RfBatch));

	batch->flow = flow;
	batch->context = context;
	batch->desc = describe(flow);
	batch->rows = begin_sort(flow, batch->desc);
	batch->put_slot = MakeSingleTupleTableSlot(batch->desc, &TTSOpsVirtual);
	batch->row_slot = MakeSingleTupleTableSlot(batch->desc, &TTSOpsMinimalTuple);
	batch->first_slot = MakeSingleTupleTableSlot(batch->desc, &TTSOpsMinimalTuple);
	batch->keys = palloc0(flow->nkeys * sizeof(SortSupportData));
	for (int i = 0; i < flow->nkeys; i++)
		prepare_comparison(&batch->keys[i], rf_flow_column_type(flow, flow->keys[i]));
	batch->sequence = palloc0(sizeof(SortSupportData));
	prepare_comparison(batch->sequence, flow->sequence_type);
	MemoryContextSwitchTo(caller);
	return batch;
}

void
rf_batch_add(RfBatch *batch, int64 hash, bool tombstone, Datum sequence,
			 const Datum *values, const bool *nulls)
{
	TupleTableSlot *slot = batch->put_slot;
	int			ncolumns = batch->flow->columns->natts;

	ExecClearTuple(slot);
	memset(slot->tts_isnull, false, BATCH_COLUMNS);
	slot->tts_values[BATCH_HASH] = Int64GetDatum(hash);
	slot->tts_values[BATCH_TOMBSTONE] = BoolGetDatum(tombstone);
	slot->tts_values[BATCH_SEQUENCE] = sequence;
	memcpy(slot->tts_values + BATCH_COLUMNS, values, ncolumns * sizeof(Datum));
	memcpy(slot->tts_isnull + BATCH_COLUMNS, nulls, ncolumns * sizeof(bool));
	ExecStoreVirtualTuple(slot);
	tuplesort_puttupleslot(batch->rows, slot);
}

/*
 * All rows are there.
 */
void
rf_batch_complete(RfBatch *batch)
{
	tuplesort_performsort(batch->rows);
}

/*
 * Compare two sequences: less than, equal to or greater than zero.
 */
int
rf_batch_compare_sequences(RfBatch *batch, Datum a, Datum b)
{
	return ApplySortComparator(a, false, b, false, batch->sequence);
}

static bool
same_key(RfBatch *batch, TupleTableSlot *a, TupleTableSlot *b)
{
	for (int i = 0; i < batch->flow->nkeys; i++)
	{
		int			column = BATCH_COLUMNS + batch->flow->keys[i];

		if (ApplySortComparator(a->tts_values[column], a->tts_isnull[column],
								b->tts_values[column], b->tts_isnull[column],
								&batch->keys[i]) != 0)
			return false;
	}
	return true;
}

/*
 * Read the next row; false at the end.
 */
bool
rf_batch_next(RfBatch *batch, RfBatchRow *row)
{
	TupleTableSlot *slot = batch->row_slot;
	TupleTableSlot *first = batch->first_slot;

	if (!tuplesort_gettupleslot(batch->rows, true, false, slot, NULL))
		return false;
	slot_getallattrs(slot);
	row->new_key = TTS_EMPTY(first) || !same_key(batch, slot, first);
	if (row->new_key)
	{
		ExecCopySlot(first, slot);
		slot_getallattrs(first);
	}
	row->sequence = slot->tts_values[BATCH_SEQUENCE];
	row->winner = row->new_key ||
		rf_batch_compare_sequences(batch, row->sequence,
								   first->tts_values[BATCH_SEQUENCE]) == 0;
	row->tombstone = DatumGetBool(slot->tts_values[BATCH_TOMBSTONE]);
	row->hash = DatumGetInt64(slot->tts_values[BATCH_HASH]);
	row->values = slot->tts_values + BATCH_COLUMNS;
	row->nulls = slot->tts_isnull + BATCH_COLUMNS;
	return true;
}

/*
 * Read again from the first row.
 */
void
rf_batch_rewind(RfBatch *batch)
{
	ExecClearTuple(batch->row_slot);
	ExecClearTuple(batch->first_slot);
	tuplesort_rescan(batch->rows);
}

void
rf_batch_end(RfBatch *batch)
{
	ExecDropSingleTupleTableSlot(batch->put_slot);
	ExecDropSingleTupleTableSlot(batch->row_slot);
	ExecDropSingleTupleTableSlot(batch->first_slot);
	tuplesort_end(batch->rows);
	MemoryContextDelete(batch->context);
}
