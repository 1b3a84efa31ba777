/*-------------------------------------------------------------------------
 *
 * refresh_change.c
 *	  What has changed since the last run of a where flow.
 *
 * The entries of the change log that the last run has not seen say which rows of the
 * sources have changed, by the columns that the flow has captured of them; and
 * whether others than the flow have changed its target.  An entry is of the table that
 * a statement has named: any of the family of a source, in which its columns may have
 * other numbers.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "captured.h"
#include "refresh_change.h"
#include "table_family.h"
#include "where_predicate.h"

/* The numbers that columns of one table have in another one of its family. */
static AttrNumber *
columns_in(Oid member, Oid relid, const Bitmapset *columns)
{
	AttrNumber *attnums = palloc((bms_num_members(columns) + 1) * sizeof(AttrNumber));
	int			attnum = 0;

	for (int i = 0; (attnum = bms_next_member(columns, attnum)) >= 0; i++)
		attnums[i] = member == relid ? (AttrNumber) attnum :
			get_attnum(member, get_attname(relid, (AttrNumber) attnum, false));
	return attnums;
}

/* Add to a set what entries say of a table, but for those of the flow itself. */
static void
add_entries(RfChangeSet *changes, Oid relid, const Bitmapset *columns, int32 flow_id,
			const RfRefreshChange *change, bool *inserts_only)
{
	List	   *members = rf_table_relatives(relid);

	for (int i = 0; i < change->nentries; i++)
	{
		const RfRow *entry = &change->entries[i];
		Oid			member = rf_row_oid(entry, "relid");
		bool		isnull;

		if (!list_member_oid(members, member) ||
			(flow_id != 0 && rf_row_int64(entry, "flow_id") == flow_id))
			continue;
		rf_changes_add_content(changes, rf_row_datum(entry, "content", &isnull),
							   columns_in(member, relid, columns));
		*inserts_only &= rf_row_bool(entry, "inserts_only");
	}
}

static RfChangeSet *
begin_changes(Oid relid, const Bitmapset *columns)
{
	Relation	table = table_open(relid, AccessShareLock);
	RfChangeSet *changes = rf_changes_begin(RelationGetDescr(table), columns);

	table_close(table, NoLock);
	return changes;
}

/* Which sources have changed, and which rows of them. */
static void
find_sources(RfRefreshChange *change, const RfSources *sources)
{
	ListCell   *cell;

	change->inserts_only = true;
	foreach(cell, sources->sources)
	{
		RfSource   *source = lfirst(cell);
		Bitmapset  *columns = rf_source_columns(source);
		RfChangedSource *changed = palloc(sizeof(RfChangedSource));

		changed->source = source;
		changed->changes = begin_changes(source->relid, columns);
		add_entries(changed->changes, source->relid, columns, 0, change, &change->inserts_only);
		if (!rf_changes_is_empty(changed->changes))
			change->sources = lappend(change->sources, changed);
	}
}

/*
 * What has changed since the last run, as the snapshot sees it.
 */
RfRefreshChange *
rf_refresh_change(const RfFlow *flow, const RfRefreshBase *base)
{
	RfRefreshChange *change = palloc0(sizeof(RfRefreshChange));

	change->nentries = rf_change_log_read(rf_refresh_tables(flow, base->sources), &base->seen,
										  &change->entries);
	find_sources(change, base->sources);
	return change;
}

/*
 * How many rows changed, as far as their values differ; -1 if that is not known.
 */
int64
rf_refresh_change_rows(const RfRefreshChange *change)
{
	int64		count = 0;
	ListCell   *cell;

	foreach(cell, change->sources)
	{
		RfChangedSource *changed = lfirst(cell);

		if (rf_changes_kind(changed->changes) != RF_CHANGES_ROWS)
			return -1;
		count += rf_changes_rows(changed->changes);
	}
	return count;
}

/*
 * Columns of the flow by which the changes of all sources can be told from each other,
 * when there are some.
 */
