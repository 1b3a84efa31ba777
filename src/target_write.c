/*-------------------------------------------------------------------------
 *
 * target_write.c
 *	  Rows to delete, update and insert, written as set-based DML.
 *
 * A writer collects what is to be done to one table in three tuplestores,
 * which spill at work_mem, and then does it in three statements at the most,
 * in the order delete, update, insert, each through the executor and naming
 * the table itself.  So constraints, foreign keys, triggers, generated
 * columns, partition routing and publications act as for a user's own
 * statements, and a kind of change that did not occur issues no statement.
 *
 * The three are one change to foreign keys: these are checked after the last
 * of them, so that a row that is deleted and inserted again was never away, and
 * a new row may reference another one.
 *
 * Deletes come first: a row that takes the place of another in a unique index
 * must find it gone.  Unique indexes and exclusion constraints are checked row
 * by row in the middle of an UPDATE, so the caller hands in updates that do not
 * change their columns, unless a foreign key leaves no choice; see
 * target_shape.c.
 *
 * Each statement must write the rows that it was given, into this table and
 * under their keys.  If a trigger or a rule sees to it that it does not, the run
 * fails whole.
 *
 * The caller holds a lock on the table that keeps other writers out, and has
 * read the rows under it, so that the addresses are still right.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "rewrite/rewriteDefine.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "compat.h"
#include "failpoint.h"
#include "page_space.h"
#include "run_progress.h"
#include "query.h"
#include "sql_text.h"
#include "stored_key.h"
#include "target_write.h"

/*
 * Rows for one statement: of an old row the address and the place columns, then
 * the values.
 */
typedef struct RfWriteSet
{
	TupleDesc	desc;
	Tuplestorestate *rows;		/* NULL until the first row */
	int64		nrows;
	bool		has_null_place; /* a place column is NULL, which equals
								 * nothing */
} RfWriteSet;

struct RfTargetWriter
{
	Oid			relid;
	const char *label;			/* for errors: what the table is to the user */
	TupleDesc	columns;
	RfWriteRules rules;
	int			nold;			/* columns that describe an old row */
	RfStoredKeys *keys;			/* NULL: nothing can change them */
	RfPageSpace *space;			/* NULL: updates are made whatever they cost */
	MemoryContext context;
	RfWriteSet	deletes;
	RfWriteSet	updates;
	RfWriteSet	inserts;
	Datum	   *values;			/* room for an update's row */
	bool	   *nulls;
};

/*
 * Describe an old row, followed by the first ncolumns of the table's columns.
 */
static TupleDesc
describe_old(const RfTargetWriter *writer, int ncolumns)
{
	TupleDesc	desc = CreateTemplateTupleDesc(writer->nold + ncolumns);
	AttrNumber	number = RF_ADDRESS_COLUMNS;
	int			i = -1;

	TupleDescInitEntry(desc, 1, RF_ADDRESS_TABLEOID, OIDOID, -1, 0);
	TupleDescInitEntry(desc, 2, RF_ADDRESS_CTID, TIDOID, -1, 0);
	while ((i = bms_next_member(writer->rules.place_columns, i)) >= 0)
	{
		TupleDescCopyEntry(desc, ++number, writer->columns, i + 1);
		namestrcpy(&TupleDescAttr(desc, number - 1)->attname, psprintf(RF_OLD_COLUMN, i));
	}
	for (i = 0; i < ncolumns; i++)
		TupleDescCopyEntry(desc, writer->nold + i + 1, writer->columns, i + 1);
	rf_sql_number_columns(desc, writer->nold);
	return desc;
}

/*
 * Begin to collect changes of a table.  Columns are those that are written,
 * under the table's names.
 *
 * With prefer_heap_only, an update that would not fit into its page becomes a
 * delete and an insert.
 */
