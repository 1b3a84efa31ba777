/*-------------------------------------------------------------------------
 *
 * partition_key.c
 *	  Which columns tell the partition of a row.
 *
 * A row's address names its partition, but the executor cannot prune by it: it
 * would look for each row in every partition.  It can by the columns of the
 * partition key, at whatever level of the partition tree, so statements that
 * write stored rows compare these too.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "catalog/pg_inherits.h"
#include "utils/lsyscache.h"
#include "utils/partcache.h"
#include "utils/rel.h"

#include "partition_key.h"

/* Expressions are left out: what they are computed of says nothing. */
static Bitmapset *
add_key_of(Bitmapset *positions, Relation table, TupleDesc columns)
{
	PartitionKey key = RelationGetPartitionKey(table);

	for (int i = 0; i < key->partnatts; i++)
	{
		char	   *name;

		if (key->partattrs[i] == 0)
			continue;
		name = get_attname(RelationGetRelid(table), key->partattrs[i], false);
		for (int j = 0; j < columns->natts; j++)
		{
			if (strcmp(NameStr(TupleDescAttr(columns, j)->attname), name) == 0)
				positions = bms_add_member(positions, j);
		}
	}
	return positions;
}

/*
 * The positions, among the given columns, of those that partition keys of a
 * table and its partitions have; NULL when there are none.
 */
Bitmapset *
rf_partition_columns(Oid relid, TupleDesc columns)
{
	Bitmapset  *positions = NULL;
	ListCell   *cell;

	if (get_rel_relkind(relid) != RELKIND_PARTITIONED_TABLE)
		return NULL;
	foreach(cell, find_all_inheritors(relid, AccessShareLock, NULL))
	{
		Relation	table = table_open(lfirst_oid(cell), NoLock);

		if (table->rd_rel->relkind == RELKIND_PARTITIONED_TABLE)
			positions = add_key_of(positions, table, columns);
		table_close(table, NoLock);
	}
	return positions;
}
