/*-------------------------------------------------------------------------
 *
 * change_log.c
 *	  Changes of tables, until all flows have seen them.
 *
 * An entry of the log says that a transaction has changed rows of a table.  It is
 * there for who sees the change.  The run of a flow takes the entries that its snapshot
 * sees and that the last run's did not (seen.c).
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
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/xid8.h"

#include "catalog_statement.h"
#include "change_log.h"
#include "flow.h"

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
	return rf_catalog_all("DELETE FROM replace_flow.change WHERE ctid = ANY (ARRAY("
						  "SELECT ctid FROM replace_flow.change WHERE relid = $1"
						  " FOR UPDATE SKIP LOCKED)) RETURNING inserts_only, content", &args, rows);
}

/* Which flow's run wrote an entry is not kept: it counts as one of others. */
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
	RfRow		row;
	bool		result;

	/* under an old snapshot, what others have removed is an error */
	if (IsolationUsesXactSnapshot())
		return false;
	rf_arg(&args, OIDOID, ObjectIdGetDatum(relid));
	rf_arg(&args, INT4OID, Int32GetDatum(MAX_ENTRIES));
	rf_arg(&args, INT4OID, Int32GetDatum(MAX_BYTES));
	rf_query_begin();
	result = rf_catalog_first("SELECT FROM (SELECT content FROM replace_flow.change"
							  " WHERE relid = $1 LIMIT $2 + 1) c"
							  " HAVING count(*) > $2 OR sum(octet_length(content)) > $3",
							  &args, &row);
	rf_query_end();
	return result;
}

/*
 * Put the entries of a table together, as far as they can be locked at once.
 */
void
rf_change_log_shorten(Relation table, const Bitmapset *columns)
{
	RfRow	   *rows;
	int			nrows;

	rf_query_begin();
	nrows = take_entries(RelationGetRelid(table), &rows);
	if (nrows > 0)
		put_together(table, columns, nrows, rows);
	rf_query_end();
}

/*
 * The entries of some tables that a flow has not seen.
 */
int
rf_change_log_read(List *relids, const RfSeen *seen, RfRow **rows)
{
	RfArgs		args = {0};

	rf_arg_oids(&args, relids);
	rf_arg(&args, XID8OID, seen->seen_before);
	rf_arg(&args, XID8ARRAYOID, seen->in_progress);
	return rf_catalog_all("SELECT relid, coalesce(flow_id, 0) AS flow_id, inserts_only, content"
						  " FROM replace_flow.change WHERE relid = ANY ($1)"
						  " AND (xid >= $2 OR xid = ANY ($3))", &args, rows);
}

/*
 * Remove the entries of some tables that no flow needs any more.
 */
void
rf_change_log_prune(List *relids)
{
	RfArgs		args = {0};

	rf_arg_oids(&args, relids);
	(void) rf_catalog_execute("DELETE FROM replace_flow.change WHERE ctid = ANY (ARRAY("
							  "SELECT c.ctid FROM replace_flow.change c WHERE c.relid = ANY ($1)"
							  " AND NOT EXISTS (SELECT FROM replace_flow.seen s"
							  " WHERE c.relid = ANY (s.relids)"
							  " AND (c.xid >= s.seen_before OR c.xid = ANY (s.in_progress)))"
							  " FOR UPDATE SKIP LOCKED))", &args);
}
