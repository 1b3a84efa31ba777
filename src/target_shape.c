/*-------------------------------------------------------------------------
 *
 * target_shape.c
 *	  What a target's indexes mean for reading and writing it.
 *
 * An index serves the key when its first columns are the key columns, in
 * whatever order: then the rows of a key are found without reading the table.
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
 * Where nobody can tell an update from a delete and an insert (all columns are
 * given, no trigger looks on), the cheaper one is chosen; see page_space.c.
 *
 * A target that other tables reference is different: rows that agree in the
 * referenced columns become updates, whatever they cost, since a delete would
 * take the referencing rows along or be refused.  They agree as the foreign
 * key compares.  If the flow does not give these columns (a surrogate key),
 * rows keep them that agree in a unique key that it gives.  Foreign keys that
 * only check (NO ACTION) see the whole change at once, so for their sake no
 * row is updated that would risk a clash in another unique index.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/stratnum.h"
#include "access/htup_details.h"
#include "access/sysattr.h"
#include "access/table.h"
#include "access/tableam.h"
#include "catalog/pg_am.h"
#include "catalog/pg_inherits.h"
#include "optimizer/optimizer.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/typcache.h"

#include "compat.h"
#include "foreign_key.h"
#include "partition_key.h"
#include "target_shape.h"

static bool
is_key(AttrNumber attnum, int nkeys, const AttrNumber *keys)
{
	for (int i = 0; i < nkeys; i++)
	{
		if (keys[i] == attnum)
			return true;
	}
	return false;
}

/* Whether an index column compares values as the type and collation do. */
static bool
index_compares_like(Relation index, int position, Form_pg_attribute attribute)
{
	Oid			equal = lookup_type_cache(attribute->atttypid, TYPECACHE_EQ_OPR)->eq_opr;

	return index->rd_indcollation[position] == attribute->attcollation &&
		get_op_opfamily_strategy(equal, index->rd_opfamily[position]) == BTEqualStrategyNumber;
}

/* What an index is asked for. */
typedef bool (*RfIndexTest) (Relation table, Relation index, const void *arg);

/* The first of a table's indexes that passes a test, or InvalidOid. */
static Oid
find_index(Relation table, RfIndexTest test, const void *arg)
{
	List	   *indexes = RelationGetIndexList(table);
	Oid			found = InvalidOid;
	ListCell   *cell;

	foreach(cell, indexes)
	{
		Relation	index = index_open(lfirst_oid(cell), AccessShareLock);

		if (test(table, index, arg))
			found = lfirst_oid(cell);
		index_close(index, NoLock);
		if (OidIsValid(found))
			break;
	}
	list_free(indexes);
	return found;
}

typedef struct RfKeyColumns
{
	int			nkeys;
	const AttrNumber *keys;
} RfKeyColumns;

/* Whether the index begins with the key columns, in whatever order. */
static bool
index_serves_key(Relation table, Relation index, const void *arg)
{
	const RfKeyColumns *key = arg;
	bool		serves = index->rd_rel->relam == BTREE_AM_OID &&
		index->rd_index->indisvalid &&
		index->rd_index->indnkeyatts >= key->nkeys &&
		heap_attisnull(index->rd_indextuple, Anum_pg_index_indpred, NULL);

	for (int i = 0; serves && i < key->nkeys; i++)
	{
		AttrNumber	attnum = index->rd_index->indkey.values[i];

		serves = is_key(attnum, key->nkeys, key->keys) &&
			index_compares_like(index, i, TupleDescAttr(RelationGetDescr(table), attnum - 1));
	}
	return serves;
}

bool
rf_has_key_index(Oid relid, int nkeys, const AttrNumber *keys)
{
	Relation	table = table_open(relid, AccessShareLock);
	RfKeyColumns key = {nkeys, keys};
	bool		found = OidIsValid(find_index(table, index_serves_key, &key));

	table_close(table, NoLock);
	return found;
}

/*
 * About how many rows a table has.
 */
