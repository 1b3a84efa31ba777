/*-------------------------------------------------------------------------
 *
 * row_diff.c
 *	  Old rows and new rows in, per group; the smallest change out.
 *
 * The caller adds all old rows, in any order, each with the number of its
 * group, and says when they are complete.  Then it opens groups in ascending
 * order, adds the new rows of each in the order of their hashes, and closes
 * it.  Old rows of a group that is never opened are left alone.
 *
 * Per group this is a difference of multisets, by stored image: a new row
 * that is identical to an old one leaves it in place, once for each copy.
 * (A caller that knows that there are no identical rows can do without this
 * matching; then old rows need few columns, and no leftover has to wait.)
 * What is left over is written as updates, where an old and a new row agree
 * in the pair columns, and else as deletes and inserts.
 *
 * Both sides are sorted by (group, hash), and the hash puts rows that agree
 * in the pair columns next to each other, and identical rows next to each
 * other among these (see row_image.h).  So one merge finds everything, and
 * memory does not grow with the group:
 *
 *	- the old rows lie in a tuplesort, which spills;
 *	- leftovers wait for a partner in queues that spill, one for each side.
 *	  One of them is empty, since the first partner that comes takes the first
 *	  that waits.
 *
 * Hashes collide.  For a collision in the half for the pair columns, those who
 * wait are asked in turn whether they really agree; then both sides may wait.
 * For one in the other half, old rows that are not identical to the new row
 * with the same hash are set aside, in memory, until the hash changes.
 *
 * It knows nothing of flows, keys or sequences.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/tuplesort.h"
#include "utils/tuplestore.h"

#include "compat.h"
#include "row_diff.h"

/*
 * Columns of an old row as it is sorted, and of any row as it waits; the row's
 * own columns follow.
 */
enum
{
	ROW_GROUP,
	ROW_HASH,
	ROW_TABLEOID,
	ROW_CTID,
	ROW_COLUMNS					/* how many come first */
};

/* A row laid out so, and read again; a new row has no address. */
typedef struct RfDiffRow
{
	bool		valid;			/* false: there are no more */
	int64		group;
	int64		hash;
	RfRowAddress address;
	Datum	   *values;			/* the row's own columns */
	bool	   *nulls;
} RfDiffRow;

/* Rows of one side that wait for a partner. */
typedef struct RfQueue
{
	Tuplestorestate *rows;
	int64		length;
	TupleTableSlot *slot;		/* the row that was taken last */
} RfQueue;

struct RfRowDiff
{
	TupleDesc	columns;
	RfDiffRules rules;
	RfRowImage *image;
	RfTargetWriter *writer;
	MemoryContext context;

	TupleDesc	old_desc;		/* also the shape of rows in queue and aside */
	Tuplesortstate *old_rows;
	TupleTableSlot *put_slot;	/* to lay a row out in */
	TupleTableSlot *old_slot;
	RfDiffRow	old;

	int64		group;			/* the open one */
	int64		unchanged;

	/* leftovers that agree in the pair half of the hash, which is this */
	int32		queue_pair;
	RfQueue		old_queue;
	RfQueue		new_queue;

	/* old rows set aside: same hash as the current new row, another image */
	List	   *aside;			/* of MinimalTuple */
	int64		aside_hash;
	TupleTableSlot *aside_slot;
};

static TupleDesc
describe_old(TupleDesc columns)
{
	TupleDesc	desc = CreateTemplateTupleDesc(ROW_COLUMNS + columns->natts);

	TupleDescInitEntry(desc, ROW_GROUP + 1, "group", INT8OID, -1, 0);
	TupleDescInitEntry(desc, ROW_HASH + 1, "hash", INT8OID, -1, 0);
	TupleDescInitEntry(desc, ROW_TABLEOID + 1, "tableoid", OIDOID, -1, 0);
	TupleDescInitEntry(desc, ROW_CTID + 1, "ctid", TIDOID, -1, 0);
	for (int i = 0; i < columns->natts; i++)
		TupleDescCopyEntry(desc, ROW_COLUMNS + i + 1, columns, i + 1);
	return desc;
}

