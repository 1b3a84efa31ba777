/*-------------------------------------------------------------------------
 *
 * flow_catalog.c
 *	  The extension's own tables.
 *
 * The only file that names them, but for what changed in users' tables
 * (change_log.c) and what flows have seen of it (seen.c).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"

#include "catalog_statement.h"
#include "flow_catalog.h"
#include "regcolumn.h"

/*
 * Let one session at a time define flows, until its transaction ends: whether
 * a table is free to be a target or a stream depends on all flows that there
 * are.  Runs do not wait for it.
 */
void
rf_catalog_lock_definitions(void)
{
	(void) rf_catalog_execute("LOCK TABLE replace_flow.flow IN SHARE ROW EXCLUSIVE MODE", NULL);
}

/*
 * What a change of a flow needs of that lock, before it locks the flow's row:
 * who defines flows may run one afterwards.
 */
void
rf_catalog_lock_for_change(void)
{
	(void) rf_catalog_execute("LOCK TABLE replace_flow.flow IN ROW EXCLUSIVE MODE", NULL);
}

/* What create and alter write alike, as $1 and up. */
#define DEFINITION_COLUMNS \
	"target, query, keep_rejected, settings, comment, output_columns, target_columns," \
	" source, replace_using, sequence_by, delete_when, on_tie, auto_apply, quarantine," \
	" sequence_column, tombstone_column, has_ledger," \
	" replace_where, reset_allowed, allow_empty, refresh_on_change, min_interval"
#define DEFINITION_VALUES \
	"$1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17," \
	" $18, $19, $20, $21, $22"

static void
add_definition(RfArgs *args, const RfFlowRow *flow)
{
	bool		using = flow->kind == RF_USING;

	rf_arg(args, REGCLASSOID, ObjectIdGetDatum(flow->target));
	rf_arg_text(args, flow->query);
	rf_arg(args, BOOLOID, BoolGetDatum(flow->keep_rejected));
	rf_arg(args, JSONBOID, flow->settings);
	rf_arg_text(args, flow->comment);
	rf_arg(args, TEXTARRAYOID, flow->output_columns);
	rf_arg(args, get_array_type(rf_regcolumn_type()), flow->target_columns);
	rf_arg_or_null(args, REGCLASSOID, ObjectIdGetDatum(flow->source), !using);
	rf_arg_or_null(args, TEXTARRAYOID, flow->replace_using, !using);
	rf_arg_text(args, flow->sequence_by);
	rf_arg_text(args, flow->delete_when);
	rf_arg_text(args, flow->on_tie);
	rf_arg_or_null(args, BOOLOID, BoolGetDatum(flow->auto_apply), !using);
	rf_arg_or_null(args, BOOLOID, BoolGetDatum(flow->quarantine), !using);
	rf_arg_text(args, flow->sequence_column);
	rf_arg_text(args, flow->tombstone_column);
	rf_arg(args, BOOLOID, BoolGetDatum(flow->has_ledger));
	rf_arg_text(args, flow->replace_where);
	rf_arg_or_null(args, BOOLOID, BoolGetDatum(flow->reset_allowed), using);
	rf_arg_or_null(args, BOOLOID, BoolGetDatum(flow->allow_empty), using);
	rf_arg_or_null(args, BOOLOID, BoolGetDatum(flow->refresh_on_change), using);
	rf_arg_or_null(args, INTERVALOID, flow->min_interval, using);
}

/* An id whose helper objects' names are free, whoever has put what there. */
static int32
choose_id(void)
{
	for (;;)
	{
		RfRow		row;
		int32		flow_id;

		(void) rf_catalog_first("SELECT nextval(pg_get_serial_sequence('replace_flow.flow',"
								" 'flow_id')) AS flow_id", NULL, &row);
		flow_id = (int32) rf_row_int64(&row, "flow_id");
		if (!OidIsValid(get_relname_relid(rf_flow_view_name(flow_id), rf_flow_namespace())) &&
			!OidIsValid(get_relname_relid(rf_flow_window_name(flow_id), rf_flow_namespace())) &&
			!OidIsValid(get_relname_relid(rf_flow_ledger_name(flow_id), rf_flow_namespace())))
			return flow_id;
	}
}