RfTargetWriter *
rf_writer_begin(Oid relid, const char *label, TupleDesc columns, RfWriteRules rules)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "replace_flow target writer",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext caller = MemoryContextSwitchTo(context);
	RfTargetWriter *writer = palloc0(sizeof(RfTargetWriter));

	writer->relid = relid;
	writer->label = label;
	writer->columns = columns;
	writer->rules = rules;
	writer->nold = RF_ADDRESS_COLUMNS + bms_num_members(rules.place_columns);
	writer->keys = rf_stored_keys_begin(relid, columns, rules.key_rule);
	if (rules.prefer_heap_only)
		writer->space = rf_space_begin(relid, columns);
	writer->context = context;
	writer->deletes.desc = describe_old(writer, 0);
	writer->updates.desc = describe_old(writer, columns->natts);
	writer->inserts.desc = CreateTupleDescCopy(columns);
	rf_sql_number_columns(writer->inserts.desc, 0);
	writer->values = palloc(writer->updates.desc->natts * sizeof(Datum));
	writer->nulls = palloc0(writer->updates.desc->natts * sizeof(bool));
	MemoryContextSwitchTo(caller);
	return writer;
}

static void
collect(RfTargetWriter *writer, RfWriteSet *set, Datum *values, bool *nulls)
{
	MemoryContext caller = MemoryContextSwitchTo(writer->context);

	if (set->rows == NULL)
		set->rows = tuplestore_begin_heap(false, false, work_mem);
	tuplestore_putvalues(set->rows, set->desc, values, nulls);
	set->nrows++;
	MemoryContextSwitchTo(caller);
}

static void
put_old(RfTargetWriter *writer, RfWriteSet *set, const RfOldRow *old)
{
	int			position = RF_ADDRESS_COLUMNS;
	int			i = -1;

	writer->values[0] = ObjectIdGetDatum(old->address.tableoid);
	writer->values[1] = ItemPointerGetDatum(&old->address.ctid);
	while ((i = bms_next_member(writer->rules.place_columns, i)) >= 0)
	{
		writer->values[position] = old->values[i];
		writer->nulls[position++] = old->nulls[i];
		set->has_null_place |= old->nulls[i];
	}
}

void
rf_writer_delete(RfTargetWriter *writer, const RfOldRow *old)
{
	put_old(writer, &writer->deletes, old);
	collect(writer, &writer->deletes, writer->values, writer->nulls);
}

void
rf_writer_update(RfTargetWriter *writer, const RfOldRow *old, Datum *values, bool *nulls)
{
	int			ncolumns = writer->columns->natts;

	if (writer->space != NULL &&
		!rf_space_take(writer->space, &old->address.ctid, values, nulls))
	{
		rf_writer_delete(writer, old);
		rf_writer_insert(writer, values, nulls);
		return;
	}
	put_old(writer, &writer->updates, old);
	memcpy(writer->values + writer->nold, values, ncolumns * sizeof(Datum));
	memcpy(writer->nulls + writer->nold, nulls, ncolumns * sizeof(bool));
	collect(writer, &writer->updates, writer->values, writer->nulls);
}

void
rf_writer_insert(RfTargetWriter *writer, Datum *values, bool *nulls)
{
	collect(writer, &writer->inserts, values, nulls);
}

/*
 * A rule may do something else instead of a statement, always, and then the
 * number of rows is that of the other one.
 */
static void
refuse_instead_rule(const RfTargetWriter *writer, CmdType command)
{
	Relation	table = table_open(writer->relid, NoLock);
	RuleLock   *rules = table->rd_rules;

	for (int i = 0; rules != NULL && i < rules->numLocks; i++)
	{
		RewriteRule *rule = rules->rules[i];

		if (rule->event == command && rule->isInstead && rule->qual == NULL &&
			rule->enabled != RULE_DISABLED)
			ereport(ERROR,
					(errcode(ERRCODE_TRIGGERED_DATA_CHANGE_VIOLATION),
					 errmsg("a rule of %s \"%s\" does something else instead of writing rows",
							writer->label, get_rel_name(writer->relid)),
					 errdetail("The run has rows to delete, update or insert for which there is a rule ON %s DO INSTEAD.",
							   command == CMD_DELETE ? "DELETE" :
							   command == CMD_UPDATE ? "UPDATE" : "INSERT"),
					 errhint("Drop the rule, or make it DO ALSO.")));
	}
	table_close(table, NoLock);
}

