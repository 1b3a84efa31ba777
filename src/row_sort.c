/*-------------------------------------------------------------------------
 *
 * row_sort.c
 *	  Rows in the order of their hashes.
 *
 * The order in which row_diff wants the new rows of a group.  They spill.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_operator.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/tuplesort.h"

#include "row_sort.h"

/* A row's columns follow its hash. */
#define SORT_COLUMNS 1

struct RfRowSort
{
	int			ncolumns;
	MemoryContext context;
	Tuplesortstate *rows;
	TupleTableSlot *put_slot;
	TupleTableSlot *row_slot;
};

static TupleDesc
describe(TupleDesc columns)
{
	TupleDesc	desc = CreateTemplateTupleDesc(SORT_COLUMNS + columns->natts);

	TupleDescInitEntry(desc, 1, "hash", INT8OID, -1, 0);
	for (int i = 0; i < columns->natts; i++)
		TupleDescCopyEntry(desc, SORT_COLUMNS + i + 1, columns, i + 1);
	return desc;
}

/*
 * Begin to sort rows with these columns.
 */
RfRowSort *
rf_sort_begin(TupleDesc columns)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "replace_flow row sort",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext caller = MemoryContextSwitchTo(context);
	RfRowSort  *sort = palloc0(sizeof(RfRowSort));
	TupleDesc	desc = describe(columns);
	AttrNumber	column = 1;
	Oid			less_than = Int8LessOperator;
	Oid			collation = InvalidOid;
	bool		nulls_first = false;

	sort->ncolumns = columns->natts;
	sort->context = context;
	sort->rows = tuplesort_begin_heap(desc, 1, &column, &less_than, &collation, &nulls_first,
									  work_mem, NULL, TUPLESORT_NONE);
	sort->put_slot = MakeSingleTupleTableSlot(desc, &TTSOpsVirtual);
	sort->row_slot = MakeSingleTupleTableSlot(desc, &TTSOpsMinimalTuple);
	MemoryContextSwitchTo(caller);
	return sort;
}

void
rf_sort_add(RfRowSort *sort, int64 hash, const Datum *values, const bool *nulls)
{
	TupleTableSlot *slot = sort->put_slot;

	ExecClearTuple(slot);
	slot->tts_values[0] = Int64GetDatum(hash);
	slot->tts_isnull[0] = false;
	memcpy(slot->tts_values + SORT_COLUMNS, values, sort->ncolumns * sizeof(Datum));
	memcpy(slot->tts_isnull + SORT_COLUMNS, nulls, sort->ncolumns * sizeof(bool));
	ExecStoreVirtualTuple(slot);
	tuplesort_puttupleslot(sort->rows, slot);
}

/*
 * All rows are there.
 */
void
rf_sort_complete(RfRowSort *sort)
{
	tuplesort_performsort(sort->rows);
}

/*
 * Read the next row; false at the end.
 */
bool
rf_sort_next(RfRowSort *sort, RfSortedRow *row)
{
	TupleTableSlot *slot = sort->row_slot;

	CHECK_FOR_INTERRUPTS();
	if (!tuplesort_gettupleslot(sort->rows, true, false, slot, NULL))
		return false;
	slot_getallattrs(slot);
	row->hash = DatumGetInt64(slot->tts_values[0]);
	row->values = slot->tts_values + SORT_COLUMNS;
	row->nulls = slot->tts_isnull + SORT_COLUMNS;
	return true;
}

void
rf_sort_end(RfRowSort *sort)
{
	ExecDropSingleTupleTableSlot(sort->put_slot);
	ExecDropSingleTupleTableSlot(sort->row_slot);
	tuplesort_end(sort->rows);
	MemoryContextDelete(sort->context);
}