/*
 * Add a flow; give its id.  TimeZone, DateStyle and IntervalStyle of this
 * session go with it.
 */
int32
rf_catalog_add_flow(const RfFlowRow *flow)
{
	RfArgs		args = {0};
	int32		flow_id = choose_id();

	add_definition(&args, flow);
	rf_arg_text(&args, flow->name);
	rf_arg_text(&args, GetConfigOption("TimeZone", false, false));
	rf_arg_text(&args, GetConfigOption("DateStyle", false, false));
	rf_arg_text(&args, GetConfigOption("IntervalStyle", false, false));
	rf_arg(&args, INT4OID, Int32GetDatum(flow_id));
	rf_arg_text(&args, rf_flow_kind_name(flow->kind));
	(void) rf_catalog_execute("INSERT INTO replace_flow.flow (" DEFINITION_COLUMNS ","
							  " name, time_zone, date_style, interval_style, flow_id, kind)"
							  " VALUES (" DEFINITION_VALUES ", $23, $24, $25, $26, $27, $28)",
							  &args);
	return flow_id;
}

/*
 * A flow's definition as it was given.
 */
void
rf_catalog_read_flow(int32 flow_id, RfFlowRow *flow)
{
	RfArgs		args = {0};
	RfRow		row;
	bool		isnull;

	rf_arg(&args, INT4OID, Int32GetDatum(flow_id));
	(void) rf_catalog_first("SELECT * FROM replace_flow.flow WHERE flow_id = $1", &args, &row);
	flow->kind = rf_flow_kind_parse(rf_row_text(&row, "kind"));
	flow->name = rf_row_text(&row, "name");
	flow->target = rf_row_oid(&row, "target");
	flow->query = rf_row_text(&row, "query");
	flow->replace_where = rf_row_text(&row, "replace_where");
	flow->reset_allowed = rf_row_bool(&row, "reset_allowed");
	flow->allow_empty = rf_row_bool(&row, "allow_empty");
	flow->refresh_on_change = rf_row_bool(&row, "refresh_on_change");
	flow->min_interval = rf_row_datum(&row, "min_interval", &isnull);
	flow->source = rf_row_oid(&row, "source");
	flow->replace_using = rf_row_datum(&row, "replace_using", &isnull);
	flow->sequence_by = rf_row_text(&row, "sequence_by");
	flow->delete_when = rf_row_text(&row, "delete_when");
	flow->on_tie = rf_row_text(&row, "on_tie");
	flow->auto_apply = rf_row_bool(&row, "auto_apply");
	flow->keep_rejected = rf_row_bool(&row, "keep_rejected");
	flow->quarantine = rf_row_bool(&row, "quarantine");
	flow->settings = rf_row_datum(&row, "settings", &isnull);
	flow->comment = rf_row_text(&row, "comment");
	flow->output_columns = rf_row_datum(&row, "output_columns", &isnull);
	flow->target_columns = rf_row_datum(&row, "target_columns", &isnull);
	flow->sequence_column = rf_row_text(&row, "sequence_column");
	flow->tombstone_column = rf_row_text(&row, "tombstone_column");
	flow->has_ledger = rf_row_bool(&row, "has_ledger");
}

/*
 * Change a flow's definition, all but its name, and count the change if its runs
 * will do something else.
 */
void
rf_catalog_change_flow(int32 flow_id, const RfFlowRow *flow, bool count)
{
	RfArgs		args = {0};

	add_definition(&args, flow);
	rf_arg(&args, INT4OID, Int32GetDatum(flow_id));
	rf_arg(&args, INT4OID, Int32GetDatum(count ? 1 : 0));
	(void) rf_catalog_execute("UPDATE replace_flow.flow SET (" DEFINITION_COLUMNS ","
							  " definition_version) = (" DEFINITION_VALUES ","
							  " definition_version + $24) WHERE flow_id = $23", &args);
}

