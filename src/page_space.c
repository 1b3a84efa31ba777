/*-------------------------------------------------------------------------
 *
 * page_space.c
 *	  Room for new row versions beside the old ones.
 *
 * An update of a row whose indexed columns stay writes no index entry if the
 * new version fits into the page of the old one, and else costs more than a
 * delete and an insert of the same rows.  So where a row may be written either
 * way, the room in its page decides.
 *
 * Rows to be updated mostly come page by page, so the room left in the last
 * page is kept in mind; each row that is to go there takes its part of it.
 * The answer is a guess, good or bad for speed only.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "storage/bufmgr.h"
#include "storage/bufpage.h"
#include "utils/rel.h"

#include "page_space.h"

struct RfPageSpace
{
	Relation	table;
	TupleDesc	columns;		/* all of the table's */
	BlockNumber block;			/* the page looked at last */
	Size		left;			/* room in it that no row has taken */
};

/*
 * Begin to hand out room in the pages of a heap.
 */
RfPageSpace *
rf_space_begin(Oid relid, TupleDesc columns)
{
	RfPageSpace *space = palloc(sizeof(RfPageSpace));

	space->table = table_open(relid, AccessShareLock);
	space->columns = columns;
	space->block = InvalidBlockNumber;
	space->left = 0;
	return space;
}

static Size
room_in_page(Relation table, BlockNumber block)
{
	Buffer		buffer = ReadBuffer(table, block);
	Size		room;

	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	room = PageGetHeapFreeSpace(BufferGetPage(buffer));
	UnlockReleaseBuffer(buffer);
	return room;
}

static Size
tuple_size(TupleDesc columns, Datum *values, bool *nulls)
{
	return MAXALIGN(MAXALIGN(SizeofHeapTupleHeader + BITMAPLEN(columns->natts)) +
					heap_compute_data_size(columns, values, nulls)) + sizeof(ItemIdData);
}

/*
 * Take room for a new version of the row at ctid; false when there is none.
 */
bool
rf_space_take(RfPageSpace *space, const ItemPointerData *ctid,
			  Datum *values, bool *nulls)
{
	BlockNumber block = ItemPointerGetBlockNumber(ctid);
	Size		size = tuple_size(space->columns, values, nulls);

	if (block != space->block)
	{
		space->block = block;
		space->left = room_in_page(space->table, block);
	}
	if (size > space->left)
		return false;
	space->left -= size;
	return true;
}

void
rf_space_end(RfPageSpace *space)
{
	table_close(space->table, NoLock);
	pfree(space);
}