Bitmapset *
rf_refresh_change_groups(const RfRefreshChange *change)
{
	RfChangedSource *first = linitial(change->sources);
	Bitmapset  *groups = bms_copy(first->source->groups);
	ListCell   *cell;

	foreach(cell, change->sources)
		groups = bms_int_members(groups, ((RfChangedSource *) lfirst(cell))->source->groups);
	return groups;
}

/*
 * Why it cannot be told which rows the changes of sources affect, as a reason; NULL if
 * it can.
 */
char *
rf_refresh_change_obstacle(const RfRefreshChange *change)
{
	ListCell   *cell;

	foreach(cell, change->sources)
	{
		RfChangedSource *changed = lfirst(cell);
		char	   *name = get_rel_name(changed->source->relid);

		if (rf_changes_kind(changed->changes) == RF_CHANGES_ALL)
			return psprintf("SOURCE_DDL_OR_BULK_CHANGE: \"%s\" was emptied, or its changes were "
							"too many to be kept", name);
		if (bms_is_empty(changed->source->groups))
			return psprintf("UNSUPPORTED_QUERY_SHAPE: it cannot be told which rows a change of "
							"\"%s\" affects", name);
	}
	if (change->sources != NIL && bms_is_empty(rf_refresh_change_groups(change)))
		return "UNSUPPORTED_QUERY_SHAPE: it cannot be told which rows the changes of all "
			"tables together affect";
	return NULL;
}

/* Whether a row of the target, in a slot, is in the window. */
static bool
is_in_window(const RfFlow *flow, RfRowCondition *condition, TupleTableSlot *slot)
{
	Datum	   *values = palloc(flow->columns->natts * sizeof(Datum));
	bool	   *nulls = palloc(flow->columns->natts * sizeof(bool));

	for (int i = 0; i < flow->columns->natts; i++)
	{
		AttrNumber	attnum = rf_flow_column_attnum(flow, i);

		values[i] = slot->tts_values[attnum - 1];
		nulls[i] = slot->tts_isnull[attnum - 1];
	}
	return rf_predicate_is_true(condition, values, nulls);
}

static bool
some_in_window(const RfFlow *flow, Node *predicate, const RfChangeSet *changes)
{
	Relation	target = table_open(flow->target, NoLock);
	TupleTableSlot *slot = MakeSingleTupleTableSlot(RelationGetDescr(target), &TTSOpsVirtual);
	RfRowCondition *condition = rf_predicate_begin_rows(flow, predicate);
	int64		position = 0;
	bool		found = false;

	while (!found && rf_changes_next(changes, &position, slot))
		found = is_in_window(flow, condition, slot);
	rf_predicate_end_rows(condition);
	ExecDropSingleTupleTableSlot(slot);
	table_close(target, NoLock);
	return found;
}

/*
 * Whether others have changed rows of the target in the window, as a reason why it
 * is to be recomputed whole; NULL if nobody has.
 */
char *
rf_refresh_change_target_obstacle(const RfRefreshChange *change, const RfFlow *flow,
								  const RfRefreshBase *base, Node *predicate)
{
	Bitmapset  *columns;
	RfChangeSet *changes;
	bool		inserts_only = true;

	if (rf_table_is_unlogged(flow->target))
		return "EXTERNAL_CHANGE_IN_REPLACE_WINDOW: the target is unlogged, and a crash empties it";
	if (base->seen.target != base->target_print ||
		!rf_capture_is_complete(base->captured, flow->target, flow->owner))
		return "EXTERNAL_CHANGE_IN_REPLACE_WINDOW: the target was altered, or a part of it "
			"came, went or was emptied";
	columns = rf_predicate_target_columns(flow, predicate);
	changes = begin_changes(flow->target, columns);
	add_entries(changes, flow->target, columns, flow->id, change, &inserts_only);
	if (rf_changes_is_empty(changes) || (rf_changes_kind(changes) == RF_CHANGES_ROWS &&
										 !some_in_window(flow, predicate, changes)))
		return NULL;
	return "EXTERNAL_CHANGE_IN_REPLACE_WINDOW: rows of the target were changed by others "
		"than the flow";
}