/*
 * Give a flow another name, in its history too.
 */
void
rf_catalog_rename_flow(int32 flow_id, const char *name)
{
	RfArgs		args = {0};

	rf_arg_text(&args, name);
	rf_arg(&args, INT4OID, Int32GetDatum(flow_id));
	(void) rf_catalog_execute("UPDATE replace_flow.flow SET name = $1 WHERE flow_id = $2", &args);
	(void) rf_catalog_execute("UPDATE replace_flow.run SET flow = $1 WHERE flow_id = $2", &args);
	(void) rf_catalog_execute("UPDATE replace_flow.rejected SET flow = $1 WHERE flow_id = $2",
							  &args);
}

void
rf_catalog_pause_flow(int32 flow_id, bool paused)
{
	RfArgs		args = {0};

	rf_arg(&args, BOOLOID, BoolGetDatum(paused));
	rf_arg(&args, INT4OID, Int32GetDatum(flow_id));
	(void) rf_catalog_execute("UPDATE replace_flow.flow SET paused = $1 WHERE flow_id = $2", &args);
}

#define FLOW_BY_NAME "SELECT * FROM replace_flow.flow WHERE name = $1"

bool
rf_catalog_find_flow(const char *name, RfRow *row)
{
	RfArgs		args = {0};

	rf_arg_text(&args, name);
	return rf_catalog_first(FLOW_BY_NAME, &args, row);
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
	return rf_catalog_first(wait ? FLOW_BY_NAME " FOR NO KEY UPDATE"
							: FLOW_BY_NAME " FOR NO KEY UPDATE SKIP LOCKED", &args, row);
}

void
rf_catalog_drop_flow(int32 flow_id)
{
	RfArgs		args = {0};

	rf_arg(&args, INT4OID, Int32GetDatum(flow_id));
	(void) rf_catalog_execute("WITH dropped AS (DELETE FROM replace_flow.run"
							  " WHERE flow_id = $1 RETURNING run_id)"
							  " DELETE FROM replace_flow.expectation_result e"
							  " USING dropped d WHERE e.run_id = d.run_id", &args);
	(void) rf_catalog_execute("DELETE FROM replace_flow.rejected WHERE flow_id = $1", &args);
	(void) rf_catalog_execute("DELETE FROM replace_flow.backfill WHERE flow_id = $1", &args);
	(void) rf_catalog_execute("DELETE FROM replace_flow.expectation WHERE flow_id = $1", &args);
	(void) rf_catalog_execute("DELETE FROM replace_flow.seen WHERE flow_id = $1", &args);
	(void) rf_catalog_execute("DELETE FROM replace_flow.flow WHERE flow_id = $1", &args);
}

static char *
flow_of_relation(const char *sql, List *relids, int32 other_than)
{
	RfArgs		args = {0};
	RfRow		row;

	rf_arg_oids(&args, relids);
	rf_arg(&args, INT4OID, Int32GetDatum(other_than));
	return rf_catalog_first(sql, &args, &row) ? rf_row_text(&row, "name") : NULL;
}

/*
 * The name of another flow whose target is one of these, or NULL.
 */
char *
rf_catalog_flow_of_target(List *relids, int32 other_than)
{
	return flow_of_relation("SELECT name FROM replace_flow.flow"
							" WHERE target::oid = ANY ($1) AND flow_id <> $2"
							" ORDER BY flow_id", relids, other_than);
}

/*
 * The name of another using flow whose stream is one of these, or NULL.
 */
char *
rf_catalog_flow_of_source(List *relids, int32 other_than)
{
	return flow_of_relation("SELECT name FROM replace_flow.flow"
							" WHERE kind = 'using' AND source::oid = ANY ($1) AND flow_id <> $2"
							" ORDER BY flow_id", relids, other_than);
}

