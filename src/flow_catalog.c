/*-------------------------------------------------------------------------
 *
 * flow_catalog.c
 *	  The extension's own tables.
 *
 * The only file that names them.  Each function acts as their owner for as
 * long as its statement takes, and takes values only as arguments: no code of
 * a user runs here.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/timestamp.h"

#include "flow_catalog.h"

static uint64
execute_as_owner(const char *sql, const RfArgs *args)
{
	RfRoleGuard guard;
	uint64		processed;

	rf_role_assume(&guard, rf_role_of_catalog());
	processed = rf_query_execute(sql, args);
	rf_role_restore(&guard);
	return processed;
}

static bool
first_as_owner(const char *sql, const RfArgs *args, RfRow *row)
{
	RfRoleGuard guard;
	bool		found;

	rf_role_assume(&guard, rf_role_of_catalog());
	found = rf_query_first(sql, args, row);
	rf_role_restore(&guard);
	return found;
}

static int
all_as_owner(const char *sql, const RfArgs *args, RfRow **rows)
{
	RfRoleGuard guard;
	int			nrows;

	rf_role_assume(&guard, rf_role_of_catalog());
	nrows = rf_query_all(sql, args, rows);
	rf_role_restore(&guard);
	return nrows;
}

/*
 * Let one session at a time define flows, until its transaction ends: whether
 * a table is free to be a target or a stream depends on all flows that there
 * are.  Runs do not wait for it.
 */
void
rf_catalog_lock_definitions(void)
{
	(void) execute_as_owner("LOCK TABLE replace_flow.flow IN SHARE ROW EXCLUSIVE MODE", NULL);
}

/*
 * Add a flow; give its id.  TimeZone, DateStyle and IntervalStyle of this
 * session go with it.
 */
int32
rf_catalog_add_flow(const RfFlowRow *flow)
{
	RfArgs		args = {0};
	RfRow		row;

	rf_arg_text(&args, flow->name);
	rf_arg(&args, OIDOID, ObjectIdGetDatum(flow->owner));
	rf_arg(&args, REGCLASSOID, ObjectIdGetDatum(flow->target));
	rf_arg(&args, REGCLASSOID, ObjectIdGetDatum(flow->source));
	rf_arg(&args, TEXTARRAYOID, flow->replace_using);
	rf_arg_text(&args, flow->sequence_by);
	rf_arg_text(&args, flow->delete_when);
	rf_arg_text(&args, flow->on_tie);
	rf_arg(&args, BOOLOID, BoolGetDatum(flow->auto_apply));
	rf_arg(&args, BOOLOID, BoolGetDatum(flow->keep_rejected));
	rf_arg(&args, BOOLOID, BoolGetDatum(flow->quarantine));
	rf_arg(&args, JSONBOID, flow->settings);
	rf_arg_text(&args, GetConfigOption("TimeZone", false, false));
	rf_arg_text(&args, GetConfigOption("DateStyle", false, false));
	rf_arg_text(&args, GetConfigOption("IntervalStyle", false, false));
	rf_arg_text(&args, flow->comment);
	rf_arg(&args, TEXTARRAYOID, flow->output_columns);
	rf_arg(&args, INT2ARRAYOID, flow->target_attnums);
	rf_arg_text(&args, flow->sequence_column);
	rf_arg_text(&args, flow->tombstone_column);
	rf_arg(&args, BOOLOID, BoolGetDatum(flow->has_ledger));
	(void) first_as_owner("INSERT INTO replace_flow.flow"
						  " (kind, name, owner, target, source, replace_using, sequence_by,"
						  " delete_when, on_tie, auto_apply, keep_rejected, quarantine,"
						  " settings, time_zone, date_style, interval_style, comment,"
						  " output_columns, target_attnums, sequence_column,"
						  " tombstone_column, has_ledger)"
						  " VALUES ('using', $1, $2::regrole, $3, $4, $5, $6, $7, $8, $9, $10,"
						  " $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21)"
						  " RETURNING flow_id", &args, &row);
	return (int32) rf_row_int64(&row, "flow_id");
}

#define FLOW_BY_NAME \
	"SELECT f.*," \
	" ARRAY (SELECT s.key FROM jsonb_each_text(f.settings) s ORDER BY s.key) AS setting_names," \
	" ARRAY (SELECT s.value FROM jsonb_each_text(f.settings) s ORDER BY s.key) AS setting_values" \
	" FROM replace_flow.flow f WHERE f.name = $1"

bool
rf_catalog_find_flow(const char *name, RfRow *row)
{
	RfArgs		args = {0};

	rf_arg_text(&args, name);
	return first_as_owner(FLOW_BY_NAME, &args, row);
}

/*
 * Find a flow and keep others from running or changing it until the
 * transaction ends.  Without waiting, a flow that is locked is not found.
 */
bool
rf_catalog_lock_flow(const char *name, bool wait, RfRow *row)
{
	RfArgs		args = {0};

	rf_arg_text(&args, name);
	return first_as_owner(wait ? FLOW_BY_NAME " FOR NO KEY UPDATE"
						  : FLOW_BY_NAME " FOR NO KEY UPDATE SKIP LOCKED", &args, row);
}