/*
 * A sort compares its first column without looking at the row.  Where all groups
 * are the same, that would tell nothing.
 */
static Tuplesortstate *
begin_old_sort(TupleDesc desc, bool one_group)
{
	AttrNumber	columns[] = {ROW_GROUP + 1, ROW_HASH + 1};
	Oid			operators[] = {Int8LessOperator, Int8LessOperator};
	Oid			collations[] = {InvalidOid, InvalidOid};
	bool		nulls_first[] = {false, false};

	int			first = one_group ? 1 : 0;

	return tuplesort_begin_heap(desc, 2 - first, columns + first, operators + first, collations,
								nulls_first, work_mem, NULL, TUPLESORT_NONE);
}

/*
 * Whether old rows need a column.  Others may be given as NULL, to save room.
 */
bool
rf_diff_needs_column(const RfDiffRules *rules, int column)
{
	return rules->matching ||
		(rules->pairing && (bms_is_member(column, rules->pair_rule.columns) ||
							bms_is_member(column, rules->guarded_columns)));
}

static void
begin_queue(RfQueue *queue, TupleDesc desc)
{
	queue->rows = tuplestore_begin_heap(false, false, work_mem);
	/* what was taken can be forgotten */
	tuplestore_set_eflags(queue->rows, 0);
	queue->slot = MakeSingleTupleTableSlot(desc, &TTSOpsMinimalTuple);
}

static void
end_queue(RfQueue *queue)
{
	tuplestore_end(queue->rows);
	ExecDropSingleTupleTableSlot(queue->slot);
}

/*
 * Begin a difference of rows with these columns.  All of its memory, the
 * tuplesort's too, hangs below the current context.
 */
RfRowDiff *
rf_diff_begin(TupleDesc columns, RfDiffRules rules, RfTargetWriter *writer)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "replace_flow row diff",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext caller = MemoryContextSwitchTo(context);
	RfRowDiff  *diff = palloc0(sizeof(RfRowDiff));

	diff->columns = columns;
	diff->rules = rules;
	diff->image = rf_image_begin(columns, rules.pair_rule);
	diff->writer = writer;
	diff->context = context;
	diff->old_desc = describe_old(columns);
	diff->old_rows = begin_old_sort(diff->old_desc, rules.one_group);
	diff->put_slot = MakeSingleTupleTableSlot(diff->old_desc, &TTSOpsVirtual);
	diff->old_slot = MakeSingleTupleTableSlot(diff->old_desc, &TTSOpsMinimalTuple);
	diff->aside_slot = MakeSingleTupleTableSlot(diff->old_desc, &TTSOpsMinimalTuple);
	begin_queue(&diff->old_queue, diff->old_desc);
	begin_queue(&diff->new_queue, diff->old_desc);
	MemoryContextSwitchTo(caller);
	return diff;
}

/*
 * The hash by which new rows must be sorted within their group.
 */
int64
rf_diff_hash(const RfRowDiff *diff, const Datum *values, const bool *nulls)
{
	return rf_row_hash(diff->image, values, nulls);
}

/*
 * Lay a row out in put_slot.  Values are not copied.
 */
static void
lay_out(RfRowDiff *diff, int64 group, int64 hash, const RfRowAddress *address,
		const Datum *values, const bool *nulls)
{
	TupleTableSlot *slot = diff->put_slot;
	int			ncolumns = diff->columns->natts;

	ExecClearTuple(slot);
	memset(slot->tts_isnull, false, ROW_COLUMNS);
	slot->tts_values[ROW_GROUP] = Int64GetDatum(group);
	slot->tts_values[ROW_HASH] = Int64GetDatum(hash);
	slot->tts_values[ROW_TABLEOID] = ObjectIdGetDatum(address->tableoid);
	slot->tts_values[ROW_CTID] = ItemPointerGetDatum(&address->ctid);
	memcpy(slot->tts_values + ROW_COLUMNS, values, ncolumns * sizeof(Datum));
	memcpy(slot->tts_isnull + ROW_COLUMNS, nulls, ncolumns * sizeof(bool));
	ExecStoreVirtualTuple(slot);
}

