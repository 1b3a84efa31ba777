/*-------------------------------------------------------------------------
 *
 * change_set.c
 *	  The rows of a table that changed, as far as flows want to know.
 *
 * Of changed rows, old and new, only the values of some columns matter, those
 * that tell which output rows can have changed; and of these values each
 * combination once.  A set keeps them until they become too many.  Then it keeps
 * only between which values those of countable types lie: whoever loads a
 * hundred thousand rows loads them into some days.
 *
 * Values are compared as they are stored, byte by byte: so no code of a type
 * runs while rows are collected.
 *
 * A set is written as bytes for the change log (rf_changes_content):
 *
 *		kind, number of columns;
 *		for each column its number, its type, and its range;
 *		for each row its length and a minimal tuple of these columns.
 *
 * They never leave the database; so bytes are in the order of the machine.  A column,
 * and then its type, may have been dropped since they were written.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/detoast.h"
#include "access/htup_details.h"
#include "common/hashfn.h"
#include "lib/stringinfo.h"
#include "utils/memutils.h"
#include "utils/syscache.h"

#include "change_set.h"
#include "compat.h"
#include "discrete_type.h"

/* Rows that a set keeps at most, and bytes of them. */
#define MAX_ROWS 10000
#define MAX_BYTES (1024 * 1024)

typedef struct RfChangedRow
{
	MinimalTuple tuple;
	uint32		hash;
	char		status;
} RfChangedRow;

static uint32 hash_row(MinimalTuple tuple);
static bool rows_are_same(MinimalTuple one, MinimalTuple other);

#define SH_PREFIX rowset
#define SH_ELEMENT_TYPE RfChangedRow
#define SH_KEY_TYPE MinimalTuple
#define SH_KEY tuple
#define SH_HASH_KEY(table, key) hash_row(key)
#define SH_EQUAL(table, a, b) rows_are_same(a, b)
#define SH_STORE_HASH
#define SH_GET_HASH(table, entry) (entry)->hash
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

struct RfChangeSet
{
	MemoryContext context;
	MemoryContext row_context;
	RfChangesKind kind;
	bool		empty;
	int			ncolumns;
	AttrNumber *attnums;		/* of the table */
	TupleDesc	desc;			/* these columns */
	RfChangedRange *ranges;
	rowset_hash *rows;			/* while they are kept */
	Size		bytes;
	Datum	   *values;
	bool	   *nulls;
};

static uint32
hash_row(MinimalTuple tuple)
{
	return hash_bytes((const unsigned char *) tuple + offsetof(MinimalTupleData, t_infomask2),
					  (int) (tuple->t_len - offsetof(MinimalTupleData, t_infomask2)));
}

static bool
rows_are_same(MinimalTuple one, MinimalTuple other)
{
	return one->t_len == other->t_len && memcmp(one, other, one->t_len) == 0;
}

/*
 * Begin a set for a table, of which these columns matter.  0 is none of them.
 */
RfChangeSet *
rf_changes_begin(TupleDesc desc, const Bitmapset *columns)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "replace_flow changes",
												  ALLOCSET_SMALL_SIZES);
	MemoryContext caller = MemoryContextSwitchTo(context);
	RfChangeSet *changes = palloc0(sizeof(RfChangeSet));
	int			attnum = 0;

	changes->context = context;
	changes->row_context = AllocSetContextCreate(context, "replace_flow changed row",
												 ALLOCSET_SMALL_SIZES);
	changes->empty = true;
	changes->ncolumns = bms_num_members(columns) - bms_is_member(0, columns);
	changes->attnums = palloc(changes->ncolumns * sizeof(AttrNumber));
	changes->desc = CreateTemplateTupleDesc(changes->ncolumns);
	changes->ranges = palloc0(changes->ncolumns * sizeof(RfChangedRange));
	changes->values = palloc(changes->ncolumns * sizeof(Datum));
	changes->nulls = palloc(changes->ncolumns * sizeof(bool));
	for (int i = 0; i < changes->ncolumns; i++)
	{
		attnum = bms_next_member(columns, attnum);
		changes->attnums[i] = (AttrNumber) attnum;
		TupleDescCopyEntry(changes->desc, i + 1, desc, (AttrNumber) attnum);
		changes->ranges[i].bounded = rf_discrete_is(TupleDescAttr(changes->desc, i)->atttypid);
		changes->ranges[i].low = PG_INT64_MAX;
		changes->ranges[i].high = PG_INT64_MIN;
	}
	changes->rows = rowset_create(context, 16, NULL);
	MemoryContextSwitchTo(caller);
	return changes;
}

