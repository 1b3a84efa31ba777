/*-------------------------------------------------------------------------
 *
 * partition_overwrite.c
 *	  Windows that are whole partitions of the target.
 *
 * When most rows of such a window have changed, it is quicker to empty its
 * partitions, as TRUNCATE does, and to insert all rows, than to find out which ones
 * stay.  But then no row stays; so this is done only where nobody could tell that
 * from the change row by row, but for locks and snapshots:
 *
 *	- the query gives every column, so no value is lost;
 *	- no trigger, rule, publication or foreign key of another table is told of
 *	  rows that go and come again, nor is still to look at rows that would be gone;
 *	- no cursor or statement of this session is reading them.
 *
 * A window is some partitions if the bounds of each partition say that the predicate
 * is true of all its rows, or that it is true of none.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "catalog/partition.h"
#include "catalog/pg_class.h"
#include "catalog/pg_publication.h"
#include "commands/trigger.h"
#include "nodes/makefuncs.h"
#include "optimizer/optimizer.h"
#include "storage/lmgr.h"
#include "utils/lsyscache.h"
#include "utils/partcache.h"
#include "utils/rel.h"

#include "compat.h"
#include "foreign_key.h"
#include "partition_overwrite.h"
#include "table_family.h"
#include "where_predicate.h"

/* What the predicate says of a partition's rows. */
typedef enum RfHolding
{
	RF_HOLDS_ALL,
	RF_HOLDS_NONE,
	RF_HOLDS_SOME				/* or that is not known */
} RfHolding;

static RfHolding
holding_of(Relation target, Relation partition, Node *predicate)
{
	List	   *bounds = RelationGetPartitionQual(partition);
	List	   *conditions = make_ands_implicit((Expr *) eval_const_expressions(NULL, predicate));

	conditions = map_partition_varattnos(conditions, 1, partition, target);
	if (predicate_implied_by(conditions, bounds, false))
		return RF_HOLDS_ALL;
	return predicate_refuted_by(conditions, bounds, false) ? RF_HOLDS_NONE : RF_HOLDS_SOME;
}

/* Whether all columns of a table are given by the query. */
static bool
gives_all_columns(const RfFlow *flow, Relation target)
{
	TupleDesc	desc = RelationGetDescr(target);

	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute attribute = TupleDescAttr(desc, i);
		bool		given = attribute->attisdropped || attribute->attgenerated != '\0';

		for (int j = 0; !given && j < flow->columns->natts; j++)
			given = rf_flow_column_attnum(flow, j) == attribute->attnum;
		if (!given)
			return false;
	}
	return true;
}

static bool
has_users_triggers(Relation table)
{
	for (int i = 0; table->trigdesc != NULL && i < table->trigdesc->numtriggers; i++)
	{
		if (!table->trigdesc->triggers[i].tgisinternal)
			return true;
	}
	return false;
}

static bool
is_published(Relation table)
{
	PublicationDesc publication;

	RelationBuildPublicationDesc(table, &publication);
	return publication.pubactions.pubinsert || publication.pubactions.pubupdate ||
		publication.pubactions.pubdelete || publication.pubactions.pubtruncate;
}

/* Why a table must not be emptied and filled again, or NULL. */
static char *
obstacle_of_table(const RfFlow *flow, Relation table)
{
	const char *name = RelationGetRelationName(table);

	if (has_users_triggers(table) || table->rd_rel->relhasrules)
		return psprintf("\"%s\" has triggers or rules", name);
	if (is_published(table))
		return psprintf("\"%s\" is published", name);
	if (rf_foreign_keys(RelationGetRelid(table)) != NIL)
		return psprintf("another table references \"%s\"", name);
	if (AfterTriggerPendingOnRel(RelationGetRelid(table)))
		return psprintf("triggers of \"%s\" have yet to see rows of it", name);
	if (table->rd_rel->relowner != flow->owner)
		return psprintf("\"%s\" does not belong to the flow's owner", name);
	if (table->rd_rel->relkind != RELKIND_RELATION &&
		table->rd_rel->relkind != RELKIND_PARTITIONED_TABLE)
		return psprintf("\"%s\" is no ordinary table", name);
	return NULL;
}