/*
 * Read a laid-out row; the result points into the slot.
 */
static RfDiffRow
read_laid_out(TupleTableSlot *slot)
{
	RfDiffRow	row;

	slot_getallattrs(slot);
	row.valid = true;
	row.group = DatumGetInt64(slot->tts_values[ROW_GROUP]);
	row.hash = DatumGetInt64(slot->tts_values[ROW_HASH]);
	row.address.tableoid = DatumGetObjectId(slot->tts_values[ROW_TABLEOID]);
	row.address.ctid = *DatumGetItemPointer(slot->tts_values[ROW_CTID]);
	row.values = slot->tts_values + ROW_COLUMNS;
	row.nulls = slot->tts_isnull + ROW_COLUMNS;
	return row;
}

void
rf_diff_add_old(RfRowDiff *diff, int64 group, const RfRowAddress *address,
				const Datum *values, const bool *nulls)
{
	lay_out(diff, group, rf_diff_hash(diff, values, nulls), address, values, nulls);
	tuplesort_puttupleslot(diff->old_rows, diff->put_slot);
}

static void
next_old(RfRowDiff *diff)
{
	CHECK_FOR_INTERRUPTS();
	if (tuplesort_gettupleslot(diff->old_rows, true, false, diff->old_slot, NULL))
		diff->old = read_laid_out(diff->old_slot);
	else
		diff->old.valid = false;
}

/*
 * All old rows are there.
 */
void
rf_diff_old_complete(RfRowDiff *diff)
{
	tuplesort_performsort(diff->old_rows);
	next_old(diff);
}

static bool
old_is_in_group(const RfRowDiff *diff)
{
	return diff->old.valid && diff->old.group == diff->group;
}

static void
queue_push(RfRowDiff *diff, RfQueue *queue, int64 hash, const RfRowAddress *address,
		   const Datum *values, const bool *nulls)
{
	lay_out(diff, diff->group, hash, address, values, nulls);
	tuplestore_puttupleslot(queue->rows, diff->put_slot);
	queue->length++;
}

/*
 * Take the first row of a queue.  It stays readable until the next call.
 */
static RfDiffRow
queue_pop(RfRowDiff *diff, RfQueue *queue)
{
	MemoryContext caller = MemoryContextSwitchTo(diff->context);

	CHECK_FOR_INTERRUPTS();
	/* copied, since the store may forget it */
	if (!tuplestore_gettupleslot(queue->rows, true, true, queue->slot))
		elog(ERROR, "unexpected end of queue");
	MemoryContextSwitchTo(caller);
	if (--queue->length > 0)
		tuplestore_trim(queue->rows);
	else
		tuplestore_clear(queue->rows);
	return read_laid_out(queue->slot);
}

static void
delete_old(RfRowDiff *diff, const RfDiffRow *row)
{
	RfOldRow	old = {row->address, row->values, row->nulls};

	rf_writer_delete(diff->writer, &old);
}

static void
update_old(RfRowDiff *diff, const RfDiffRow *row, Datum *values, bool *nulls)
{
	RfOldRow	old = {row->address, row->values, row->nulls};

	if (bms_is_empty(diff->rules.guarded_columns) ||
		rf_rows_identical(diff->image, diff->rules.guarded_columns,
						  row->values, row->nulls, values, nulls))
		rf_writer_update(diff->writer, &old, values, nulls);
	else
	{
		rf_writer_delete(diff->writer, &old);
		rf_writer_insert(diff->writer, values, nulls);
	}
}

static bool
can_pair(const RfRowDiff *diff, const bool *nulls)
{
	return diff->rules.pairing && rf_row_may_agree(diff->image, nulls);
}

/*
 * Write rows that found no partner.
 */