static void
extend(RfChangedRange *range, int64 low, int64 high)
{
	range->low = Min(range->low, low);
	range->high = Max(range->high, high);
}

static void
extend_ranges(RfChangeSet *changes)
{
	for (int i = 0; i < changes->ncolumns; i++)
	{
		RfChangedRange *range = &changes->ranges[i];

		if (changes->nulls[i])
			range->has_null = true;
		else if (range->bounded)
		{
			int64		number = rf_discrete_number(TupleDescAttr(changes->desc, i)->atttypid,
													changes->values[i]);

			extend(range, number, number);
		}
	}
}

/* From now on only the ranges are kept. */
static void
forget_rows(RfChangeSet *changes)
{
	changes->kind = Max(changes->kind, RF_CHANGES_RANGE);
	changes->rows = NULL;
}

/* Keep a row that is not there yet. */
static void
keep_row(RfChangeSet *changes, MinimalTuple tuple)
{
	bool		found;
	RfChangedRow *row = rowset_insert(changes->rows, tuple, &found);

	if (found)
		return;
	row->tuple = MemoryContextAlloc(changes->context, tuple->t_len);
	memcpy(row->tuple, tuple, tuple->t_len);
	changes->bytes += MAXALIGN(tuple->t_len);
	if (changes->rows->members > MAX_ROWS || changes->bytes > MAX_BYTES)
		forget_rows(changes);
}

/* Whether the set's values alone are more than is kept. */
static bool
are_too_large(const RfChangeSet *changes)
{
	Size		size = 0;

	for (int i = 0; i < changes->ncolumns; i++)
	{
		if (!changes->nulls[i] && TupleDescAttr(changes->desc, i)->attlen == -1)
			size += toast_raw_datum_size(changes->values[i]);
	}
	return size > MAX_BYTES;
}

/* Values as a tuple: none of them stored elsewhere, since that would not stay. */
static MinimalTuple
form_row(RfChangeSet *changes)
{
	for (int i = 0; i < changes->ncolumns; i++)
	{
		if (!changes->nulls[i] && TupleDescAttr(changes->desc, i)->attlen == -1)
			changes->values[i] = PointerGetDatum(detoast_attr((struct varlena *)
															  DatumGetPointer(changes->values[i])));
	}
	return rf_form_minimal_tuple(changes->desc, changes->values, changes->nulls);
}

/* The set's values, as they are in its arrays. */
static void
add_values(RfChangeSet *changes)
{
	MemoryContext caller;

	changes->empty = false;
	if (changes->kind == RF_CHANGES_ALL)
		return;
	extend_ranges(changes);
	if (changes->kind == RF_CHANGES_ROWS && are_too_large(changes))
		forget_rows(changes);
	if (changes->kind != RF_CHANGES_ROWS)
		return;
	caller = MemoryContextSwitchTo(changes->row_context);
	keep_row(changes, form_row(changes));
	MemoryContextSwitchTo(caller);
	MemoryContextReset(changes->row_context);
}

/*
 * Add a row of the table.
 */
void
rf_changes_add_row(RfChangeSet *changes, TupleTableSlot *slot)
{
	if (changes->kind != RF_CHANGES_ALL)
	{
		for (int i = 0; i < changes->ncolumns; i++)
			changes->values[i] = slot_getattr(slot, changes->attnums[i], &changes->nulls[i]);
	}
	add_values(changes);
}

/*
 * Nothing is known of the rows that changed.
 */
void
rf_changes_add_all(RfChangeSet *changes)
{
	changes->empty = false;
	forget_rows(changes);
	changes->kind = RF_CHANGES_ALL;
}

/* What the bytes of a set begin with, and what they have of each column. */
typedef struct RfContentHead
{
	int32		kind;
	int32		ncolumns;
} RfContentHead;

typedef struct RfContentColumn
{
	int32		attnum;
	Oid			type;
	RfChangedRange range;
} RfContentColumn;

/* Bytes that are being read. */
typedef struct RfReader
{
	const char *next;
	const char *end;
} RfReader;