double
rf_table_rows(Oid relid)
{
	double		total = 0;
	ListCell   *cell;

	foreach(cell, find_all_inheritors(relid, AccessShareLock, NULL))
	{
		Relation	part = table_open(lfirst_oid(cell), NoLock);
		BlockNumber pages;
		double		rows;
		double		all_visible;

		if (RELKIND_HAS_TABLE_AM(part->rd_rel->relkind))
		{
			table_relation_estimate_size(part, NULL, &pages, &rows, &all_visible);
			total += rows;
		}
		table_close(part, NoLock);
	}
	return total;
}

/* The position of a name among those of columns, or -1. */
static int
position_of(TupleDesc columns, const char *name)
{
	for (int i = 0; i < columns->natts; i++)
	{
		if (strcmp(NameStr(TupleDescAttr(columns, i)->attname), name) == 0)
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
			position_of(columns, NameStr(attribute->attname)) < 0)
			return false;
	}
	return true;
}

/* Whether an index makes rows unique by columns that the flow gives. */
static bool
is_natural_key(Relation table, Relation index, const void *arg)
{
	TupleDesc	desc = RelationGetDescr(table);
	TupleDesc	columns = (TupleDesc) arg;
	Form_pg_index form = index->rd_index;

	if (!form->indisunique || !form->indisvalid ||
		!heap_attisnull(index->rd_indextuple, Anum_pg_index_indpred, NULL))
		return false;
	for (int i = 0; i < form->indnkeyatts; i++)
	{
		AttrNumber	attnum = form->indkey.values[i];

		if (attnum <= 0 ||
			position_of(columns, NameStr(TupleDescAttr(desc, attnum - 1)->attname)) < 0)
			return false;
		/* rows with NULLs need not be unique */
		if (!TupleDescAttr(desc, attnum - 1)->attnotnull && !form->indnullsnotdistinct)
			return false;
	}
	return true;
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
		position = position_of(columns, NameStr(attribute->attname));
		if (position >= 0)
			*pair_columns = bms_add_member(*pair_columns, position);
	}
	return true;
}

static bool
finds_keys(Oid target, TupleDesc columns, int nkeys, const int *keys)
{
	AttrNumber *attnums = palloc(nkeys * sizeof(AttrNumber));

	for (int i = 0; i < nkeys; i++)
		attnums[i] = get_attnum(target, NameStr(TupleDescAttr(columns, keys[i])->attname));
	return rf_has_key_index(target, nkeys, attnums);
}

/* The positions of columns, by name; NULL when one is not given. */
static Bitmapset *
positions_of(TupleDesc columns, List *names)
{
	Bitmapset  *positions = NULL;
	ListCell   *cell;

	foreach(cell, names)
	{
		int			position = position_of(columns, lfirst(cell));

		if (position < 0)
			return NULL;
		positions = bms_add_member(positions, position);
	}
	return positions;
}

/* The columns of an index that makes rows unique by given columns, or NULL. */
static Bitmapset *
natural_key(Relation table, TupleDesc columns)
{
	Oid			relid = find_index(table, is_natural_key, columns);
	List	   *names = NIL;
	Relation	index;

	if (!OidIsValid(relid))
		return NULL;
	index = index_open(relid, AccessShareLock);
	for (int i = 0; i < index->rd_index->indnkeyatts; i++)
		names = lappend(names, get_attname(RelationGetRelid(table),
										   index->rd_index->indkey.values[i], false));
	index_close(index, NoLock);
	return positions_of(columns, names);
}

/*
 * The columns that a foreign key of another table references, if the flow gives
 * them; NULL when there are none.
 */
static Bitmapset *
referenced_columns(List *keys, TupleDesc columns)
{
	ListCell   *cell;

	foreach(cell, keys)
	{
		Bitmapset  *positions = positions_of(columns,
											 ((RfForeignKey *) lfirst(cell))->columns);

		if (positions != NULL)
			return positions;
	}
	return NULL;
}

/*
 * The name of a foreign key whose referenced columns the flow does not give,
 * so that nothing keeps them in a changed row; NULL when there is none.
 */
char *
rf_unkept_foreign_key(Oid target, TupleDesc columns)
{
	Relation	table = table_open(target, AccessShareLock);
	char	   *name = NULL;
	ListCell   *cell;

	foreach(cell, rf_foreign_keys(target))
	{
		RfForeignKey *key = lfirst(cell);

		if (positions_of(columns, key->columns) == NULL && natural_key(table, columns) == NULL)
			name = key->name;
	}
	table_close(table, NoLock);
	return name;
}