/*
 * Target and stream of a using flow; false when there is none of that id.
 */
bool
rf_catalog_find_stream(int32 flow_id, Oid *target, Oid *stream)
{
	RfArgs		args = {0};
	RfRow		row;

	rf_arg(&args, INT4OID, Int32GetDatum(flow_id));
	if (!rf_catalog_first("SELECT target::oid, source::oid FROM replace_flow.flow"
						  " WHERE flow_id = $1 AND kind = 'using'", &args, &row))
		return false;
	*target = rf_row_oid(&row, "target");
	*stream = rf_row_oid(&row, "source");
	return true;
}

/*
 * Flows whose target, stream or view was dropped, locked.  One that is locked
 * by somebody else is left to the next time.
 */
int
rf_catalog_lost_flows(RfRow **rows)
{
	return rf_catalog_all("SELECT f.flow_id FROM replace_flow.flow f"
						  " WHERE NOT EXISTS (SELECT FROM pg_class c WHERE c.oid = f.target)"
						  " OR f.source IS NOT NULL"
						  " AND NOT EXISTS (SELECT FROM pg_class c WHERE c.oid = f.source)"
						  " OR NOT EXISTS (SELECT FROM pg_class c"
						  " WHERE c.relnamespace = 'replace_flow'::regnamespace"
						  " AND c.relname = 'flow_' || f.flow_id AND c.relkind = 'v')"
						  " OR f.kind = 'where' AND NOT EXISTS (SELECT FROM pg_class c"
						  " WHERE c.relnamespace = 'replace_flow'::regnamespace"
						  " AND c.relname = 'window_' || f.flow_id AND c.relkind = 'v')"
						  " ORDER BY f.flow_id FOR UPDATE SKIP LOCKED", NULL, rows);
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
	return rf_catalog_first("SELECT name FROM replace_flow.flow"
							" WHERE pg_has_role($2, replace_flow.flow_owner(flow)::oid, 'USAGE')"
							" AND lower(regexp_replace(name, '^.*\\.|\"', '', 'g'))"
							" = lower(regexp_replace($1, '^.*\\.|\"', '', 'g')) ORDER BY name",
							&args, &row) ? rf_row_text(&row, "name") : NULL;
}

int
rf_catalog_all_flows(RfRow **rows)
{
	return rf_catalog_all("SELECT flow_id, name, kind FROM replace_flow.flow ORDER BY flow_id",
						  NULL, rows);
}

/* The flows that the worker runs. */
#define WORKER_RUNS "(f.kind = 'using' AND f.auto_apply" \
	" OR f.kind = 'where' AND f.refresh_on_change)"

/*
 * What the worker has to know of its flows.
 */
int
rf_catalog_worker_flows(RfRow **rows)
{
	return rf_catalog_all("SELECT f.flow_id, f.target, f.xmin::text::bigint AS version, f.paused,"
						  " f.quarantine, (extract(epoch FROM f.min_interval) * 1000)::bigint"
						  " AS min_interval FROM replace_flow.flow f"
						  " WHERE " WORKER_RUNS " ORDER BY f.flow_id", NULL, rows);
}

/*
 * Those of them that failed since they last succeeded.
 */
int
rf_catalog_worker_failures(RfRow **rows)
{
	return rf_catalog_all("SELECT f.flow_id, count(*) AS failures, max(r.finished_at) AS failed_at"
						  " FROM replace_flow.flow f JOIN replace_flow.run r USING (flow_id)"
						  " WHERE " WORKER_RUNS " AND r.status = 'failed' AND r.run_id > coalesce("
						  "(SELECT s.run_id FROM replace_flow.run s WHERE s.flow_id = f.flow_id"
						  " AND s.status = 'succeeded' ORDER BY s.run_id DESC LIMIT 1), 0)"
						  " GROUP BY f.flow_id", NULL, rows);
}