static void
read_bytes(RfReader *reader, void *bytes, Size length)
{
	if ((Size) (reader->end - reader->next) < length)
		elog(ERROR, "unexpected end of an entry of the change log");
	memcpy(bytes, reader->next, length);
	reader->next += length;
}

/*
 * The set as bytes.
 */
bytea *
rf_changes_content(const RfChangeSet *changes)
{
	StringInfoData buffer;
	RfContentHead head = {
		(int32) changes->kind, changes->kind == RF_CHANGES_ALL ? 0 : changes->ncolumns
	};

	initStringInfo(&buffer);
	appendStringInfoSpaces(&buffer, VARHDRSZ);
	appendBinaryStringInfo(&buffer, (const char *) &head, sizeof(head));
	for (int i = 0; i < head.ncolumns; i++)
	{
		RfContentColumn column;

		memset(&column, 0, sizeof(column));
		column.attnum = changes->attnums[i];
		column.type = TupleDescAttr(changes->desc, i)->atttypid;
		column.range = changes->ranges[i];
		appendBinaryStringInfo(&buffer, (const char *) &column, sizeof(column));
	}
	if (changes->kind == RF_CHANGES_ROWS)
	{
		rowset_iterator iterator;
		RfChangedRow *row;

		rowset_start_iterate(changes->rows, &iterator);
		while ((row = rowset_iterate(changes->rows, &iterator)) != NULL)
			appendBinaryStringInfo(&buffer, (const char *) row->tuple, (int) row->tuple->t_len);
	}
	SET_VARSIZE(buffer.data, buffer.len);
	return (bytea *) buffer.data;
}

/* Where each of the set's columns is among those that were written, or false. */
static bool
match_columns(const RfChangeSet *changes, const RfContentColumn *columns, int ncolumns,
			  const AttrNumber *attnums, int *positions)
{
	for (int i = 0; i < changes->ncolumns; i++)
	{
		positions[i] = -1;
		for (int j = 0; j < ncolumns; j++)
		{
			if (columns[j].attnum == attnums[i] &&
				columns[j].type == TupleDescAttr(changes->desc, i)->atttypid)
				positions[i] = j;
		}
		if (positions[i] < 0)
			return false;
	}
	return true;
}

static void
add_written_ranges(RfChangeSet *changes, const RfContentColumn *columns, const int *positions)
{
	for (int i = 0; i < changes->ncolumns; i++)
	{
		const RfChangedRange *range = &columns[positions[i]].range;

		extend(&changes->ranges[i], range->low, range->high);
		changes->ranges[i].bounded &= range->bounded;
		changes->ranges[i].has_null |= range->has_null;
	}
}

/* Whether the types of all columns that were written are there, of those dropped as well. */
static bool
types_exist(const RfContentColumn *columns, int ncolumns)
{
	for (int j = 0; j < ncolumns; j++)
	{
		if (!SearchSysCacheExists1(TYPEOID, ObjectIdGetDatum(columns[j].type)))
			return false;
	}
	return true;
}

static TupleDesc
describe_written(const RfContentColumn *columns, int ncolumns)
{
	TupleDesc	desc = CreateTemplateTupleDesc(ncolumns);

	for (int j = 0; j < ncolumns; j++)
		TupleDescInitEntry(desc, (AttrNumber) (j + 1), NULL, columns[j].type, -1, 0);
	return desc;
}

static void
add_written_rows(RfChangeSet *changes, RfReader *reader, TupleDesc desc, const int *positions)
{
	Datum	   *values = palloc(desc->natts * sizeof(Datum));
	bool	   *nulls = palloc(desc->natts * sizeof(bool));

	while (reader->next < reader->end && changes->kind != RF_CHANGES_ALL)
	{
		uint32		length;
		MinimalTuple tuple;
		HeapTupleData heap_tuple;

		read_bytes(reader, &length, sizeof(length));
		reader->next -= sizeof(length);
		tuple = palloc(length);
		read_bytes(reader, tuple, length);
		heap_tuple.t_len = tuple->t_len + MINIMAL_TUPLE_OFFSET;
		heap_tuple.t_data = (HeapTupleHeader) ((char *) tuple - MINIMAL_TUPLE_OFFSET);
		heap_deform_tuple(&heap_tuple, desc, values, nulls);
		for (int i = 0; i < changes->ncolumns; i++)
		{
			changes->values[i] = values[positions[i]];
			changes->nulls[i] = nulls[positions[i]];
		}
		add_values(changes);
		pfree(tuple);
	}
}

