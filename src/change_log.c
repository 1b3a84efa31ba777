/*-------------------------------------------------------------------------
 *
 * change_log.c
 *	  Changes of tables, and what of them each flow has seen.
 *
 * An entry of the log says that a transaction has changed rows of a table.  A flow
 * remembers the snapshot of its last run, so the next one takes the entries that
 * its own snapshot sees and that one did not: also those of a transaction that
 * began before it and was committed after it.  Entries of the transaction in which
 * the run itself was done count as not seen, whether they came before the run or
 * after it.
 *
 * An entry that all flows have seen is removed by the run that sees it last.  Nobody
 * waits for that: what another session is about to remove is left to it.
 *
 * Writers of tables add entries without SQL, as quickly as it goes.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/indexing.h"
#include "catalog/pg_type.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/xid8.h"

#include "change_log.h"
#include "flow.h"
#include "role.h"

/* Entries that a table has at most, after somebody has looked, and bytes in them. */
#define MAX_ENTRIES 4096
#define MAX_BYTES (16 * 1024 * 1024)

/* Columns of the log, as the install script has them. */
enum
{
	CHANGE_RELID,
	CHANGE_XID,
	CHANGE_FLOW_ID,
	CHANGE_INSERTS_ONLY,
	CHANGE_CONTENT,
	CHANGE_COLUMNS
};

static Datum
oid_array(List *oids)
{
	Datum	   *values = palloc(list_length(oids) * sizeof(Datum));
	ListCell   *cell;

	foreach(cell, oids)
		values[foreach_current_index(cell)] = ObjectIdGetDatum(lfirst_oid(cell));
	return PointerGetDatum(construct_array(values, list_length(oids), OIDOID, sizeof(Oid), true,
										   TYPALIGN_INT));
}

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
	RfRoleGuard guard;
	RfRow		row;
	bool		found;
	bool		isnull;

	rf_arg(&args, INT4OID, Int32GetDatum(flow_id));
	rf_role_assume(&guard, rf_role_of_catalog());
	found = rf_query_first("SELECT definition_version, predicate, settled, sources, target,"
						   " seen_before, in_progress, relids,"
						   " seen_before = '0' AND in_progress[1]"
						   " = pg_current_xact_id_if_assigned() AS is_new"
						   " FROM replace_flow.seen WHERE flow_id = $1", &args, &row);
	rf_role_restore(&guard);
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
	RfRoleGuard guard;

	rf_arg(&args, INT4OID, Int32GetDatum(flow_id));
	rf_arg(&args, INT4OID, Int32GetDatum(seen->definition_version));
	rf_arg_text(&args, seen->predicate);
	rf_arg(&args, BOOLOID, BoolGetDatum(seen->settled));
	rf_arg(&args, INT8OID, Int64GetDatum((int64) seen->sources));
	rf_arg(&args, INT8OID, Int64GetDatum((int64) seen->target));
	rf_arg(&args, OIDARRAYOID, oid_array(seen->relids));
	rf_arg(&args, PG_SNAPSHOTOID, seen->snapshot);
	rf_role_assume(&guard, rf_role_of_catalog());
	(void) rf_query_execute("INSERT INTO replace_flow.seen AS s (flow_id, definition_version,"
							" predicate, settled, sources, target, relids, seen_before,"
							" in_progress) SELECT $1, $2, $3, $4, $5, $6, $7, pg_snapshot_xmax($8),"
							" ARRAY(SELECT pg_snapshot_xip($8)) || pg_current_xact_id()"
							" ON CONFLICT (flow_id) DO UPDATE SET"
							" definition_version = excluded.definition_version,"
							" predicate = excluded.predicate, settled = excluded.settled,"
							" sources = excluded.sources, target = excluded.target,"
							" relids = excluded.relids, seen_before = excluded.seen_before,"
							" in_progress = excluded.in_progress", &args);
	rf_role_restore(&guard);
}

/*
 * A flow has seen nothing yet of the tables that it reads.
 */
void
rf_seen_nothing(int32 flow_id, List *relids)
{
	RfArgs		args = {0};
	RfRoleGuard guard;

	rf_arg(&args, INT4OID, Int32GetDatum(flow_id));
	rf_arg(&args, OIDARRAYOID, oid_array(relids));
	rf_role_assume(&guard, rf_role_of_catalog());
	(void) rf_query_execute("INSERT INTO replace_flow.seen (flow_id, definition_version, predicate,"
							" settled, sources, target, relids, seen_before, in_progress)"
							" VALUES ($1, 0, '', false, 0, 0, $2, '0', ARRAY[pg_current_xact_id()])"
							" ON CONFLICT (flow_id) DO UPDATE SET sources = 0, target = 0,"
							" relids = excluded.relids,"
							" seen_before = excluded.seen_before,"
							" in_progress = excluded.in_progress", &args);
	rf_role_restore(&guard);
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
	RfRoleGuard guard;

	rf_arg(&args, INT4OID, Int32GetDatum(flow_id));
	rf_role_assume(&guard, rf_role_of_catalog());
	(void) rf_query_execute("UPDATE replace_flow.seen SET sources = 0 WHERE flow_id = $1", &args);
	rf_role_restore(&guard);
}

/*
 * A flow is no more.
 */
void
rf_seen_forget(int32 flow_id)
{
	RfArgs		args = {0};
	RfRoleGuard guard;

	rf_arg(&args, INT4OID, Int32GetDatum(flow_id));
	rf_role_assume(&guard, rf_role_of_catalog());
	(void) rf_query_execute("DELETE FROM replace_flow.seen WHERE flow_id = $1", &args);
	rf_role_restore(&guard);
}

/*
 * Add an entry, as whoever writes the table.  The run of a flow that writes it has
 * an id; all others have 0.
 */