/* Add the given columns of the indexes that allow no two rows of a kind. */
static Bitmapset *
unique_columns(Relation table, TupleDesc columns)
{
	List	   *indexes = RelationGetIndexList(table);
	Bitmapset  *positions = NULL;
	ListCell   *cell;

	foreach(cell, indexes)
	{
		Relation	index = index_open(lfirst_oid(cell), AccessShareLock);
		Bitmapset  *attnums = NULL;
		int			member = -1;

		if (index->rd_index->indisunique || index->rd_index->indisexclusion)
		{
			for (int i = 0; i < index->rd_index->indnkeyatts; i++)
				attnums = bms_add_member(attnums, index->rd_index->indkey.values[i] -
										 FirstLowInvalidHeapAttributeNumber);
			pull_varattnos((Node *) RelationGetIndexExpressions(index), 1, &attnums);
			pull_varattnos((Node *) RelationGetIndexPredicate(index), 1, &attnums);
		}
		while ((member = bms_next_member(attnums, member)) >= 0)
		{
			AttrNumber	attnum = member + FirstLowInvalidHeapAttributeNumber;
			int			position = attnum <= 0 ? -1 :
				position_of(columns, get_attname(RelationGetRelid(table), attnum, false));

			if (position >= 0)
				positions = bms_add_member(positions, position);
		}
		index_close(index, NoLock);
	}
	list_free(indexes);
	return positions;
}

/* Whether all of the foreign keys only check, on DELETE. */
static bool
only_check(List *keys)
{
	ListCell   *cell;

	foreach(cell, keys)
	{
		if (((RfForeignKey *) lfirst(cell))->on_delete != FKCONSTR_ACTION_NOACTION)
			return false;
	}
	return true;
}

/* Updates for the sake of their cost. */
static void
find_cheap_pairs(RfTargetShape *shape, Relation table, TupleDesc columns)
{
	bool		complete = gives_every_column(RelationGetDescr(table), columns);
	Bitmapset  *pair_columns = NULL;

	/* partitions have indexes of their own: they are not looked at */
	shape->pairing = table->rd_rel->relkind == RELKIND_RELATION &&
		(complete || OidIsValid(find_index(table, is_natural_key, columns))) &&
		collect_indexed(table, columns, &pair_columns);
	/* rows that agree in everything are identical: nothing is left to set */
	if (bms_num_members(pair_columns) == columns->natts)
		shape->pairing = false;
	shape->pair_rule.columns = pair_columns;
	shape->pair_rule.by_equality = false;
	shape->pair_rule.nulls_agree = true;
	shape->prefer_heap_only = shape->pairing && complete && table->trigdesc == NULL &&
		table->rd_rel->relam == HEAP_TABLE_AM_OID;
}

/*
 * Updates for the sake of tables that reference the target; false when there
 * are none, or when nothing tells which row is which.
 */
static bool
find_referenced_pairs(RfTargetShape *shape, Relation table, TupleDesc columns)
{
	List	   *keys = rf_foreign_keys(RelationGetRelid(table));
	Bitmapset  *referenced;

	if (keys == NIL)
		return false;
	referenced = referenced_columns(keys, columns);
	if (referenced != NULL && only_check(keys))
		shape->guarded_columns = bms_difference(unique_columns(table, columns), referenced);
	if (referenced == NULL)
		referenced = natural_key(table, columns);
	shape->pairing = referenced != NULL;
	shape->pair_rule.columns = referenced;
	shape->pair_rule.by_equality = true;
	return shape->pairing;
}

/*
 * Look at a target; keys are positions among the columns that the flow gives.
 */
RfTargetShape
rf_target_shape(Oid target, TupleDesc columns, int nkeys, const int *keys)
{
	RfTargetShape shape = {0};
	Relation	table = table_open(target, AccessShareLock);

	shape.has_key_index = finds_keys(target, columns, nkeys, keys);
	shape.place_columns = rf_partition_columns(target, columns);
	if (!find_referenced_pairs(&shape, table, columns))
		find_cheap_pairs(&shape, table, columns);
	table_close(table, NoLock);
	return shape;
}