static void
flush_queues(RfRowDiff *diff)
{
	while (diff->old_queue.length > 0)
	{
		RfDiffRow	old = queue_pop(diff, &diff->old_queue);

		delete_old(diff, &old);
	}
	while (diff->new_queue.length > 0)
	{
		RfDiffRow	new = queue_pop(diff, &diff->new_queue);

		rf_writer_insert(diff->writer, new.values, new.nulls);
	}
}

/*
 * Make the queues fit for a row with this hash.
 */
static void
turn_queues_to(RfRowDiff *diff, int64 hash)
{
	int32		pair = rf_row_hash_of_pair(hash);

	if (diff->queue_pair != pair)
		flush_queues(diff);
	diff->queue_pair = pair;
}

/*
 * Take the first row of a queue that agrees with the given one.  Others go to
 * the end; there are some only when hashes collide.
 */
static bool
take_partner(RfRowDiff *diff, RfQueue *queue, const Datum *values, const bool *nulls,
			 RfDiffRow *partner)
{
	for (int64 left = queue->length; left > 0; left--)
	{
		*partner = queue_pop(diff, queue);
		if (rf_rows_agree(diff->image, partner->values, partner->nulls, values, nulls))
			return true;
		queue_push(diff, queue, partner->hash, &partner->address,
				   partner->values, partner->nulls);
	}
	return false;
}

/*
 * An old row that is identical to no new one.  Without matching, pairs are made
 * as new rows come: what is left over then finds no partner any more.
 */
static void
leftover_old(RfRowDiff *diff, const RfDiffRow *old)
{
	RfDiffRow	new;

	if (!can_pair(diff, old->nulls) || !diff->rules.matching)
	{
		delete_old(diff, old);
		return;
	}
	turn_queues_to(diff, old->hash);
	if (take_partner(diff, &diff->new_queue, old->values, old->nulls, &new))
		update_old(diff, old, new.values, new.nulls);
	else
		queue_push(diff, &diff->old_queue, old->hash, &old->address, old->values, old->nulls);
}

/* A new row that is identical to no old one. */
static void
leftover_new(RfRowDiff *diff, int64 hash, Datum *values, bool *nulls)
{
	static const RfRowAddress nowhere = {0};
	RfDiffRow	old;

	if (!can_pair(diff, nulls))
	{
		rf_writer_insert(diff->writer, values, nulls);
		return;
	}
	turn_queues_to(diff, hash);
	if (take_partner(diff, &diff->old_queue, values, nulls, &old))
		update_old(diff, &old, values, nulls);
	else
		queue_push(diff, &diff->new_queue, hash, &nowhere, values, nulls);
}

/*
 * Set the current old row aside: its hash is a new row's, its image is not.
 */
static void
set_old_aside(RfRowDiff *diff)
{
	MemoryContext caller = MemoryContextSwitchTo(diff->context);

	diff->aside = lappend(diff->aside, ExecCopySlotMinimalTuple(diff->old_slot));
	diff->aside_hash = diff->old.hash;
	MemoryContextSwitchTo(caller);
}

static RfDiffRow
read_aside(RfRowDiff *diff, ListCell *cell)
{
	ExecStoreMinimalTuple(lfirst(cell), diff->aside_slot, false);
	return read_laid_out(diff->aside_slot);
}

static bool
match_aside(RfRowDiff *diff, const Datum *values, const bool *nulls)
{
	ListCell   *cell;

	foreach(cell, diff->aside)
	{
		RfDiffRow	old = read_aside(diff, cell);

		if (rf_rows_identical(diff->image, NULL, old.values, old.nulls,
							  values, nulls))
		{
			ExecClearTuple(diff->aside_slot);
			pfree(lfirst(cell));
			diff->aside = foreach_delete_current(diff->aside, cell);
			return true;
		}
	}
	return false;
}

/*
 * The hash moves on: what is still aside has no identical new row.
 */
static void
release_aside(RfRowDiff *diff)
{
	ListCell   *cell;

	foreach(cell, diff->aside)
	{
		RfDiffRow	old = read_aside(diff, cell);

		leftover_old(diff, &old);
	}
	ExecClearTuple(diff->aside_slot);
	list_free_deep(diff->aside);
	diff->aside = NIL;
}

