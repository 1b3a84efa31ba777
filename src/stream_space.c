/*-------------------------------------------------------------------------
 *
 * stream_space.c
 *	  Room of consumed rows, for new ones.
 *
 * All rows of a stream die young.  Autovacuum looks at a table once a minute,
 * and in a minute a busy stream grows to many times the size of what waits in
 * it.  So a run has a stream that needs it vacuumed: what earlier runs have
 * consumed becomes free for rows that are staged next.
 *
 * A vacuum cannot be rolled back and waits for others in ways that the deadlock
 * detector does not see, so it has no place in the run's own transaction.  A
 * background worker does it, which starts, says VACUUM, and ends.  If there is
 * no room for one more, or somebody else vacuums the table, nothing is lost:
 * the next run asks again, and autovacuum comes by in any case.
 *
 * Whether it pays is read off the server's statistics: many dead rows, and
 * many new ones since the last vacuum.  So a vacuum that could remove nothing,
 * because somebody's old snapshot sees the rows, is not tried again at each
 * run.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "miscadmin.h"
#include "nodes/plannodes.h"
#include "pgstat.h"
#include "postmaster/bgworker.h"
#include "storage/ipc.h"
#include "storage/lmgr.h"
#include "tcop/tcopprot.h"
#include "tcop/utility.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

#include "compat.h"
#include "sql_text.h"
#include "stream_space.h"

/* Below this many dead rows a table is small whatever happens. */
#define MIN_DEAD_ROWS 10000

static bool
pays(Oid relid)
{
	PgStat_StatTabEntry *stats = pgstat_fetch_stat_tabentry(relid);
	double		quarter;

	if (stats == NULL)
		return false;
	quarter = (double) (rf_stats_live_rows(stats) + rf_stats_dead_rows(stats)) / 4;
	return rf_stats_dead_rows(stats) >= MIN_DEAD_ROWS &&
		rf_stats_dead_rows(stats) >= quarter && rf_stats_new_rows(stats) >= quarter;
}

/* Whether nobody vacuums the table, or changes it, at this moment. */
static bool
is_free(Oid relid)
{
	if (!ConditionalLockRelationOid(relid, ShareUpdateExclusiveLock))
		return false;
	UnlockRelationOid(relid, ShareUpdateExclusiveLock);
	return true;
}

static void
start_worker(Oid relid)
{
	BackgroundWorker worker = {0};

	worker.bgw_flags = BGWORKER_SHMEM_ACCESS | BGWORKER_BACKEND_DATABASE_CONNECTION;
	worker.bgw_start_time = BgWorkerStart_RecoveryFinished;
	worker.bgw_restart_time = BGW_NEVER_RESTART;
	strlcpy(worker.bgw_library_name, "replace_flow", sizeof(worker.bgw_library_name));
	strlcpy(worker.bgw_function_name, "replace_flow_vacuum_main", sizeof(worker.bgw_function_name));
	snprintf(worker.bgw_name, BGW_MAXLEN, "replace_flow vacuum of relation %u", relid);
	strlcpy(worker.bgw_type, "replace_flow vacuum", BGW_MAXLEN);
	worker.bgw_main_arg = ObjectIdGetDatum(relid);
	memcpy(worker.bgw_extra, &MyDatabaseId, sizeof(Oid));
	(void) RegisterDynamicBackgroundWorker(&worker, NULL);
}

static Oid
toast_table(Oid relid)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
	Oid			toast;

	if (!HeapTupleIsValid(tuple))
		return InvalidOid;
	toast = ((Form_pg_class) GETSTRUCT(tuple))->reltoastrelid;
	ReleaseSysCache(tuple);
	return toast;
}

/*
 * Have the room of rows that earlier runs consumed freed, where it pays.
 */
void
rf_stream_reclaim(Oid stream)
{
	ListCell   *cell;

	foreach(cell, find_all_inheritors(stream, NoLock, NULL))
	{
		Oid			relid = lfirst_oid(cell);
		Oid			toast = toast_table(relid);

		if ((pays(relid) || (OidIsValid(toast) && pays(toast))) && is_free(relid))
			start_worker(relid);
	}
}

/* Run a utility statement as if it had come from a client. */
static void
execute_utility(const char *sql)
{
	RawStmt    *raw = linitial_node(RawStmt, pg_parse_query(sql));
	PlannedStmt *statement = makeNode(PlannedStmt);

	statement->commandType = CMD_UTILITY;
	statement->canSetTag = true;
	statement->utilityStmt = raw->stmt;
	statement->stmt_location = raw->stmt_location;
	statement->stmt_len = raw->stmt_len;
	ProcessUtility(statement, sql, false, PROCESS_UTILITY_TOPLEVEL, NULL, NULL,
				   None_Receiver, NULL);
}

/*
 * The background worker: vacuum one table of one database.
 */
void
replace_flow_vacuum_main(Datum relid)
{
	Oid			database;
	char	   *sql = NULL;

	pqsignal(SIGTERM, die);
	BackgroundWorkerUnblockSignals();
	memcpy(&database, MyBgworkerEntry->bgw_extra, sizeof(Oid));
	BackgroundWorkerInitializeConnectionByOid(database, InvalidOid, 0);

	SetCurrentStatementStartTimestamp();
	StartTransactionCommand();
	/* VACUUM has transactions of its own, and keeps its memory here */
	PortalContext = AllocSetContextCreate(TopMemoryContext, "replace_flow vacuum",
										  ALLOCSET_DEFAULT_SIZES);
	if (get_rel_name(DatumGetObjectId(relid)) != NULL)
		sql = MemoryContextStrdup(PortalContext, rf_sql_vacuum(DatumGetObjectId(relid)));
	if (sql != NULL)
	{
		MemoryContext caller = MemoryContextSwitchTo(PortalContext);

		pgstat_report_activity(STATE_RUNNING, sql);
		execute_utility(sql);
		MemoryContextSwitchTo(caller);
	}
	CommitTransactionCommand();
	proc_exit(0);
}
