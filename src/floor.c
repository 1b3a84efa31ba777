/*-------------------------------------------------------------------------
 *
 * floor.c
 *	  The highest sequence already applied, per key of a batch.
 *
 * A target that stores the sequence is its own ledger: the floor of a key is
 * the highest sequence among its rows, which the run reads anyway.  Where the
 * target does not store it, and for keys that a tombstone has emptied, the
 * floor is in the flow's ledger, a table with a row per key.
 *
 * The rows of both come in any order and often many to a key, so the floors
 * are sorted by key group and then read along with the batch.
 *
 * Changes of the ledger go through a target writer, like any table's.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_operator.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/tuplesort.h"
#include "utils/typcache.h"

#include "compat.h"
#include "floor.h"
#include "sql_text.h"

/* Columns of a floor as it is sorted. */
enum
{
	FLOOR_GROUP,
	FLOOR_SEQUENCE,
	FLOOR_TABLEOID,				/* NULL for a floor that the target stores */
	FLOOR_CTID,
	FLOOR_COLUMNS
};

struct RfFloors
{
	const RfFlow *flow;
	MemoryContext context;
	MemoryContext floor_context;	/* for the current floor's sequence */
	int16		typlen;			/* of the sequence's type */
	bool		typbyval;
	TupleDesc	desc;
	Tuplesortstate *rows;
	TupleTableSlot *put_slot;
	TupleTableSlot *row_slot;
	bool		row_valid;		/* row_slot holds the next row */

	/* the last stored sequence added, to add each but once */
	bool		last_valid;
	int64		last_group;
	Datum		last_sequence;

	RfFloor		floor;			/* of the group asked for last */

	TupleDesc	ledger_desc;	/* the ledger's columns: keys, sequence */
	RfTargetWriter *ledger;		/* or NULL */
	Datum	   *values;
	bool	   *nulls;
};

static TupleDesc
describe(const RfFlow *flow)
{
	TupleDesc	desc = CreateTemplateTupleDesc(FLOOR_COLUMNS);

	TupleDescInitEntry(desc, FLOOR_GROUP + 1, "group", INT8OID, -1, 0);
	rf_type_describe(desc, FLOOR_SEQUENCE + 1, "sequence", flow->sequence_type);
	TupleDescInitEntry(desc, FLOOR_TABLEOID + 1, "tableoid", OIDOID, -1, 0);
	TupleDescInitEntry(desc, FLOOR_CTID + 1, "ctid", TIDOID, -1, 0);
	return desc;
}

static TupleDesc
describe_ledger(const RfFlow *flow)
{
	TupleDesc	desc = CreateTemplateTupleDesc(flow->nkeys + 1);

	for (int i = 0; i < flow->nkeys; i++)
	{
		TupleDescCopyEntry(desc, i + 1, flow->columns, flow->keys[i] + 1);
		namestrcpy(&TupleDescAttr(desc, i)->attname, rf_sql_ledger_key(i));
	}
	rf_type_describe(desc, flow->nkeys + 1, RF_LEDGER_SEQUENCE, flow->sequence_type);
	return desc;
}

static Tuplesortstate *
begin_sort(const RfFlow *flow, TupleDesc desc)
{
	AttrNumber	columns[] = {FLOOR_GROUP + 1, FLOOR_SEQUENCE + 1};
	Oid			operators[] = {Int8LessOperator, InvalidOid};
	Oid			collations[] = {InvalidOid, flow->sequence_type.collation};
	bool		nulls_first[] = {false, false};

	operators[1] = lookup_type_cache(flow->sequence_type.type, TYPECACHE_GT_OPR)->gt_opr;
	return tuplesort_begin_heap(desc, 2, columns, operators, collations,
								nulls_first, work_mem, NULL, TUPLESORT_NONE);
}

/* The keys of a row never change in the ledger. */
static Bitmapset *
ledger_fixed_columns(const RfFlow *flow)
{
	return bms_add_range(NULL, 0, flow->nkeys - 1);
}

RfFloors *
rf_floors_begin(const RfFlow *flow)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "replace_flow floors",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext caller = MemoryContextSwitchTo(context);
	RfFloors   *floors = palloc0(sizeof(RfFloors));

	floors->flow = flow;
	floors->context = context;
	floors->floor_context = AllocSetContextCreate(context, "replace_flow floor",
												  ALLOCSET_SMALL_SIZES);
	get_typlenbyval(flow->sequence_type.type, &floors->typlen, &floors->typbyval);
	floors->desc = describe(flow);
	floors->rows = begin_sort(flow, floors->desc);
	floors->put_slot = MakeSingleTupleTableSlot(floors->desc, &TTSOpsVirtual);
	floors->row_slot = MakeSingleTupleTableSlot(floors->desc, &TTSOpsMinimalTuple);
	floors->ledger_desc = describe_ledger(flow);
	floors->values = palloc((flow->nkeys + 1) * sizeof(Datum));
	floors->nulls = palloc0((flow->nkeys + 1) * sizeof(bool));
	if (OidIsValid(flow->ledger))
	{
		RfWriteRules rules = {.fixed_columns = ledger_fixed_columns(flow)};

		floors->ledger = rf_writer_begin(flow->ledger, "the ledger", floors->ledger_desc, rules);
	}
	MemoryContextSwitchTo(caller);
	return floors;
}

/*
 * What a query for the ledger's rows must give: the sequence.
 */
TupleDesc
rf_floors_ledger_columns(const RfFloors *floors)
{
	TupleDesc	desc = CreateTemplateTupleDesc(1);

	TupleDescCopyEntry(desc, 1, floors->ledger_desc, floors->ledger_desc->natts);
	return desc;
}