static void
check_written(const RfTargetWriter *writer, const RfWriteSet *set, const char *verb,
			  int64 written)
{
	if (written != set->nrows)
		ereport(ERROR,
				(errcode(ERRCODE_TRIGGERED_DATA_CHANGE_VIOLATION),
				 errmsg("a trigger or rule of %s \"%s\" kept rows from being %s",
						writer->label, get_rel_name(writer->relid), verb),
				 errdetail(INT64_FORMAT " rows were to be %s, " INT64_FORMAT " were.",
						   set->nrows, verb, written),
				 errhint("Let the trigger or rule pass the rows, or raise an error of its own.")));
	if (writer->keys != NULL && rf_stored_keys_differ(writer->keys))
		ereport(ERROR,
				(errcode(ERRCODE_TRIGGERED_DATA_CHANGE_VIOLATION),
				 errmsg("a trigger of %s \"%s\" changed %s of a row",
						writer->label, get_rel_name(writer->relid), writer->rules.key_name),
				 errdetail("%s", writer->rules.key_reason),
				 errhint("Compute it in the flow's query instead.")));
}

/*
 * Run one statement over its rows and see that all of them were written.  If
 * it returns rows, these are as they were stored.
 */
static void
write_set(RfTargetWriter *writer, RfWriteSet *set, CmdType command, const char *verb,
		  const char *sql, bool returning)
{
	RfPlan		plan = command == CMD_INSERT ? RF_PLAN_FREE : RF_PLAN_PROBE;
	int64		written;

	if (set->nrows == 0)
		return;
	rf_progress_phase(command == CMD_DELETE ? RF_PHASE_DELETING :
					  command == CMD_UPDATE ? RF_PHASE_UPDATING : RF_PHASE_INSERTING,
					  set->nrows);
	refuse_instead_rule(writer, command);
	if (returning)
		rf_stored_keys_expect(writer->keys, set->desc,
							  command == CMD_INSERT ? set->rows : NULL);
	rf_query_register(RF_WRITE_SET, set->desc, set->rows, set->nrows);
	written = (int64) (returning ?
					   rf_query_write(sql, plan, rf_stored_keys_types(writer->keys),
									  rf_stored_keys_take, writer->keys) :
					   rf_query_write(sql, plan, NULL, NULL, NULL));
	rf_query_unregister(RF_WRITE_SET);
	check_written(writer, set, verb, written);
	rf_failpoint(writer->label, verb);
}

/* What the rows of a set say of their places, if all of them do. */
static const Bitmapset *
place_columns(const RfTargetWriter *writer, const RfWriteSet *set)
{
	return set->has_null_place ? NULL : writer->rules.place_columns;
}

/*
 * Do what was collected.
 */
void
rf_writer_execute(RfTargetWriter *writer)
{
	Oid			relid = writer->relid;
	TupleDesc	columns = writer->columns;
	bool		returning = writer->keys != NULL;

	rf_query_begin_writes();
	write_set(writer, &writer->deletes, CMD_DELETE, "deleted",
			  rf_sql_write_deletes(relid, columns, place_columns(writer, &writer->deletes)),
			  false);
	write_set(writer, &writer->updates, CMD_UPDATE, "updated",
			  rf_sql_write_updates(relid, columns, place_columns(writer, &writer->updates),
								   writer->rules.fixed_columns, returning), returning);
	write_set(writer, &writer->inserts, CMD_INSERT, "inserted",
			  rf_sql_write_inserts(relid, columns, returning), returning);
	rf_progress_phase(RF_PHASE_FIRING, RF_ROWS_UNKNOWN);
	rf_query_end_writes();
}

int64
rf_writer_deleted(const RfTargetWriter *writer)
{
	return writer->deletes.nrows;
}

int64
rf_writer_updated(const RfTargetWriter *writer)
{
	return writer->updates.nrows;
}

int64
rf_writer_inserted(const RfTargetWriter *writer)
{
	return writer->inserts.nrows;
}

static void
free_set(RfWriteSet *set)
{
	if (set->rows != NULL)
		tuplestore_end(set->rows);
}

void
rf_writer_end(RfTargetWriter *writer)
{
	free_set(&writer->deletes);
	free_set(&writer->updates);
	free_set(&writer->inserts);
	if (writer->keys != NULL)
		rf_stored_keys_end(writer->keys);
	if (writer->space != NULL)
		rf_space_end(writer->space);
	MemoryContextDelete(writer->context);
}