void
rf_catalog_drop_flow(int32 flow_id)
{
	RfArgs		args = {0};

	rf_arg(&args, INT4OID, Int32GetDatum(flow_id));
	(void) execute_as_owner("DELETE FROM replace_flow.run r USING replace_flow.flow f"
							" WHERE f.flow_id = $1 AND r.flow = f.name", &args);
	(void) execute_as_owner("DELETE FROM replace_flow.flow WHERE flow_id = $1", &args);
}

static Datum
oid_array(List *relids)
{
	Datum	   *values = palloc(list_length(relids) * sizeof(Datum));
	int			count = 0;
	ListCell   *cell;

	foreach(cell, relids)
		values[count++] = ObjectIdGetDatum(lfirst_oid(cell));
	return PointerGetDatum(construct_array(values, count, OIDOID, sizeof(Oid),
										   true, TYPALIGN_INT));
}

static char *
flow_of_relation(const char *sql, List *relids)
{
	RfArgs		args = {0};
	RfRow		row;

	rf_arg(&args, OIDARRAYOID, oid_array(relids));
	return first_as_owner(sql, &args, &row) ? rf_row_text(&row, "name") : NULL;
}

/*
 * The name of a flow whose target is one of these, or NULL.
 */
char *
rf_catalog_flow_of_target(List *relids)
{
	return flow_of_relation("SELECT name FROM replace_flow.flow"
							" WHERE target::oid = ANY ($1) ORDER BY flow_id", relids);
}

/*
 * The name of a using flow whose stream is one of these, or NULL.
 */
char *
rf_catalog_flow_of_source(List *relids)
{
	return flow_of_relation("SELECT name FROM replace_flow.flow"
							" WHERE kind = 'using' AND source::oid = ANY ($1) ORDER BY flow_id",
							relids);
}

/*
 * A flow that a role may run and whose name differs from the given one only in
 * case, quotes or schema, or NULL.
 */
char *
rf_catalog_similar_flow(const char *name, Oid role)
{
	RfArgs		args = {0};
	RfRow		row;

	rf_arg_text(&args, name);
	rf_arg(&args, OIDOID, ObjectIdGetDatum(role));
	return first_as_owner("SELECT name FROM replace_flow.flow"
						  " WHERE pg_has_role($2, owner::oid, 'USAGE')"
						  " AND lower(regexp_replace(name, '^.*\\.|\"', '', 'g'))"
						  " = lower(regexp_replace($1, '^.*\\.|\"', '', 'g')) ORDER BY name",
						  &args, &row) ? rf_row_text(&row, "name") : NULL;
}

char **
rf_catalog_text_array(const RfRow *row, const char *column, int *count)
{
	bool		isnull;
	Datum		array = rf_row_datum(row, column, &isnull);
	Datum	   *values;
	char	  **texts;

	deconstruct_array(DatumGetArrayTypeP(array), TEXTOID, -1, false, TYPALIGN_INT,
					  &values, NULL, count);
	texts = palloc(*count * sizeof(char *));
	for (int i = 0; i < *count; i++)
		texts[i] = TextDatumGetCString(values[i]);
	return texts;
}

int16 *
rf_catalog_int2_array(const RfRow *row, const char *column, int *count)
{
	bool		isnull;
	Datum		array = rf_row_datum(row, column, &isnull);
	Datum	   *values;
	int16	   *numbers;

	deconstruct_array(DatumGetArrayTypeP(array), INT2OID, sizeof(int16), true,
					  TYPALIGN_SHORT, &values, NULL, count);
	numbers = palloc(*count * sizeof(int16));
	for (int i = 0; i < *count; i++)
		numbers[i] = DatumGetInt16(values[i]);
	return numbers;
}

int
rf_catalog_expectations(int32 flow_id, RfRow **rows)
{
	RfArgs		args = {0};

	rf_arg(&args, INT4OID, Int32GetDatum(flow_id));
	return all_as_owner("SELECT name, action, view_column"
						" FROM replace_flow.expectation"
						" WHERE flow_id = $1 ORDER BY name COLLATE \"C\"", &args, rows);
}

/*
 * Add an expectation; false when the flow has one of that name.
 */
bool
rf_catalog_add_expectation(int32 flow_id, const char *name, RfAction action,
						   const char *condition, const char *view_column)
{
	RfArgs		args = {0};

	rf_arg(&args, INT4OID, Int32GetDatum(flow_id));
	rf_arg_text(&args, name);
	rf_arg_text(&args, rf_action_name(action));
	rf_arg_text(&args, condition);
	rf_arg_text(&args, view_column);
	return execute_as_owner("INSERT INTO replace_flow.expectation"
							" (flow_id, name, action, condition, view_column)"
							" VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING", &args) > 0;
}

/*
 * Drop an expectation; false when there is none of that name.
 */
