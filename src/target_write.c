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
 * Deletes come first: a row that takes the place of another in a unique index
 * must find it gone.  An update must not change a column of a unique index or
 * exclusion constraint, since these are checked row by row in the middle of
 * the statement; see fixed_columns.
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
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "compat.h"
#include "failpoint.h"
#include "page_space.h"
#include "query.h"
#include "sql_text.h"
#include "stored_key.h"
#include "target_write.h"

/* Rows for one statement: the address columns, if any, then the values. */
typedef struct RfWriteSet
{
	TupleDesc	desc;
	Tuplestorestate *rows;		/* NULL until the first row */
	int64		nrows;
} RfWriteSet;

struct RfTargetWriter
{
	Oid			relid;
	const char *label;			/* for errors: what the table is to the user */
	TupleDesc	columns;
	const Bitmapset *fixed_columns; /* same in old and new row of an update */
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
 * Describe rows of an address and the first ncolumns of the table's columns.
 */
static TupleDesc
describe_addressed(TupleDesc columns, int ncolumns)
{
	TupleDesc	desc = CreateTemplateTupleDesc(RF_ADDRESS_COLUMNS + ncolumns);

	TupleDescInitEntry(desc, 1, RF_ADDRESS_TABLEOID, OIDOID, -1, 0);
	TupleDescInitEntry(desc, 2, RF_ADDRESS_CTID, TIDOID, -1, 0);
	for (int i = 0; i < ncolumns; i++)
		TupleDescCopyEntry(desc, RF_ADDRESS_COLUMNS + i + 1, columns, i + 1);
	rf_sql_number_columns(desc, RF_ADDRESS_COLUMNS);
	return desc;
}

/*
 * Begin to collect changes of a table.  Columns are those that are written,
 * under the table's names.  By position among them: key_columns must be stored
 * as they are given, fixed_columns never differ between the old and the new
 * row of an update.
 *
 * With prefer_heap_only, an update that would not fit into its page becomes a
 * delete and an insert.
 */
RfTargetWriter *
rf_writer_begin(Oid relid, const char *label, TupleDesc columns,
				const Bitmapset *key_columns, const Bitmapset *fixed_columns,
				bool prefer_heap_only)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "replace_flow target writer",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext caller = MemoryContextSwitchTo(context);
	RfTargetWriter *writer = palloc0(sizeof(RfTargetWriter));

	writer->relid = relid;
	writer->label = label;
	writer->columns = columns;
	writer->fixed_columns = fixed_columns;
	writer->keys = rf_stored_keys_begin(relid, columns, key_columns);
	if (prefer_heap_only)
		writer->space = rf_space_begin(relid, columns);
	writer->context = context;
	writer->deletes.desc = describe_addressed(columns, 0);
	writer->updates.desc = describe_addressed(columns, columns->natts);
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
put_address(RfTargetWriter *writer, const RfRowAddress *old)
{
	writer->values[0] = ObjectIdGetDatum(old->tableoid);
	writer->values[1] = ItemPointerGetDatum(&old->ctid);
}

void
rf_writer_delete(RfTargetWriter *writer, const RfRowAddress *old)
{
	put_address(writer, old);
	collect(writer, &writer->deletes, writer->values, writer->nulls);
}

void
rf_writer_update(RfTargetWriter *writer, const RfRowAddress *old,
				 Datum *values, bool *nulls)
{
	int			ncolumns = writer->columns->natts;

	if (writer->space != NULL && !rf_space_take(writer->space, &old->ctid, values, nulls))
	{
		rf_writer_delete(writer, old);
		rf_writer_insert(writer, values, nulls);
		return;
	}
	put_address(writer, old);
	memcpy(writer->values + RF_ADDRESS_COLUMNS, values, ncolumns * sizeof(Datum));
	memcpy(writer->nulls + RF_ADDRESS_COLUMNS, nulls, ncolumns * sizeof(bool));
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

		if (rule->event == command && rule->isInstead && rule->qual == NULL)
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
				 errmsg("a trigger of %s \"%s\" changed the key of a row",
						writer->label, get_rel_name(writer->relid)),
				 errdetail("Later runs would not find the row, since they look for the key that was sent."),
				 errhint("Compute the key in the flow's query instead.")));
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
	refuse_instead_rule(writer, command);
	if (returning)
		rf_stored_keys_expect(writer->keys, set->desc,
							  command == CMD_INSERT ? set->rows : NULL);
	rf_query_register(RF_WRITE_SET, set->desc, set->rows, set->nrows);
	written = (int64) rf_query_write(sql, plan, returning ? rf_stored_keys_take : NULL,
									 writer->keys);
	rf_query_unregister(RF_WRITE_SET);
	check_written(writer, set, verb, written);
	rf_failpoint(writer->label, verb);
}

/*
 * Do what was collected.
 */
void
rf_writer_execute(RfTargetWriter *writer)
{
	bool		returning = writer->keys != NULL;

	write_set(writer, &writer->deletes, CMD_DELETE, "deleted",
			  rf_sql_write_deletes(writer->relid), false);
	write_set(writer, &writer->updates, CMD_UPDATE, "updated",
			  rf_sql_write_updates(writer->relid, writer->columns,
								   writer->fixed_columns, returning), returning);
	write_set(writer, &writer->inserts, CMD_INSERT, "inserted",
			  rf_sql_write_inserts(writer->relid, writer->columns, returning), returning);
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
	if (writer->space != NULL)
		rf_space_end(writer->space);
	MemoryContextDelete(writer->context);
}
