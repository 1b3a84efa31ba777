/*-------------------------------------------------------------------------
 *
 * target_shape.c
 *	  What a target's indexes mean for updates in place.
 *
 * An old and a new row may become one update when they agree in all columns
 * that any index uses.  Two reasons: such an update can be a heap-only one,
 * which writes no index entry, while any other costs more than a delete and an
 * insert; and no unique index or exclusion constraint, which are checked row
 * by row in the middle of the statement, can see a clash with a row that is
 * still to change.
 *
 * A column that the flow does not give keeps its value in an update.  That is
 * right only if the two rows are the same thing to the user, which a unique
 * index on given columns says; else a surrogate key would wander from one
 * thing to another.  And a generated column changes with the columns that it
 * is made of, so an index on one rules updates out.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/sysattr.h"
#include "access/table.h"
#include "utils/builtins.h"
#include "utils/rel.h"

#include "compat.h"
#include "target_shape.h"

/* The position of a table's column among the given ones, or -1. */
static int
position_of(TupleDesc columns, Form_pg_attribute attribute)
{
	for (int i = 0; i < columns->natts; i++)
	{
		if (namestrcmp(&TupleDescAttr(columns, i)->attname, NameStr(attribute->attname)) == 0)
			return i;
	}
	return -1;
}

/* Whether the flow gives all columns that can be given. */
static bool
gives_every_column(TupleDesc desc, TupleDesc columns)
{
	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute attribute = TupleDescAttr(desc, i);

		if (!attribute->attisdropped && attribute->attgenerated == '\0' &&
			position_of(columns, attribute) < 0)
			return false;
	}
	return true;
}

/* Whether an index makes rows unique by columns that the flow gives. */
static bool
is_natural_key(Relation index, TupleDesc desc, TupleDesc columns)
{
	Form_pg_index form = index->rd_index;

	if (!form->indisunique || !form->indisvalid ||
		!heap_attisnull(index->rd_indextuple, Anum_pg_index_indpred, NULL))
		return false;
	for (int i = 0; i < form->indnkeyatts; i++)
	{
		AttrNumber	attnum = form->indkey.values[i];

		if (attnum <= 0 || position_of(columns, TupleDescAttr(desc, attnum - 1)) < 0)
			return false;
	}
	return true;
}

static bool
has_natural_key(Relation table, TupleDesc columns)
{
	bool		found = false;
	ListCell   *cell;

	foreach(cell, RelationGetIndexList(table))
	{
		Relation	index = index_open(lfirst_oid(cell), AccessShareLock);

		found = found || is_natural_key(index, RelationGetDescr(table), columns);
		index_close(index, NoLock);
	}
	return found;
}

/*
 * Add the given columns that indexes use to the pair columns; false when an
 * index uses something that an update could change unseen.
 */
static bool
collect_indexed(Relation table, TupleDesc columns, Bitmapset **pair_columns)
{
	Bitmapset  *indexed = RelationGetIndexAttrBitmap(table, RF_INDEX_ATTRS_BLOCKING_HOT);
	int			member = -1;

	while ((member = bms_next_member(indexed, member)) >= 0)
	{
		AttrNumber	attnum = member + FirstLowInvalidHeapAttributeNumber;
		Form_pg_attribute attribute;
		int			position;

		/* a whole-row reference, or a system column */
		if (attnum <= 0)
			return false;
		attribute = TupleDescAttr(RelationGetDescr(table), attnum - 1);
		if (attribute->attgenerated != '\0')
			return false;
		position = position_of(columns, attribute);
		if (position >= 0)
			*pair_columns = bms_add_member(*pair_columns, position);
	}
	return true;
}

RfTargetShape
rf_target_shape(Oid target, TupleDesc columns)
{
	RfTargetShape shape = {false, NULL};
	Relation	table = table_open(target, AccessShareLock);

	/* partitions have indexes of their own: they are not looked at yet */
	shape.pairing = table->rd_rel->relkind == RELKIND_RELATION &&
		(gives_every_column(RelationGetDescr(table), columns) ||
		 has_natural_key(table, columns)) &&
		collect_indexed(table, columns, &shape.pair_columns) &&
	/* rows that agree in everything are identical: nothing is left to set */
		bms_num_members(shape.pair_columns) < columns->natts;
	table_close(table, NoLock);
	return shape;
}