static void
add(RfFloors *floors, int64 group, Datum sequence, const RfRowAddress *row)
{
	TupleTableSlot *slot = floors->put_slot;

	ExecClearTuple(slot);
	slot->tts_values[FLOOR_GROUP] = Int64GetDatum(group);
	slot->tts_isnull[FLOOR_GROUP] = false;
	slot->tts_values[FLOOR_SEQUENCE] = sequence;
	slot->tts_isnull[FLOOR_SEQUENCE] = false;
	slot->tts_isnull[FLOOR_TABLEOID] = row == NULL;
	slot->tts_isnull[FLOOR_CTID] = row == NULL;
	if (row != NULL)
	{
		slot->tts_values[FLOOR_TABLEOID] = ObjectIdGetDatum(row->tableoid);
		slot->tts_values[FLOOR_CTID] = ItemPointerGetDatum(&row->ctid);
	}
	ExecStoreVirtualTuple(slot);
	tuplesort_puttupleslot(floors->rows, slot);
}

static void
remember_last(RfFloors *floors, int64 group, Datum sequence)
{
	MemoryContext caller = MemoryContextSwitchTo(floors->context);

	if (floors->last_valid && !floors->typbyval)
		pfree(DatumGetPointer(floors->last_sequence));
	floors->last_valid = true;
	floors->last_group = group;
	floors->last_sequence = datumCopy(sequence, floors->typbyval, floors->typlen);
	MemoryContextSwitchTo(caller);
}

/*
 * Add the sequence of a row of the target.  The rows of a key mostly come
 * together and mostly have one sequence.
 */
void
rf_floors_add_stored(RfFloors *floors, int64 group, Datum sequence)
{
	if (floors->last_valid && floors->last_group == group &&
		datum_image_eq(floors->last_sequence, sequence, floors->typbyval, floors->typlen))
		return;
	add(floors, group, sequence, NULL);
	remember_last(floors, group, sequence);
}

void
rf_floors_add_ledger(RfFloors *floors, int64 group, Datum sequence,
					 const RfRowAddress *row)
{
	add(floors, group, sequence, row);
}

static void
next_row(RfFloors *floors)
{
	CHECK_FOR_INTERRUPTS();
	floors->row_valid = tuplesort_gettupleslot(floors->rows, true, false,
											   floors->row_slot, NULL);
	if (floors->row_valid)
		slot_getallattrs(floors->row_slot);
}

static int64
row_group(RfFloors *floors)
{
	return DatumGetInt64(floors->row_slot->tts_values[FLOOR_GROUP]);
}

void
rf_floors_complete(RfFloors *floors)
{
	tuplesort_performsort(floors->rows);
	next_row(floors);
}

/* Take the sorted row into the floor; the first of a group has the highest. */
static void
take_row(RfFloors *floors)
{
	TupleTableSlot *slot = floors->row_slot;
	RfFloor    *floor = &floors->floor;

	if (!floor->known)
	{
		MemoryContext caller = MemoryContextSwitchTo(floors->floor_context);

		floor->known = true;
		floor->sequence = datumCopy(slot->tts_values[FLOOR_SEQUENCE],
									floors->typbyval, floors->typlen);
		MemoryContextSwitchTo(caller);
	}
	if (!slot->tts_isnull[FLOOR_CTID])
	{
		floor->in_ledger = true;
		floor->ledger_row.tableoid = DatumGetObjectId(slot->tts_values[FLOOR_TABLEOID]);
		floor->ledger_row.ctid = *DatumGetItemPointer(slot->tts_values[FLOOR_CTID]);
	}
}

/*
 * The floor of a group; groups are asked for in ascending order.  The result
 * is good until the next call.
 */
const RfFloor *
rf_floors_of(RfFloors *floors, int64 group)
{
	memset(&floors->floor, 0, sizeof(RfFloor));
	MemoryContextReset(floors->floor_context);
	while (floors->row_valid && row_group(floors) <= group)
	{
		if (row_group(floors) == group)
			take_row(floors);
		next_row(floors);
	}
	return &floors->floor;
}

/*
 * Keep a key's new floor in the ledger; the row gives the key.
 */
void
rf_floors_raise(RfFloors *floors, const RfFloor *floor,
				const Datum *values, const bool *nulls, Datum sequence)
{
	const RfFlow *flow = floors->flow;

	for (int i = 0; i < flow->nkeys; i++)
	{
		floors->values[i] = values[flow->keys[i]];
		floors->nulls[i] = nulls[flow->keys[i]];
	}
	floors->values[flow->nkeys] = sequence;
	if (floor->in_ledger)
	{
		RfOldRow	old = {.address = floor->ledger_row};

		rf_writer_update(floors->ledger, &old, floors->values, floors->nulls);
	}
	else
		rf_writer_insert(floors->ledger, floors->values, floors->nulls);
}

/*
 * Take a key's floor out of the ledger: its rows have it now.
 */
void
rf_floors_forget(RfFloors *floors, const RfFloor *floor)
{
	if (floor->in_ledger)
	{
		RfOldRow	old = {.address = floor->ledger_row};

		rf_writer_delete(floors->ledger, &old);
	}
}

/*
 * Write the ledger's changes.
 */
void
rf_floors_write(RfFloors *floors)
{
	if (floors->ledger != NULL)
		rf_writer_execute(floors->ledger);
}

void
rf_floors_end(RfFloors *floors)
{
	if (floors->ledger != NULL)
		rf_writer_end(floors->ledger);
	ExecDropSingleTupleTableSlot(floors->put_slot);
	ExecDropSingleTupleTableSlot(floors->row_slot);
	tuplesort_end(floors->rows);
	MemoryContextDelete(floors->context);
}
