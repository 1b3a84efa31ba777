/*-------------------------------------------------------------------------
 *
 * stream.c
 *	  The staging table of a using flow: what it may be, and how its rows are
 *	  consumed.
 *
 * A run first deletes what a snapshot sees of the stream, and then reads the
 * stream under that snapshot, which goes on to see the rows as they were: its
 * command id is that of the deletion.  So what is read is what was consumed,
 * and no other session can change it in between.
 *
 * A row that another session changes while the deletion gets there would be
 * read as it was and stay as it became.  So the deletion is repeated under a
 * new snapshot until it meets no such row.  Rows that are committed later are
 * neither read nor deleted.  Whoever stages rows never waits for a run: it
 * holds no stronger lock on the stream than they do.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "access/transam.h"
#include "access/xact.h"
#include "catalog/catalog.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_trigger.h"
#include "commands/trigger.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "rewrite/rewriteDefine.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "query.h"
#include "sql_text.h"
#include "stream.h"

PG_FUNCTION_INFO_V1(replace_flow_in_snapshot);

static void
refuse(Oid stream, const char *flow_name, const char *detail)
{
	ereport(ERROR,
			(errcode(ERRCODE_WRONG_OBJECT_TYPE),
			 errmsg("\"%s\" cannot be the stream of flow \"%s\"",
					get_rel_name(stream), flow_name),
			 errdetail_internal("%s", detail),
			 errhint("Stage the rows in an ordinary or partitioned table of their own.")));
}

/*
 * The kinds of relation whose rows can be consumed once.
 */
void
rf_stream_check(Oid stream, const char *flow_name)
{
	char		relkind = get_rel_relkind(stream);
	char		persistence = get_rel_persistence(stream);

	if (relkind == RELKIND_VIEW)
		refuse(stream, flow_name, "It is a view, whose rows cannot be consumed.");
	if (relkind == RELKIND_MATVIEW)
		refuse(stream, flow_name, "It is a materialized view, whose rows cannot be consumed.");
	if (relkind == RELKIND_FOREIGN_TABLE)
		refuse(stream, flow_name, "It is a foreign table, whose rows cannot be consumed once.");
	if (relkind != RELKIND_RELATION && relkind != RELKIND_PARTITIONED_TABLE)
		refuse(stream, flow_name, "It is not a table.");
	if (IsCatalogRelationOid(stream) || get_rel_namespace(stream) == rf_flow_namespace())
		refuse(stream, flow_name, "It is a system catalog.");
	if (persistence == RELPERSISTENCE_TEMP)
		refuse(stream, flow_name, "It is a temporary table, which other sessions cannot see.");
	if (persistence == RELPERSISTENCE_UNLOGGED)
		ereport(WARNING,
				(errmsg("the stream \"%s\" of flow \"%s\" is unlogged",
						get_rel_name(stream), flow_name),
				 errdetail("A crash of the server empties it, with the rows that no run has consumed, and starts its identity columns anew."),
				 errhint("ALTER TABLE %s SET LOGGED keeps them.", rf_sql_relation(stream))));
}

/* Whether something of a table's could keep a row from being deleted. */
static bool
can_refuse_deletes(Relation table)
{
	TriggerDesc *triggers = table->trigdesc;
	RuleLock   *rules = table->rd_rules;

	for (int i = 0; triggers != NULL && i < triggers->numtriggers; i++)
	{
		Trigger    *trigger = &triggers->triggers[i];

		if (TRIGGER_FOR_ROW(trigger->tgtype) && TRIGGER_FOR_BEFORE(trigger->tgtype) &&
			TRIGGER_FOR_DELETE(trigger->tgtype) && trigger->tgenabled != TRIGGER_DISABLED)
			return true;
	}
	for (int i = 0; rules != NULL && i < rules->numLocks; i++)
	{
		if (rules->rules[i]->event == CMD_DELETE && rules->rules[i]->enabled != RULE_DISABLED)
			return true;
	}
	return false;
}

/*
 * A row that a run reads must be consumed, or it would be applied again: look
 * at the stream and its partitions, when the flow is created and at each run.
 */
