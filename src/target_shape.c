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
 * Columns that the flow does not give keep their values in an update, so
 * indexes on them do not matter, with one exception: a generated column
 * changes with the columns that it is made of.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/sysattr.h"
#include "access/table.h"
#include "utils/builtins.h"
#include "utils/rel.h"

#include "compat.h"
#include "target_shape.h"

/* The position of a table's column among the given ones, or -1. */
static int
position_of(TupleDesc columns, const char *name)
{
	for (int i = 0; i < columns->natts; i++)
	{
		if (namestrcmp(&TupleDescAttr(columns, i)->attname, name) == 0)
			return i;
	}
	return -1;
}

RfTargetShape
rf_target_shape(Oid target, TupleDesc columns)
{
	RfTargetShape shape = {false, NULL};
	Relation	relation = table_open(target, AccessShareLock);
	TupleDesc	desc = RelationGetDescr(relation);
	Bitmapset  *indexed;
	int			member = -1;

	/* partitions have indexes of their own: they are not looked at yet */
	shape.pairing = relation->rd_rel->relkind == RELKIND_RELATION;
	indexed = RelationGetIndexAttrBitmap(relation, RF_INDEX_ATTRS_BLOCKING_HOT);
	while ((member = bms_next_member(indexed, member)) >= 0)
	{
		AttrNumber	attnum = member + FirstLowInvalidHeapAttributeNumber;
		Form_pg_attribute attribute;
		int			position;

		/* a whole-row reference, or a system column */
		if (attnum <= 0)
		{
			shape.pairing = false;
			break;
		}
		attribute = TupleDescAttr(desc, attnum - 1);
		if (attribute->attgenerated != '\0')
			shape.pairing = false;
		position = position_of(columns, NameStr(attribute->attname));
		if (position >= 0)
			shape.pair_columns = bms_add_member(shape.pair_columns, position);
	}
	/* rows that agree in everything are identical: nothing is left to set */
	if (bms_num_members(shape.pair_columns) == columns->natts)
		shape.pairing = false;
	table_close(relation, NoLock);
	return shape;
}