/*
 * The name of a flow, its kind and its stream; false when it is gone, if with the
 * extension.
 */
bool
rf_catalog_flow_by_id(int32 flow_id, RfRow *row)
{
	RfArgs		args = {0};

	if (!rf_flow_extension_exists())
		return false;
	rf_arg(&args, INT4OID, Int32GetDatum(flow_id));
	return rf_catalog_first("SELECT name, kind, source::oid AS source FROM replace_flow.flow"
							" WHERE flow_id = $1", &args, row);
}

/* Flows that tables wake. */
#define WOKEN_FLOWS "SELECT flow_id, kind, source, replace_flow.flow_owner(f)::oid AS owner" \
	" FROM replace_flow.flow f WHERE (kind = 'using' OR refresh_on_change)"

/*
 * The flows that the worker runs when tables change, or may run: flow_id, kind,
 * source and owner.
 */
int
rf_catalog_woken_flows(RfRow **rows)
{
	return rf_catalog_all(WOKEN_FLOWS " ORDER BY flow_id", NULL, rows);
}

/*
 * One of them, if it is one; the number of rows.
 */
int
rf_catalog_woken_flow(int32 flow_id, RfRow **row)
{
	RfArgs		args = {0};

	rf_arg(&args, INT4OID, Int32GetDatum(flow_id));
	return rf_catalog_all(WOKEN_FLOWS " AND flow_id = $1", &args, row);
}

/*
 * The tables whose changes are captured, and for flows of whom: relid and owner.
 */
int
rf_catalog_captured(RfRow **rows)
{
	return rf_catalog_all("SELECT DISTINCT c.relid, replace_flow.flow_owner(f)::oid AS owner"
						  " FROM replace_flow.captured c JOIN replace_flow.flow f USING (flow_id)"
						  " ORDER BY c.relid, owner", NULL, rows);
}

/*
 * Those that are captured for one flow: relid and columns.
 */
int
rf_catalog_captured_for(int32 flow_id, RfRow **rows)
{
	RfArgs		args = {0};

	rf_arg(&args, INT4OID, Int32GetDatum(flow_id));
	return rf_catalog_all("SELECT relid, columns FROM replace_flow.captured"
						  " WHERE flow_id = $1 ORDER BY relid", &args, rows);
}

/*
 * Capture these columns (smallint[]) of a table for a flow.
 */
void
rf_catalog_capture(int32 flow_id, Oid relid, Datum columns)
{
	RfArgs		args = {0};

	rf_arg(&args, INT4OID, Int32GetDatum(flow_id));
	rf_arg(&args, OIDOID, ObjectIdGetDatum(relid));
	rf_arg(&args, INT2ARRAYOID, columns);
	(void) rf_catalog_execute("INSERT INTO replace_flow.captured (flow_id, relid, columns)"
							  " VALUES ($1, $2, $3) ON CONFLICT (flow_id, relid)"
							  " DO UPDATE SET columns = excluded.columns", &args);
}

/*
 * Capture nothing of a table for a flow any more.
 */
void
rf_catalog_release(int32 flow_id, Oid relid)
{
	RfArgs		args = {0};

	rf_arg(&args, INT4OID, Int32GetDatum(flow_id));
	rf_arg(&args, OIDOID, ObjectIdGetDatum(relid));
	(void) rf_catalog_execute("DELETE FROM replace_flow.captured"
							  " WHERE flow_id = $1 AND relid = $2", &args);
}

/*
 * Remove changes of tables that are not captured any more, or are gone.
 *
 * One statement, so that it sees a change only if it sees for whom it was noted.
 * Those that somebody else is about to remove are left to them.  A table may come up
 * more than once, since for UNION the server would make room for as many as there might
 * be, which the worker would keep.
 */