void
rf_stream_check_parts(Oid stream, const char *flow_name)
{
	ListCell   *cell;

	foreach(cell, find_all_inheritors(stream, AccessShareLock, NULL))
	{
		Relation	part = table_open(lfirst_oid(cell), NoLock);

		if (part->rd_rel->relkind == RELKIND_FOREIGN_TABLE)
			refuse(part->rd_id, flow_name,
				   "It is a foreign table, whose rows cannot be consumed once.");
		if (can_refuse_deletes(part))
			refuse(part->rd_id, flow_name,
				   "It has a BEFORE DELETE trigger or a rule, which could keep consumed rows.");
		table_close(part, NoLock);
	}
}

/*
 * The tables that the stream consists of.
 */
List *
rf_stream_parts(const RfFlow *flow)
{
	return find_all_inheritors(flow->source, NoLock, NULL);
}

/*
 * The rows that rf_sql_read_staged() gives, as a row type.
 */
TupleDesc
rf_stream_columns(const RfFlow *flow)
{
	Relation	stream = table_open(flow->source, NoLock);
	TupleDesc	all = RelationGetDescr(stream);
	TupleDesc	columns;
	int			count = 0;

	for (int i = 0; i < all->natts; i++)
		count += TupleDescAttr(all, i)->attisdropped ? 0 : 1;
	columns = CreateTemplateTupleDesc(count);
	count = 0;
	for (int i = 0; i < all->natts; i++)
	{
		if (!TupleDescAttr(all, i)->attisdropped)
			TupleDescCopyEntry(columns, ++count, all, i + 1);
	}
	table_close(stream, NoLock);
	return BlessTupleDesc(columns);
}

/*
 * What was read must be what was consumed, but a partition can be attached in
 * between: that takes no lock that would keep out those who stage rows, so we
 * hold none that keeps it out.
 */
void
rf_stream_check_same_parts(const RfFlow *flow, List *parts)
{
	if (!equal(parts, rf_stream_parts(flow)))
		ereport(ERROR,
				(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
				 errmsg("the stream of flow \"%s\" got another part during the run", flow->name),
				 errdetail("A table was attached to \"%s\" between consuming and reading it.",
						   get_rel_name(flow->source)),
				 errhint("Run the flow again; nothing was consumed.")));
}

/*
 * Delete the rows that a new snapshot sees, or those of them for which a condition
 * is true; give their number.  The snapshot is left active for the caller.
 */
uint64
rf_stream_consume(const RfFlow *flow, const char *condition)
{
	char	   *sql = rf_sql_consume(flow->source, condition);
	CommandId	command = GetCurrentCommandId(true);
	uint64		consumed = 0;

	for (;;)
	{
		RfWritten	rows;

		PushCopiedSnapshot(GetTransactionSnapshot());
		GetActiveSnapshot()->curcid = command;
		rows = rf_query_write_as_of(sql, GetActiveSnapshot());
		consumed += rows.written;
		/* what an earlier turn deleted is found again */
		if (rows.found == consumed)
			return consumed;
		PopActiveSnapshot();
		/* a part that came meanwhile could keep its rows for ever */
		rf_stream_check_parts(flow->source, flow->name);
		CHECK_FOR_INTERRUPTS();
	}
}

/*
 * in_snapshot(row_xmin): whether the active snapshot sees what a transaction
 * wrote.
 *
 * A row that a scan found passes.  A row that was updated after the snapshot
 * was taken is checked once more in its new version, and does not.  An id that
 * no transaction has had yet is that of a row frozen long ago.
 */
Datum
replace_flow_in_snapshot(PG_FUNCTION_ARGS)
{
	TransactionId xmin = PG_GETARG_TRANSACTIONID(0);

	PG_RETURN_BOOL(!TransactionIdIsNormal(xmin) ||
				   TransactionIdIsCurrentTransactionId(xmin) ||
				   !XidInMVCCSnapshot(xmin, GetActiveSnapshot()) ||
				   TransactionIdFollowsOrEquals(xmin, ReadNextTransactionId()));
}