/* The same for a partition; if the window holds all of it, it is added to the list. */
static char *
obstacle_of_partition(const RfFlow *flow, Relation target, Relation partition, Node *predicate,
					  List **partitions)
{
	RfHolding	holding;

	if (partition->rd_rel->relkind == RELKIND_PARTITIONED_TABLE)
		return obstacle_of_table(flow, partition);
	holding = holding_of(target, partition, predicate);
	if (holding == RF_HOLDS_NONE)
		return NULL;
	if (holding == RF_HOLDS_SOME)
		return psprintf("the window is not known to hold all of partition \"%s\", or none of it",
						RelationGetRelationName(partition));
	*partitions = lappend_oid(*partitions, RelationGetRelid(partition));
	return obstacle_of_table(flow, partition);
}

static char *
obstacle_of_partitions(const RfFlow *flow, Relation target, Node *predicate, List **partitions)
{
	char	   *obstacle = NULL;
	ListCell   *cell;

	foreach(cell, rf_table_with_parts(RelationGetRelid(target)))
	{
		Relation	partition;

		if (obstacle != NULL || lfirst_oid(cell) == RelationGetRelid(target))
			continue;
		partition = table_open(lfirst_oid(cell), NoLock);
		obstacle = obstacle_of_partition(flow, target, partition, predicate, partitions);
		table_close(partition, NoLock);
	}
	if (obstacle == NULL && *partitions == NIL)
		return pstrdup("the window holds no partition");
	return obstacle;
}

/*
 * Why the window of a settled predicate cannot be overwritten partition by
 * partition, for people; NULL if it can, and then these are its partitions.
 */
char *
rf_overwrite_obstacle(const RfFlow *flow, Node *predicate, List **partitions)
{
	Relation	target = table_open(flow->target, NoLock);
	char	   *obstacle = NULL;

	*partitions = NIL;
	if (target->rd_rel->relkind != RELKIND_PARTITIONED_TABLE)
		obstacle = psprintf("\"%s\" is not partitioned", RelationGetRelationName(target));
	else if (!gives_all_columns(flow, target))
		obstacle = pstrdup("the target has columns that the query does not give");
	else
		obstacle = obstacle_of_table(flow, target);
	if (obstacle == NULL)
		obstacle = obstacle_of_partitions(flow, target,
										  rf_predicate_on_target(flow, predicate), partitions);
	table_close(target, NoLock);
	return obstacle;
}

/*
 * Lock partitions against readers; false if that is to wait for nobody, and
 * somebody reads them now.
 */
bool
rf_overwrite_lock(List *partitions, bool wait)
{
	ListCell   *cell;

	foreach(cell, partitions)
	{
		if (wait)
			LockRelationOid(lfirst_oid(cell), AccessExclusiveLock);
		else if (!ConditionalLockRelationOid(lfirst_oid(cell), AccessExclusiveLock))
			return false;
	}
	return true;
}

/*
 * Empty partitions, as TRUNCATE does.
 */
void
rf_overwrite_empty(const RfFlow *flow, List *partitions)
{
	List	   *relations = NIL;
	List	   *logged = NIL;
	ListCell   *cell;

	foreach(cell, partitions)
	{
		Relation	partition = table_open(lfirst_oid(cell), NoLock);

		relations = lappend(relations, partition);
		if (RelationIsLogicallyLogged(partition))
			logged = lappend_oid(logged, lfirst_oid(cell));
	}
	rf_truncate(relations, partitions, logged);
	foreach(cell, relations)
		table_close(lfirst(cell), NoLock);
	ereport(DEBUG1,
			(errmsg_internal("flow \"%s\" emptied %d partitions", flow->name,
							 list_length(partitions))));
}