/*
 * Open a group; groups come in ascending order.
 */
void
rf_diff_open_group(RfRowDiff *diff, int64 group)
{
	diff->group = group;
	while (diff->old.valid && diff->old.group < group)
		next_old(diff);
}

/*
 * Find an old row that is identical to a new one, and take it.
 */
static bool
match_old(RfRowDiff *diff, int64 hash, const Datum *values, const bool *nulls)
{
	if (match_aside(diff, values, nulls))
		return true;
	while (old_is_in_group(diff) && diff->old.hash == hash)
	{
		bool		identical = rf_rows_identical(diff->image, NULL,
												  diff->old.values, diff->old.nulls,
												  values, nulls);

		if (!identical)
			set_old_aside(diff);
		next_old(diff);
		if (identical)
			return true;
	}
	return false;
}

/*
 * Add a new row when no row is identical to an old one.  Then the first old row
 * that agrees in the pair columns is as good a partner as any, and no new row
 * has to wait; an old one waits only if it collides.
 */
static void
add_unmatched(RfRowDiff *diff, int64 hash, Datum *values, bool *nulls)
{
	int32		pair = rf_row_hash_of_pair(hash);
	RfDiffRow	old;

	if (!can_pair(diff, nulls))
	{
		rf_writer_insert(diff->writer, values, nulls);
		return;
	}
	while (old_is_in_group(diff) && (rf_row_hash_of_pair(diff->old.hash) < pair ||
									 !can_pair(diff, diff->old.nulls)))
	{
		delete_old(diff, &diff->old);
		next_old(diff);
	}
	turn_queues_to(diff, hash);
	if (take_partner(diff, &diff->old_queue, values, nulls, &old))
	{
		update_old(diff, &old, values, nulls);
		return;
	}
	while (old_is_in_group(diff) && rf_row_hash_of_pair(diff->old.hash) == pair)
	{
		bool		agrees = rf_rows_agree(diff->image, diff->old.values, diff->old.nulls,
										   values, nulls);

		if (agrees)
			update_old(diff, &diff->old, values, nulls);
		else
			queue_push(diff, &diff->old_queue, diff->old.hash, &diff->old.address,
					   diff->old.values, diff->old.nulls);
		next_old(diff);
		if (agrees)
			return;
	}
	rf_writer_insert(diff->writer, values, nulls);
}

/*
 * Add a new row to the open group; rows come in the order of their hashes.
 */
void
rf_diff_add_new(RfRowDiff *diff, int64 hash, Datum *values, bool *nulls)
{
	if (!diff->rules.matching)
	{
		add_unmatched(diff, hash, values, nulls);
		return;
	}
	if (diff->aside != NIL && diff->aside_hash != hash)
		release_aside(diff);
	while (old_is_in_group(diff) && diff->old.hash < hash)
	{
		leftover_old(diff, &diff->old);
		next_old(diff);
	}
	if (match_old(diff, hash, values, nulls))
		diff->unchanged++;
	else
		leftover_new(diff, hash, values, nulls);
}

/*
 * The group has no more new rows.
 */
void
rf_diff_close_group(RfRowDiff *diff)
{
	release_aside(diff);
	while (old_is_in_group(diff))
	{
		leftover_old(diff, &diff->old);
		next_old(diff);
	}
	flush_queues(diff);
}

/*
 * How many new rows were identical to an old one.
 */
int64
rf_diff_unchanged(const RfRowDiff *diff)
{
	return diff->unchanged;
}

void
rf_diff_end(RfRowDiff *diff)
{
	end_queue(&diff->old_queue);
	end_queue(&diff->new_queue);
	tuplesort_end(diff->old_rows);
	ExecDropSingleTupleTableSlot(diff->put_slot);
	ExecDropSingleTupleTableSlot(diff->old_slot);
	ExecDropSingleTupleTableSlot(diff->aside_slot);
	MemoryContextDelete(diff->context);
}