void
rf_catalog_sweep_changes(void)
{
	(void) rf_catalog_execute("WITH RECURSIVE part (relid) AS ("
							  "SELECT DISTINCT relid FROM replace_flow.captured"
							  " UNION ALL SELECT i.inhrelid FROM part p"
							  " JOIN pg_inherits i ON i.inhparent = p.relid),"
							  " ancestor (relid) AS (SELECT relid FROM part"
							  " UNION ALL SELECT i.inhparent FROM ancestor a"
							  " JOIN pg_inherits i ON i.inhrelid = a.relid)"
							  " DELETE FROM replace_flow.change WHERE ctid = ANY (ARRAY("
							  "SELECT c.ctid FROM replace_flow.change c WHERE NOT EXISTS"
							  " (SELECT FROM ancestor a WHERE a.relid = c.relid)"
							  " FOR UPDATE SKIP LOCKED))", NULL);
}

/*
 * Remove records of a flow's runs that are older than that, of many some at a
 * time; but not of the last one that succeeded, since it is not the first.
 */
void
rf_catalog_forget_runs(int32 flow_id, int minutes)
{
	RfArgs		args = {0};

	rf_arg(&args, INT4OID, Int32GetDatum(flow_id));
	rf_arg(&args, INT4OID, Int32GetDatum(minutes));
	(void) rf_catalog_execute("WITH old AS (SELECT r.run_id"
							  " FROM unnest('{succeeded,failed,skipped}'::text[]) s (status),"
							  " LATERAL (SELECT run_id, finished_at FROM replace_flow.run"
							  " WHERE flow_id = $1 AND status = s.status"
							  " ORDER BY run_id LIMIT 2000) r"
							  " WHERE r.finished_at < clock_timestamp()"
							  " - make_interval(mins => $2)),"
							  " gone AS (DELETE FROM replace_flow.run r USING old o"
							  " WHERE r.run_id = o.run_id AND r.run_id IS DISTINCT FROM"
							  " (SELECT run_id FROM replace_flow.run WHERE flow_id = $1"
							  " AND status = 'succeeded' ORDER BY run_id DESC LIMIT 1)"
							  " RETURNING r.run_id)"
							  " DELETE FROM replace_flow.expectation_result e"
							  " USING gone g WHERE e.run_id = g.run_id", &args);
}

/*
 * The definition with which a flow was run last; false when it never was.
 */
bool
rf_catalog_last_version(int32 flow_id, int32 *version)
{
	RfArgs		args = {0};
	RfRow		row;

	rf_arg(&args, INT4OID, Int32GetDatum(flow_id));
	if (!rf_catalog_first("SELECT definition_version FROM replace_flow.run"
						  " WHERE flow_id = $1 AND status = 'succeeded'"
						  " ORDER BY run_id DESC LIMIT 1", &args, &row))
		return false;
	*version = (int32) rf_row_int64(&row, "definition_version");
	return true;
}

/*
 * A flow's settings: name and value.
 */
int
rf_catalog_settings(Datum settings, RfRow **rows)
{
	RfArgs		args = {0};

	rf_arg(&args, JSONBOID, settings);
	return rf_catalog_all("SELECT key AS name, value FROM jsonb_each_text($1) ORDER BY key",
						  &args, rows);
}

/*
 * The elements of an array of overrides: flow_name and predicate_override.
 */
int
rf_catalog_overrides(Datum overrides, RfRow **rows)
{
	RfArgs		args = {0};

	rf_arg(&args, JSONBOID, overrides);
	return rf_catalog_all("SELECT o.element->>'flow_name' AS flow_name,"
						  " o.element->>'predicate_override' AS predicate_override"
						  " FROM jsonb_array_elements($1) WITH ORDINALITY AS o (element, place)"
						  " ORDER BY o.place", &args, rows);
}

/*
 * Texts as an array to be stored, and back.
 */
