/*-------------------------------------------------------------------------
 *
 * seen.c
 *	  What the last run of each flow has seen.
 *
 * A flow remembers the snapshot of its last run, so the next one takes the changes
 * that its own snapshot sees and that one did not: also those of a transaction that
 * began before it and was committed after it.  Changes of the transaction in which the
 * run itself was done count as not seen, whether they came before the run or after it.
 *
 * With the snapshot goes what else a run was based on, for the next one to compare: its
 * window, and the fingerprints of definitions.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"

#include "catalog_statement.h"
#include "seen.h"

static List *
oid_list(Datum array)
{
	List	   *oids = NIL;
	Datum	   *values;
	int			count;

	deconstruct_array(DatumGetArrayTypeP(array), OIDOID, sizeof(Oid), true, TYPALIGN_INT,
					  &values, NULL, &count);
	for (int i = 0; i < count; i++)
		oids = lappend_oid(oids, DatumGetObjectId(values[i]));
	return oids;
}

/*
 * The active snapshot, as a value to be stored.
 */
Datum
rf_seen_snapshot(void)
{
	return DirectFunctionCall1(pg_current_snapshot, (Datum) 0);
}

/*
 * What the last run of a flow saw; false if that is not known.
 *
 * Before its first run a flow has a row that says that it has seen nothing, so
 * that nobody removes what comes after the snapshot of that run; and so when it
 * comes to read other tables.  For those who do not see the row, it is not there yet.
 * So a run in the transaction that made it must not remember what it saw (is_new),
 * and leaves that to the next one.
 */
bool
rf_seen_load(int32 flow_id, RfSeen *seen)
{
	RfArgs		args = {0};
	RfRow		row;
	bool		found;
	bool		isnull;

	rf_arg(&args, INT4OID, Int32GetDatum(flow_id));
	found = rf_catalog_first("SELECT definition_version, predicate, settled, sources, target,"
							 " seen_before, in_progress, relids,"
							 " seen_before = '0' AND in_progress[1]"
							 " = pg_current_xact_id_if_assigned() AS is_new"
							 " FROM replace_flow.seen WHERE flow_id = $1", &args, &row);
	if (!found)
		return false;
	seen->is_new = rf_row_bool(&row, "is_new");
	seen->definition_version = (int32) rf_row_int64(&row, "definition_version");
	seen->predicate = rf_row_text(&row, "predicate");
	seen->settled = rf_row_bool(&row, "settled");
	seen->sources = (uint64) rf_row_int64(&row, "sources");
	seen->target = (uint64) rf_row_int64(&row, "target");
	seen->seen_before = rf_row_datum(&row, "seen_before", &isnull);
	seen->in_progress = rf_row_datum(&row, "in_progress", &isnull);
	seen->relids = oid_list(rf_row_datum(&row, "relids", &isnull));
	return true;
}

/*
 * Remember what a run of a flow saw.
 */
void
rf_seen_store(int32 flow_id, const RfSeen *seen)
{
	RfArgs		args = {0};

	rf_arg(&args, INT4OID, Int32GetDatum(flow_id));
	rf_arg(&args, INT4OID, Int32GetDatum(seen->definition_version));
	rf_arg_text(&args, seen->predicate);
	rf_arg(&args, BOOLOID, BoolGetDatum(seen->settled));
	rf_arg(&args, INT8OID, Int64GetDatum((int64) seen->sources));
	rf_arg(&args, INT8OID, Int64GetDatum((int64) seen->target));
	rf_arg_oids(&args, seen->relids);
	rf_arg(&args, PG_SNAPSHOTOID, seen->snapshot);
	(void) rf_catalog_execute("INSERT INTO replace_flow.seen (flow_id, definition_version,"
							  " predicate, settled, sources, target, relids, seen_before,"
							  " in_progress)"
							  " SELECT $1, $2, $3, $4, $5, $6, $7, pg_snapshot_xmax($8),"
							  " ARRAY(SELECT pg_snapshot_xip($8)) || pg_current_xact_id()"
							  " ON CONFLICT (flow_id) DO UPDATE SET"
							  " definition_version = excluded.definition_version,"
							  " predicate = excluded.predicate, settled = excluded.settled,"
							  " sources = excluded.sources, target = excluded.target,"
							  " relids = excluded.relids, seen_before = excluded.seen_before,"
							  " in_progress = excluded.in_progress", &args);
}

/*
 * A flow has seen nothing yet of the tables that it reads.
 */
void
rf_seen_nothing(int32 flow_id, List *relids)
{
	RfArgs		args = {0};

	rf_arg(&args, INT4OID, Int32GetDatum(flow_id));
	rf_arg_oids(&args, relids);
	(void) rf_catalog_execute("INSERT INTO replace_flow.seen (flow_id, definition_version,"
							  " predicate, settled, sources, target, relids, seen_before,"
							  " in_progress) VALUES ($1, 0, '', false, 0, 0, $2, '0',"
							  " ARRAY[pg_current_xact_id()])"
							  " ON CONFLICT (flow_id) DO UPDATE SET sources = 0, target = 0,"
							  " relids = excluded.relids,"
							  " seen_before = excluded.seen_before,"
							  " in_progress = excluded.in_progress", &args);
}

/*
 * A run of a flow has changed the target and is not remembered, under definitions
 * that are not those of the last one that is.  Should they come back, the target is
 * not as that one left it.
 */
void
rf_seen_doubt(int32 flow_id)
{
	RfArgs		args = {0};

	rf_arg(&args, INT4OID, Int32GetDatum(flow_id));
	(void) rf_catalog_execute("UPDATE replace_flow.seen SET sources = 0 WHERE flow_id = $1", &args);
}