void
rf_change_log_add(Oid relid, int32 flow_id, bool inserts_only, bytea *content)
{
	Relation	log = table_open(get_relname_relid("change", rf_flow_namespace()),
								 RowExclusiveLock);
	Datum		values[CHANGE_COLUMNS];
	bool		nulls[CHANGE_COLUMNS] = {false};

	values[CHANGE_RELID] = ObjectIdGetDatum(relid);
	values[CHANGE_XID] = FullTransactionIdGetDatum(GetTopFullTransactionId());
	values[CHANGE_FLOW_ID] = Int32GetDatum(flow_id);
	nulls[CHANGE_FLOW_ID] = flow_id == 0;
	values[CHANGE_INSERTS_ONLY] = BoolGetDatum(inserts_only);
	values[CHANGE_CONTENT] = PointerGetDatum(content);
	CatalogTupleInsert(log, heap_form_tuple(RelationGetDescr(log), values, nulls));
	table_close(log, NoLock);
}

/* Take the entries of a table out of the log, those that can be locked at once. */
static int
take_entries(Oid relid, RfRow **rows)
{
	RfArgs		args = {0};

	rf_arg(&args, OIDOID, ObjectIdGetDatum(relid));
	return rf_query_all("DELETE FROM replace_flow.change WHERE ctid = ANY (ARRAY("
						"SELECT ctid FROM replace_flow.change WHERE relid = $1"
						" FOR UPDATE SKIP LOCKED)) RETURNING inserts_only, content", &args, rows);
}

/* Whether no flow's run wrote what was taken is not kept: then others have. */
static void
put_together(Relation table, const Bitmapset *columns, int nrows, const RfRow *rows)
{
	RfChangeSet *changes = rf_changes_begin(RelationGetDescr(table), columns);
	AttrNumber *attnums = palloc(bms_num_members(columns) * sizeof(AttrNumber));
	bool		inserts_only = true;
	int			attnum = 0;

	for (int i = 0; (attnum = bms_next_member(columns, attnum)) >= 0; i++)
		attnums[i] = (AttrNumber) attnum;
	for (int i = 0; i < nrows; i++)
	{
		bool		isnull;

		inserts_only &= rf_row_bool(&rows[i], "inserts_only");
		rf_changes_add_content(changes, rf_row_datum(&rows[i], "content", &isnull), attnums);
	}
	rf_change_log_add(RelationGetRelid(table), 0, inserts_only, rf_changes_content(changes));
	rf_changes_end(changes);
}

/*
 * Whether a table has so many entries that they had better be put together.
 */
bool
rf_change_log_is_long(Oid relid)
{
	RfArgs		args = {0};
	RfRoleGuard guard;
	RfRow		row;
	bool		result;

	/* under an old snapshot, what others have removed is an error */
	if (IsolationUsesXactSnapshot())
		return false;
	rf_arg(&args, OIDOID, ObjectIdGetDatum(relid));
	rf_arg(&args, INT4OID, Int32GetDatum(MAX_ENTRIES));
	rf_arg(&args, INT4OID, Int32GetDatum(MAX_BYTES));
	rf_query_begin();
	rf_role_assume(&guard, rf_role_of_catalog());
	result = rf_query_first("SELECT FROM (SELECT content FROM replace_flow.change WHERE relid = $1"
							" LIMIT $2 + 1) c"
							" HAVING count(*) > $2 OR sum(octet_length(content)) > $3",
							&args, &row);
	rf_role_restore(&guard);
	rf_query_end();
	return result;
}

/*
 * Put the entries of a table together, as far as they can be locked at once.
 */
void
rf_change_log_shorten(Relation table, const Bitmapset *columns)
{
	RfRoleGuard guard;
	RfRow	   *rows;
	int			nrows;

	rf_query_begin();
	rf_role_assume(&guard, rf_role_of_catalog());
	nrows = take_entries(RelationGetRelid(table), &rows);
	if (nrows > 0)
		put_together(table, columns, nrows, rows);
	rf_role_restore(&guard);
	rf_query_end();
}

/*
 * The entries of some tables that a flow has not seen.
 */
int
rf_change_log_read(List *relids, const RfSeen *seen, RfRow **rows)
{
	RfArgs		args = {0};
	RfRoleGuard guard;
	int			nrows;

	rf_arg(&args, OIDARRAYOID, oid_array(relids));
	rf_arg(&args, XID8OID, seen->seen_before);
	rf_arg(&args, XID8ARRAYOID, seen->in_progress);
	rf_role_assume(&guard, rf_role_of_catalog());
	nrows = rf_query_all("SELECT relid, coalesce(flow_id, 0) AS flow_id, inserts_only, content"
						 " FROM replace_flow.change WHERE relid = ANY ($1)"
						 " AND (xid >= $2 OR xid = ANY ($3))", &args, rows);
	rf_role_restore(&guard);
	return nrows;
}

/*
 * Remove the entries of some tables that no flow needs any more.
 */
void
rf_change_log_prune(List *relids)
{
	RfArgs		args = {0};
	RfRoleGuard guard;

	rf_arg(&args, OIDARRAYOID, oid_array(relids));
	rf_role_assume(&guard, rf_role_of_catalog());
	(void) rf_query_execute("DELETE FROM replace_flow.change WHERE ctid = ANY (ARRAY("
							"SELECT c.ctid FROM replace_flow.change c WHERE c.relid = ANY ($1)"
							" AND NOT EXISTS (SELECT FROM replace_flow.seen s"
							" WHERE c.relid = ANY (s.relids)"
							" AND (c.xid >= s.seen_before OR c.xid = ANY (s.in_progress)))"
							" FOR UPDATE SKIP LOCKED))", &args);
	rf_role_restore(&guard);
}