bool
rf_catalog_drop_expectation(int32 flow_id, const char *name)
{
	RfArgs		args = {0};

	rf_arg(&args, INT4OID, Int32GetDatum(flow_id));
	rf_arg_text(&args, name);
	return execute_as_owner("DELETE FROM replace_flow.expectation"
							" WHERE flow_id = $1 AND name = $2", &args) > 0;
}

/*
 * A flow's definition has changed.
 */
void
rf_catalog_raise_version(int32 flow_id)
{
	RfArgs		args = {0};

	rf_arg(&args, INT4OID, Int32GetDatum(flow_id));
	(void) execute_as_owner("UPDATE replace_flow.flow"
							" SET definition_version = definition_version + 1"
							" WHERE flow_id = $1", &args);
}

int64
rf_catalog_next_run_id(void)
{
	RfRow		row;

	(void) first_as_owner("SELECT nextval(pg_get_serial_sequence('replace_flow.run', 'run_id'))"
						  " AS run_id", NULL, &row);
	return rf_row_int64(&row, "run_id");
}

/*
 * Write a run's record; give it as a row of replace_flow.run.
 */
HeapTuple
rf_catalog_add_run(const RfRun *run)
{
	const RfRunCounts *counts = &run->counts;
	RfArgs		args = {0};
	RfRow		row;

	rf_arg(&args, INT8OID, Int64GetDatum(run->run_id));
	rf_arg_text(&args, run->flow->name);
	rf_arg_text(&args, run->status);
	rf_arg(&args, TIMESTAMPTZOID, TimestampTzGetDatum(run->started_at));
	rf_arg(&args, INT4OID, Int32GetDatum(run->flow->definition_version));
	rf_arg(&args, INT8OID, Int64GetDatum(counts->rows_staged));
	rf_arg(&args, INT8OID, Int64GetDatum(counts->rows_read));
	rf_arg(&args, INT8OID, Int64GetDatum(counts->rows_rejected));
	rf_arg(&args, INT8OID, Int64GetDatum(counts->rows_superseded));
	rf_arg(&args, INT8OID, Int64GetDatum(counts->rows_late));
	rf_arg(&args, INT8OID, Int64GetDatum(counts->rows_tie_ignored));
	rf_arg(&args, INT8OID, Int64GetDatum(counts->rows_tombstone));
	rf_arg(&args, INT8OID, Int64GetDatum(counts->rows_inserted));
	rf_arg(&args, INT8OID, Int64GetDatum(counts->rows_updated));
	rf_arg(&args, INT8OID, Int64GetDatum(counts->rows_deleted));
	rf_arg(&args, INT8OID, Int64GetDatum(counts->rows_unchanged));
	rf_arg(&args, INT8OID, Int64GetDatum(counts->keys_replaced));
	rf_arg(&args, INT8OID, Int64GetDatum((int64) rf_run_wal_bytes(run)));
	(void) first_as_owner("INSERT INTO replace_flow.run"
						  " (kind, run_id, flow, status, started_at, finished_at,"
						  " definition_version, rows_staged, rows_read, rows_rejected,"
						  " rows_superseded, rows_late, rows_tie_ignored, rows_tombstone,"
						  " rows_inserted, rows_updated, rows_deleted, rows_unchanged,"
						  " keys_replaced, wal_bytes)"
						  " VALUES ('using', $1, $2, $3, $4, clock_timestamp(), $5, $6, $7,"
						  " $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)"
						  " RETURNING *", &args, &row);
	return row.tuple;
}

void
rf_catalog_add_expectation_result(int64 run_id, const char *expectation,
								  RfAction action,
								  int64 rows_passed, int64 rows_failed)
{
	RfArgs		args = {0};

	rf_arg(&args, INT8OID, Int64GetDatum(run_id));
	rf_arg_text(&args, expectation);
	rf_arg_text(&args, rf_action_name(action));
	rf_arg(&args, INT8OID, Int64GetDatum(rows_passed));
	rf_arg(&args, INT8OID, Int64GetDatum(rows_failed));
	(void) execute_as_owner("INSERT INTO replace_flow.expectation_result"
							" (run_id, expectation, action, rows_passed, rows_failed)"
							" VALUES ($1, $2, $3, $4, $5)", &args);
}

/*
 * Keep rejected rows; the tuplestore has columns expectation (text) and row
 * (jsonb).
 */
void
rf_catalog_add_rejected(const char *flow, int64 run_id, TupleDesc desc,
						Tuplestorestate *rows, int64 nrows)
{
	RfArgs		args = {0};

	rf_arg_text(&args, flow);
	rf_arg(&args, INT8OID, Int64GetDatum(run_id));
	rf_query_register("rf_rejected_set", desc, rows, nrows);
	(void) execute_as_owner("INSERT INTO replace_flow.rejected (flow, run_id, expectation, \"row\")"
							" SELECT $1, $2, r.expectation, r.\"row\" FROM rf_rejected_set r",
							&args);
	rf_query_unregister("rf_rejected_set");
}