Datum
rf_catalog_array_of_texts(List *texts)
{
	Datum	   *values = palloc(list_length(texts) * sizeof(Datum));
	int			count = 0;
	ListCell   *cell;

	foreach(cell, texts)
		values[count++] = CStringGetTextDatum(lfirst(cell));
	return PointerGetDatum(construct_array(values, count, TEXTOID, -1, false, TYPALIGN_INT));
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

int
rf_catalog_expectations(int32 flow_id, RfRow **rows)
{
	RfArgs		args = {0};

	rf_arg(&args, INT4OID, Int32GetDatum(flow_id));
	return rf_catalog_all("SELECT name, action, view_column"
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
	return rf_catalog_execute("INSERT INTO replace_flow.expectation"
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
	return rf_catalog_execute("DELETE FROM replace_flow.expectation"
							  " WHERE flow_id = $1 AND name = $2", &args) > 0;
}

/*
 * The column of the flow's view that holds the expectation's verdict is another.
 */
void
rf_catalog_move_expectation(int32 flow_id, const char *name, const char *view_column)
{
	RfArgs		args = {0};

	rf_arg(&args, INT4OID, Int32GetDatum(flow_id));
	rf_arg_text(&args, name);
	rf_arg_text(&args, view_column);
	(void) rf_catalog_execute("UPDATE replace_flow.expectation SET view_column = $3"
							  " WHERE flow_id = $1 AND name = $2", &args);
}

/*
 * Note that a backfill is under way; give the number of slices that are done
 * already.
 */
int64
rf_catalog_begin_backfill(RfBackfillRow *backfill, Oid target)
{
	RfArgs		args = {0};
	RfRow		row;

	rf_arg(&args, INT4OID, Int32GetDatum(backfill->flow_id));
	rf_arg(&args, rf_regcolumn_type(), rf_regcolumn_datum(target, backfill->column));
	rf_arg_text(&args, backfill->from_value);
	rf_arg_text(&args, backfill->to_value);
	rf_arg_text(&args, backfill->step);
	rf_arg(&args, BOOLOID, BoolGetDatum(backfill->newest_first));
	rf_arg(&args, INT8OID, Int64GetDatum(backfill->slices_total));
	rf_arg(&args, INT4OID, Int32GetDatum(backfill->definition_version));
	(void) rf_catalog_first("INSERT INTO replace_flow.backfill AS b (flow_id, target_column,"
							" from_value, to_value, step, newest_first, slices_total,"
							" definition_version) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)"
							" ON CONFLICT (flow_id, CAST(target_column AS bigint), from_value,"
							" to_value, step, newest_first)"
							" DO UPDATE SET slices_total = excluded.slices_total,"
							" definition_version = excluded.definition_version,"
							" slices_done = CASE WHEN b.definition_version ="
							" excluded.definition_version THEN b.slices_done ELSE 0 END"
							" RETURNING backfill_id, slices_done", &args, &row);
	backfill->backfill_id = rf_row_int64(&row, "backfill_id");
	return rf_row_int64(&row, "slices_done");
}

/*
 * Lock a backfill to do its next slice; false when there is none any more.
 */
bool
rf_catalog_lock_backfill(const RfBackfillRow *backfill, int64 *slices_done)
{
	RfArgs		args = {0};
	RfRow		row;

	rf_arg(&args, INT8OID, Int64GetDatum(backfill->backfill_id));
	if (!rf_catalog_first("SELECT slices_done FROM replace_flow.backfill"
						  " WHERE backfill_id = $1 FOR UPDATE", &args, &row))
		return false;
	*slices_done = rf_row_int64(&row, "slices_done");
	return true;
}

/*
 * Another slice is done; the last one ends the backfill.
 */
void
rf_catalog_slice_done(const RfBackfillRow *backfill, int64 slices_done)
{
	RfArgs		args = {0};

	rf_arg(&args, INT8OID, Int64GetDatum(backfill->backfill_id));
	rf_arg(&args, INT8OID, Int64GetDatum(slices_done));
	(void) rf_catalog_execute(slices_done >= backfill->slices_total ?
							"DELETE FROM replace_flow.backfill"
							  " WHERE backfill_id = $1 AND slices_done < $2" :
							"UPDATE replace_flow.backfill"
							  " SET slices_done = $2, updated_at = clock_timestamp()"
							  " WHERE backfill_id = $1", &args);
}

/*
 * A flow's definition has changed.
 */
void
rf_catalog_raise_version(int32 flow_id)
{
	RfArgs		args = {0};

	rf_arg(&args, INT4OID, Int32GetDatum(flow_id));
	(void) rf_catalog_execute("UPDATE replace_flow.flow"
							  " SET definition_version = definition_version + 1"
							  " WHERE flow_id = $1", &args);
}

int64
rf_catalog_next_run_id(void)
{
	RfRow		row;

	(void) rf_catalog_first("SELECT nextval(pg_get_serial_sequence('replace_flow.run', 'run_id'))"
							" AS run_id", NULL, &row);
	return rf_row_int64(&row, "run_id");
}

/* SQLSTATE and message of an error, if there is one. */
static void
add_error(RfArgs *args, const ErrorData *error)
{
	rf_arg_text(args, error == NULL ? NULL : unpack_sql_state(error->sqlerrcode));
	rf_arg_text(args, error == NULL ? NULL : error->message);
}

/*
 * Write a run's record; give it as a row of replace_flow.run.
 */
RfRow
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
	rf_arg(&args, INT4OID, Int32GetDatum(run->flow->id));
	rf_arg_text(&args, rf_flow_kind_name(run->flow->kind));
	rf_arg_text(&args, run->technique);
	rf_arg_or_null(&args, TEXTARRAYOID, rf_catalog_array_of_texts(run->reasons),
				   run->reasons == NIL && run->technique == NULL);
	rf_arg_text(&args, run->predicate);
	rf_arg(&args, INT8OID, Int64GetDatum(counts->rows_reset));
	add_error(&args, run->error);
	rf_arg_text(&args, run->error == NULL ? NULL : run->error->detail);
	(void) rf_catalog_first("INSERT INTO replace_flow.run"
							" (run_id, flow, status, started_at, finished_at,"
							" definition_version, rows_staged, rows_read, rows_rejected,"
							" rows_superseded, rows_late, rows_tie_ignored, rows_tombstone,"
							" rows_inserted, rows_updated, rows_deleted, rows_unchanged,"
							" keys_replaced, wal_bytes, flow_id, kind, technique, reasons,"
							" predicate, rows_reset, error_code, error_message, error_detail)"
							" VALUES ($1, $2, $3, $4, clock_timestamp(), $5, $6, $7, $8, $9,"
							" $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22,"
							" $23, $24, $25, $26, $27) RETURNING *", &args, &row);
	return row;
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
	(void) rf_catalog_execute("INSERT INTO replace_flow.expectation_result"
							  " (run_id, expectation, action, rows_passed, rows_failed)"
							  " VALUES ($1, $2, $3, $4, $5)", &args);
}

/*
 * Keep rejected rows; the tuplestore has columns expectation (text) and row
 * (jsonb).  With an error there are no expectations.
 */
void
rf_catalog_add_rejected(const RfFlow *flow, int64 run_id, const ErrorData *error,
						TupleDesc desc, Tuplestorestate *rows, int64 nrows)
{
	RfArgs		args = {0};

	rf_arg_text(&args, flow->name);
	rf_arg(&args, INT4OID, Int32GetDatum(flow->id));
	rf_arg(&args, INT8OID, Int64GetDatum(run_id));
	add_error(&args, error);
	rf_query_register("rf_rejected_set", desc, rows, nrows);
	(void) rf_catalog_execute("INSERT INTO replace_flow.rejected"
							  " (flow, flow_id, run_id, expectation, \"row\","
							  " error_code, error_message)"
							  " SELECT $1, $2, $3, r.expectation, r.\"row\", $4, $5"
							  " FROM rf_rejected_set r", &args);
	rf_query_unregister("rf_rejected_set");
}
