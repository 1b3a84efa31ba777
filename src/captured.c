/*-------------------------------------------------------------------------
 *
 * captured.c
 *	  The tables whose changes are captured, and for which flows.
 *
 * A where flow names tables and their columns: what its query reads, and its
 * target.  The catalog keeps that ("captured").  Triggers note what changes in the
 * whole family of each of them: the parts of a table hold its rows, and through the
 * tables that it is a part of its rows come too.  Where a family cannot have all
 * triggers, since some member is of another kind or the flow's owner has no right
 * to it, capture is not complete, and who relies on it asks for that.
 *
 * A flow that comes to need a table, or more columns of it, locks its family
 * against writers before it says so: whatever is written after that is captured
 * so.  To need less takes no lock.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "storage/lmgr.h"
#include "utils/array.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"

#include "attempt.h"
#include "captured.h"
#include "captured_columns.h"
#include "flow_catalog.h"
#include "table_family.h"
#include "table_trigger.h"

/*
 * The tables that get triggers for the sake of one that a flow of this role reads or
 * writes.  On one with foreign parts they would make statements fail.
 */
static List *
family(Oid relid, Oid owner)
{
	List	   *tables = NIL;
	ListCell   *cell;

	if (!rf_table_may_be_watched(relid, owner))
		return NIL;
	foreach(cell, rf_table_to_watch(relid, owner))
	{
		if (!rf_table_has_foreign_parts(lfirst_oid(cell)))
			tables = lappend_oid(tables, lfirst_oid(cell));
	}
	return tables;
}

/*
 * All tables that need triggers to capture changes; some of them more than once.
 */
List *
rf_captured_families(void)
{
	List	   *tables = NIL;
	RfRow	   *rows;
	int			nrows = rf_catalog_captured(&rows);

	for (int i = 0; i < nrows; i++)
		tables = list_concat(tables, family(rf_row_oid(&rows[i], "relid"),
											rf_row_oid(&rows[i], "owner")));
	return tables;
}

static void
lock_family(Oid relid, Oid owner)
{
	ListCell   *cell;

	foreach(cell, family(relid, owner))
		LockRelationOid(lfirst_oid(cell), ShareRowExclusiveLock);
}

/*
 * Lock the families of those of some relations that can be captured for a flow of
 * this role, as rf_captured_place() would; by OID, as everybody does.
 */
void
rf_captured_lock(List *relids, Oid owner)
{
	List	   *sorted = list_copy(relids);
	ListCell   *cell;

	list_sort(sorted, list_oid_cmp);
	foreach(cell, sorted)
		lock_family(lfirst_oid(cell), owner);
}

static bool
lock_family_if_free(Oid relid, Oid owner)
{
	ListCell   *cell;

	foreach(cell, family(relid, owner))
	{
		if (!ConditionalLockRelationOid(lfirst_oid(cell), ShareRowExclusiveLock))
			return false;
	}
	return true;
}

/*
 * Let all sessions look anew at what is captured of a table, its parts and what it
 * is a part of, when this transaction is committed, and this session now.
 */
void
rf_captured_look_anew(Oid relid)
{
	ListCell   *cell;

	if (get_rel_relkind(relid) == '\0')
		return;
	foreach(cell, rf_table_relatives(relid))
	{
		if (get_rel_relkind(lfirst_oid(cell)) != '\0')
			CacheInvalidateRelcacheByRelid(lfirst_oid(cell));
	}

	/*
	 * no subtransaction may come before that is done, as when more triggers
	 * are placed
	 */
	CommandEndInvalidationMessages();
}

/*
 * What is captured for a flow now: RfCapturedTable.
 */
List *
rf_captured_for(int32 flow_id)
{
	List	   *tables = NIL;
	RfRow	   *rows;
	int			nrows = rf_catalog_captured_for(flow_id, &rows);

	for (int i = 0; i < nrows; i++)
	{
		RfCapturedTable *table = palloc(sizeof(RfCapturedTable));
		bool		isnull;

		table->relid = rf_row_oid(&rows[i], "relid");
		table->columns = rf_captured_columns_of_array(rf_row_datum(&rows[i], "columns", &isnull));
		tables = lappend(tables, table);
	}
	return tables;
}

static RfCapturedTable *
find(List *tables, Oid relid)
{
	ListCell   *cell;

	foreach(cell, tables)
	{
		RfCapturedTable *table = lfirst(cell);

		if (table->relid == relid)
			return table;
	}
	return NULL;
}

static Datum
array_of_columns(const Bitmapset *columns)
{
	Datum	   *values = palloc(bms_num_members(columns) * sizeof(Datum));
	int			count = 0;
	int			attnum = -1;

	while ((attnum = bms_next_member(columns, attnum)) >= 0)
		values[count++] = Int16GetDatum((int16) attnum);
	return PointerGetDatum(construct_array(values, count, INT2OID, sizeof(int16), true,
										   TYPALIGN_SHORT));
}

