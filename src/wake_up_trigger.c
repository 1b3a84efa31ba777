/*-------------------------------------------------------------------------
 *
 * wake_up_trigger.c
 *	  The triggers that notice that rows came into a table.
 *
 * The worker is woken by who writes a stream, or a table that a where flow with
 * refresh_on_change reads.  So the families of these tables need triggers
 * (table_trigger.c).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "commands/trigger.h"
#include "fmgr.h"
#include "storage/lmgr.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "apply_worker.h"
#include "flow.h"
#include "flow_catalog.h"
#include "query.h"
#include "query_reads.h"
#include "reentry.h"
#include "role.h"
#include "sql_text.h"
#include "table_family.h"
#include "table_trigger.h"
#include "wake_up.h"
#include "wake_up_trigger.h"

PG_FUNCTION_INFO_V1(replace_flow_note_staged);
PG_FUNCTION_INFO_V1(replace_flow_note_definitions);

/*
 * note_staged(): trigger, of statements and of replicated rows.  Rows that the
 * run of a flow consumes are no news.
 */
Datum
replace_flow_note_staged(PG_FUNCTION_ARGS)
{
	TriggerData *data = (TriggerData *) fcinfo->context;
	Oid			relid;

	if (!CALLED_AS_TRIGGER(fcinfo))
		elog(ERROR, "unexpected call of replace_flow.note_staged()");
	if (TRIGGER_FIRED_FOR_ROW(data->tg_event))
		rf_apply_worker_clean_up(data->tg_relation);
	relid = RelationGetRelid(data->tg_relation);
	if (!TRIGGER_FIRED_BY_DELETE(data->tg_event) || !rf_reentry_consumes(relid))
		rf_wake_up_note(relid);
	return PointerGetDatum(NULL);
}

/*
 * note_definitions(): trigger, of the table of flows.
 */
Datum
replace_flow_note_definitions(PG_FUNCTION_ARGS)
{
	if (!CALLED_AS_TRIGGER(fcinfo))
		elog(ERROR, "unexpected call of replace_flow.note_definitions()");
	rf_wake_up_note_definitions();
	return PointerGetDatum(NULL);
}

/*
 * Of what a flow's query reads, what its owner may let wake it: the right may
 * have been revoked, or a view replaced.  By OID, as everybody locks them.
 */
static List *
waking_sources(List *reads, Oid owner)
{
	List	   *tables = NIL;
	List	   *sorted = list_copy(reads);
	ListCell   *cell;

	list_sort(sorted, list_oid_cmp);
	foreach(cell, sorted)
	{
		if (rf_table_may_be_watched(lfirst_oid(cell), owner))
			tables = list_concat(tables, rf_table_to_watch(lfirst_oid(cell), owner));
	}
	return tables;
}

static bool
is_using(const RfRow *flow)
{
	return rf_flow_kind_parse(rf_row_text(flow, "kind")) == RF_USING;
}

/*
 * What the tables need triggers for that wake a flow.
 */
int
rf_wake_up_purpose(const RfRow *flow)
{
	return is_using(flow) ? RF_WAKES_STREAM : RF_WAKES_SOURCE;
}

/*
 * The tables that are to wake each of some flows, which are rows of
 * rf_catalog_woken_flows(); each table before its partitions.  Who may consume a
 * stream may be woken by it.
 */
List **
rf_wake_up_tables(int nflows, const RfRow *flows)
{
	List	  **tables = palloc(nflows * sizeof(List *));
	int32	   *where_flows = palloc(nflows * sizeof(int32));
	List	  **reads;
	int			nwhere = 0;

	for (int i = 0; i < nflows; i++)
	{
		if (!is_using(&flows[i]))
			where_flows[nwhere++] = (int32) rf_row_int64(&flows[i], "flow_id");
	}
	reads = rf_reads_of_flows(nwhere, where_flows);
	for (int i = 0; i < nflows; i++)
	{
		Oid			owner = rf_row_oid(&flows[i], "owner");

		tables[i] = is_using(&flows[i]) ?
			rf_table_to_watch(rf_row_oid(&flows[i], "source"), owner) :
			waking_sources(*reads++, owner);
	}
	return tables;
}

static void
lock_tables(List *relids, LOCKMODE mode)
{
	ListCell   *cell;

	foreach(cell, relids)
		LockRelationOid(lfirst_oid(cell), mode);
}

/*
 * Give the tables of a flow that was created or altered the triggers that they
 * lack.  Other flows do not matter.
 */
void
rf_wake_up_triggers_place(int32 flow_id)
{
	RfRow	   *flow;
	ListCell   *cell;

	if (rf_catalog_woken_flow(flow_id, &flow) == 0)
		return;
	lock_tables(rf_wake_up_tables(1, flow)[0], ShareRowExclusiveLock);
	foreach(cell, rf_wake_up_tables(1, flow)[0])
		rf_triggers_place(lfirst_oid(cell), rf_wake_up_purpose(flow));
}

/* What loses its triggers with a flow. */
static List *
tables_of_flow_alone(int32 flow_id)
{
	List	   *alone = NIL;
	RfRow	   *flows;
	int			nflows = rf_catalog_woken_flows(&flows);
	List	  **tables = rf_wake_up_tables(nflows, flows);

	for (int i = 0; i < nflows; i++)
	{
		if ((int32) rf_row_int64(&flows[i], "flow_id") == flow_id)
			alone = list_copy(tables[i]);
	}
	for (int i = 0; i < nflows && alone != NIL; i++)
	{
		if ((int32) rf_row_int64(&flows[i], "flow_id") != flow_id)
			alone = list_difference_oid(alone, tables[i]);
	}
	return alone;
}

/*
 * Lock, before the flow's row, the tables that are to get triggers for the sake
 * of a flow (ShareRowExclusiveLock), or that lose them with it
 * (AccessExclusiveLock).  Who staged rows in the same transaction can then still
 * run the flow.
 */
void
rf_wake_up_triggers_lock(const RfFlow *flow, LOCKMODE mode)
{
	if (mode == AccessExclusiveLock)
		lock_tables(tables_of_flow_alone(flow->id), mode);
	else if (mode != NoLock)
		lock_tables(waking_sources(rf_reads_of_flow(flow->id), flow->owner), mode);
}

static void
check_right(Oid relid, Oid owner, const char *flow_name)
{
	if (!rf_table_may_be_watched(relid, owner))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied for table \"%s\", which is to wake flow \"%s\"",
						get_rel_name(relid), flow_name),
				 errdetail("With refresh_on_change each table that the query reads gets triggers: the flow's owner needs TRIGGER on it."),
				 errhint("GRANT TRIGGER ON %s TO %s", rf_sql_relation(relid),
						 rf_sql_name(rf_role_name(owner)))));
}

/*
 * A role that lets tables wake a flow must have the right to that.
 */
void
rf_wake_up_check_rights(List *relids, Oid owner, const char *flow_name)
{
	ListCell   *cell;

	foreach(cell, relids)
	{
		if (rf_table_can_have_triggers(lfirst_oid(cell)))
			check_right(lfirst_oid(cell), owner, flow_name);
	}
}