static void
add_columns(RfChangeSet *changes, RfReader *reader, const RfContentHead *head,
			const AttrNumber *attnums)
{
	RfContentColumn *columns = palloc(head->ncolumns * sizeof(RfContentColumn));
	int		   *positions = palloc(changes->ncolumns * sizeof(int));

	read_bytes(reader, columns, head->ncolumns * sizeof(RfContentColumn));
	if (!match_columns(changes, columns, head->ncolumns, attnums, positions) ||
		!types_exist(columns, head->ncolumns))
		rf_changes_add_all(changes);
	else if (head->kind == RF_CHANGES_ROWS)
		add_written_rows(changes, reader, describe_written(columns, head->ncolumns), positions);
	else
	{
		changes->empty = false;
		forget_rows(changes);
		add_written_ranges(changes, columns, positions);
	}
}

/*
 * Add what was written of another set, as a bytea, in which the columns of this one
 * have these numbers.
 */
void
rf_changes_add_content(RfChangeSet *changes, Datum written, const AttrNumber *attnums)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "replace_flow content",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext caller = MemoryContextSwitchTo(context);
	bytea	   *content = DatumGetByteaPP(written);
	RfReader	reader = {VARDATA_ANY(content), VARDATA_ANY(content) + VARSIZE_ANY_EXHDR(content)};
	RfContentHead head;

	read_bytes(&reader, &head, sizeof(head));
	if (head.kind == RF_CHANGES_ALL)
		rf_changes_add_all(changes);
	else
		add_columns(changes, &reader, &head, attnums);
	MemoryContextSwitchTo(caller);
	MemoryContextDelete(context);
}

RfChangesKind
rf_changes_kind(const RfChangeSet *changes)
{
	return changes->kind;
}

bool
rf_changes_is_empty(const RfChangeSet *changes)
{
	return changes->empty;
}

/*
 * How many combinations of values there are, if rows are kept.
 */
int64
rf_changes_rows(const RfChangeSet *changes)
{
	return changes->kind == RF_CHANGES_ROWS ? changes->rows->members : 0;
}

static int
position_of(const RfChangeSet *changes, AttrNumber attnum)
{
	for (int i = 0; i < changes->ncolumns; i++)
	{
		if (changes->attnums[i] == attnum)
			return i;
	}
	return -1;
}

/*
 * Between which values those of a column lie.
 */
RfChangedRange
rf_changes_range(const RfChangeSet *changes, AttrNumber attnum)
{
	static const RfChangedRange any = {.bounded = false, .has_null = true};

	if (changes->kind == RF_CHANGES_ALL)
		return any;
	return changes->ranges[position_of(changes, attnum)];
}

/*
 * Put the next row into a slot of the table, where all other columns are NULL;
 * false when there is none.  The position is zero at first.
 */
bool
rf_changes_next(const RfChangeSet *changes, int64 *position, TupleTableSlot *slot)
{
	while ((uint64) *position < changes->rows->size)
	{
		RfChangedRow *row = &changes->rows->data[(*position)++];
		HeapTupleData tuple;

		if (row->status != rowset_SH_IN_USE)
			continue;
		tuple.t_len = row->tuple->t_len + MINIMAL_TUPLE_OFFSET;
		tuple.t_data = (HeapTupleHeader) ((char *) row->tuple - MINIMAL_TUPLE_OFFSET);
		heap_deform_tuple(&tuple, changes->desc, changes->values, changes->nulls);
		ExecClearTuple(slot);
		memset(slot->tts_isnull, true, slot->tts_tupleDescriptor->natts * sizeof(bool));
		for (int i = 0; i < changes->ncolumns; i++)
		{
			slot->tts_values[changes->attnums[i] - 1] = changes->values[i];
			slot->tts_isnull[changes->attnums[i] - 1] = changes->nulls[i];
		}
		ExecStoreVirtualTuple(slot);
		return true;
	}
	return false;
}

void
rf_changes_end(RfChangeSet *changes)
{
	MemoryContextDelete(changes->context);
}