/* A family that is to have triggers. */
typedef struct RfPlacing
{
	Oid			relid;
	Oid			owner;
} RfPlacing;

static void
place_triggers(void *arg)
{
	RfPlacing  *placing = arg;
	ListCell   *cell;

	foreach(cell, family(placing->relid, placing->owner))
		rf_triggers_place(lfirst_oid(cell), RF_CAPTURED);
}

static bool
has_triggers(Oid relid, Oid owner)
{
	ListCell   *cell;

	foreach(cell, family(relid, owner))
	{
		if (!rf_triggers_are_there(lfirst_oid(cell), RF_CAPTURED))
			return false;
	}
	return true;
}

/* Lock a family and give it triggers; false if that is not possible at once. */
static bool
prepare_family(Oid relid, Oid owner, bool wait)
{
	RfPlacing	placing = {relid, owner};

	if (wait)
		lock_family(relid, owner);
	else if (!lock_family_if_free(relid, owner))
		return false;
	if (has_triggers(relid, owner))
		return true;
	if (!wait)
		return rf_attempt(place_triggers, &placing) == NULL;
	place_triggers(&placing);
	return true;
}

static void
release(int32 flow_id, Oid relid)
{
	rf_catalog_release(flow_id, relid);
	rf_captured_look_anew(relid);
}

/* Capture this of a table; "before" is what is captured of it already, or NULL. */
static bool
place(const RfFlow *flow, const RfCapturedTable *table, const RfCapturedTable *before, bool wait)
{
	bool		wants_more = before == NULL || !bms_is_subset(table->columns, before->columns);

	if (!rf_table_may_be_watched(table->relid, flow->owner))
	{
		if (before != NULL)
			release(flow->id, table->relid);
		return false;
	}
	if ((wants_more || !has_triggers(table->relid, flow->owner)) &&
		!prepare_family(table->relid, flow->owner, wait))
		return false;
	if (before == NULL || !bms_equal(table->columns, before->columns))
	{
		rf_catalog_capture(flow->id, table->relid, array_of_columns(table->columns));
		rf_captured_look_anew(table->relid);
	}
	return true;
}

static int
compare_tables(const ListCell *a, const ListCell *b)
{
	Oid			relid_a = ((RfCapturedTable *) lfirst(a))->relid;
	Oid			relid_b = ((RfCapturedTable *) lfirst(b))->relid;

	return relid_a < relid_b ? -1 : relid_a > relid_b;
}

/*
 * Capture for a flow this of these tables (RfCapturedTable), and nothing else.  The
 * caller holds the lock on the flow, or has just made it.
 *
 * With "wait" who writes one of them is waited for; without, such a table is left
 * as it is, if it is new to the flow or lacks a trigger.  So is one whose owner has
 * not given the flow's owner the right to make triggers.  If there are such, the
 * result is false.
 */
bool
rf_captured_place(const RfFlow *flow, List *tables, bool wait)
{
	List	   *before = rf_captured_for(flow->id);
	bool		all = true;
	ListCell   *cell;

	list_sort(tables, compare_tables);
	foreach(cell, before)
	{
		Oid			relid = ((RfCapturedTable *) lfirst(cell))->relid;

		if (find(tables, relid) == NULL)
			release(flow->id, relid);
	}
	foreach(cell, tables)
	{
		RfCapturedTable *table = lfirst(cell);

		all &= place(flow, table, find(before, table->relid), wait);
	}
	return all;
}

/*
 * Whether all that a flow wants of these tables is among what is captured.  The same
 * may be captured for others.  That does not count: the owner of the flow may have no
 * right to it, or lose it, and who else wants it may have it no more.
 */
bool
rf_captured_covers(List *captured, List *wanted)
{
	ListCell   *cell;

	foreach(cell, wanted)
	{
		RfCapturedTable *table = lfirst(cell);
		RfCapturedTable *found = find(captured, table->relid);

		if (found == NULL || !bms_is_subset(table->columns, found->columns))
			return false;
	}
	return true;
}

/*
 * Whether all that happens to a table is captured for a flow of this role, of which
 * that is captured: the role may know it, each member of the table's family has its
 * triggers, and none of them was disabled.
 */
bool
rf_capture_is_complete(List *captured, Oid relid, Oid owner)
{
	ListCell   *cell;

	if (find(captured, relid) == NULL || !rf_table_may_be_watched(relid, owner))
		return false;
	foreach(cell, rf_table_relatives(relid))
	{
		if (!rf_table_can_have_triggers(lfirst_oid(cell)) ||
			!rf_triggers_fire(lfirst_oid(cell), RF_CAPTURED))
			return false;
	}
	return true;
}

/*
 * Capture nothing for a flow any more.  Triggers go when tables are settled.
 */
void
rf_captured_forget(int32 flow_id)
{
	ListCell   *cell;

	foreach(cell, rf_captured_for(flow_id))
		release(flow_id, ((RfCapturedTable *) lfirst(cell))->relid);
}
