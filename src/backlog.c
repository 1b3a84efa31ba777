/*-------------------------------------------------------------------------
 *
 * backlog.c
 *	  How many rows wait in a stream.
 *
 * They are counted by scans of the stream and its partitions, under the snapshot
 * of the statement that asks.  No query is made of it, so no code of users runs
 * and nobody needs rights on the stream: who may see the flow may see the number.
 *
 * To look at flows must never wait: what is locked exclusively is not counted,
 * and the number is NULL.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/relation.h"
#include "access/tableam.h"
#include "access/xlog.h"
#include "catalog/pg_inherits.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "backlog.h"
#include "flow.h"
#include "flow_catalog.h"
#include "query.h"

PG_FUNCTION_INFO_V1(replace_flow_backlog);

static int64
count_rows(Relation table)
{
	TupleTableSlot *slot = table_slot_create(table, NULL);
	TableScanDesc scan = table_beginscan(table, GetActiveSnapshot(), 0, NULL);
	int64		rows = 0;

	while (table_scan_getnextslot(scan, ForwardScanDirection, slot))
	{
		rows++;
		CHECK_FOR_INTERRUPTS();
	}
	table_endscan(scan);
	ExecDropSingleTupleTableSlot(slot);
	return rows;
}

static bool add_rows(Oid relid, int64 *rows);

static bool
add_parts(Relation parent, int64 *rows)
{
	bool		added = true;
	ListCell   *cell;

	foreach(cell, find_inheritance_children(RelationGetRelid(parent), NoLock))
		added = added && add_rows(lfirst_oid(cell), rows);
	return added;
}

/* What is foreign has code of its own; what is unlogged is not there on a standby. */
static bool
add_rows_of(Relation relation, int64 *rows)
{
	if (relation->rd_rel->relkind == RELKIND_PARTITIONED_TABLE)
		return add_parts(relation, rows);
	if (relation->rd_rel->relkind != RELKIND_RELATION ||
		(relation->rd_rel->relpersistence == RELPERSISTENCE_UNLOGGED && RecoveryInProgress()))
		return false;
	*rows += count_rows(relation);
	return true;
}

/*
 * Add the rows of a stream or of a part of it; false if that is not possible at
 * this moment.  Who keeps a transaction open after having looked is not to lock
 * out TRUNCATE: the lock is given back.
 */
static bool
add_rows(Oid relid, int64 *rows)
{
	Relation	relation;
	bool		added;

	if (!ConditionalLockRelationOid(relid, AccessShareLock))
		return false;
	relation = try_relation_open(relid, NoLock);
	added = relation != NULL && add_rows_of(relation, rows);
	if (relation != NULL)
		relation_close(relation, NoLock);
	UnlockRelationOid(relid, AccessShareLock);
	return added;
}

/*
 * Count the rows of a stream that the active snapshot sees; false if that is not
 * possible at this moment.
 */
bool
rf_backlog_count(Oid stream, int64 *rows)
{
	*rows = 0;
	return add_rows(stream, rows);
}

/*
 * backlog(flow_id): the number of rows that wait in the stream of a using flow, or
 * NULL.
 */
Datum
replace_flow_backlog(PG_FUNCTION_ARGS)
{
	int32		flow_id = PG_GETARG_INT32(0);
	Oid			target;
	Oid			stream;
	int64		rows;
	bool		found;

	rf_query_begin();
	found = rf_catalog_find_stream(flow_id, &target, &stream);
	rf_query_end();
	if (!found || !rf_flow_is_visible(flow_id, target) || !rf_backlog_count(stream, &rows))
		PG_RETURN_NULL();
	PG_RETURN_INT64(rows);
}
