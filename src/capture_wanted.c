/*-------------------------------------------------------------------------
 *
 * capture_wanted.c
 *	  Which columns of which tables matter to a where flow.
 *
 * For now: all columns of its target and of all tables that its query names.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "nodes/pg_list.h"
#include "utils/rel.h"

#include "capture_wanted.h"
#include "captured.h"
#include "query_reads.h"
#include "table_family.h"

static RfCapturedTable *
all_columns(Oid relid)
{
	RfCapturedTable *table = palloc0(sizeof(RfCapturedTable));
	Relation	relation = table_open(relid, AccessShareLock);
	TupleDesc	desc = RelationGetDescr(relation);

	table->relid = relid;
	for (int i = 0; i < desc->natts; i++)
	{
		if (!TupleDescAttr(desc, i)->attisdropped)
			table->columns = bms_add_member(table->columns, i + 1);
	}
	table_close(relation, NoLock);
	return table;
}

/*
 * A list of RfCapturedTable.
 */
List *
rf_capture_wanted(const RfFlow *flow)
{
	List	   *wanted = list_make1(all_columns(flow->target));
	ListCell   *cell;

	foreach(cell, rf_reads_of_flow(flow->id))
	{
		if (rf_table_can_have_triggers(lfirst_oid(cell)))
			wanted = lappend(wanted, all_columns(lfirst_oid(cell)));
	}
	return wanted;
}
