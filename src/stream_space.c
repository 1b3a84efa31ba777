/*-------------------------------------------------------------------------
 *
 * stream_space.c
 *	  Room of consumed rows, for new ones.
 *
 * All rows of a stream die young.  Autovacuum looks at a table once a minute,
 * and in a minute a busy stream grows to many times the size of what waits in
 * it.  So a run, before it locks anything, has the server vacuum a stream that
 * needs it: what earlier runs have consumed becomes free for rows that are
 * staged next.
 *
 * A vacuum is never rolled back.  It cleans the indexes that it sees, and tells
 * pg_class what it saw; in a transaction that has dropped an index, and may yet
 * roll that back, the index would be left with entries of removed rows.  So the
 * VACUUM command insists on a transaction of its own, and we insist on one that
 * has not written anything yet.  Nor may this session have the table open: the
 * pages that a cursor has pinned are those that a vacuum must have alone.
 *
 * Whether it pays is read off the server's statistics: many dead rows, and
 * many new ones since the last vacuum.  So a vacuum that could remove nothing,
 * because somebody's old snapshot sees the rows, is not tried again at each
 * run.  Somebody else's vacuum, or any stronger lock, goes first.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/relation.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/pg_inherits.h"
#include "commands/trigger.h"
#include "commands/vacuum.h"
#include "pgstat.h"
#include "storage/bufmgr.h"
#include "storage/lmgr.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "compat.h"
#include "query.h"
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

/*
 * Vacuum a table, as its owner, since its indexes may be of any kind.
 */
static void
vacuum_table(Relation table)
{
	VacuumParams params = {0};
	RfRoleGuard guard;

	params.freeze_min_age = params.freeze_table_age = -1;
	params.multixact_freeze_min_age = params.multixact_freeze_table_age = -1;
	params.log_min_duration = -1;
	params.index_cleanup = VACOPTVALUE_AUTO;
	/* to give back pages would take a lock that stagers wait for */
	params.truncate = VACOPTVALUE_DISABLED;
	/* no parallel workers */
	params.nworkers = -1;
	rf_role_assume(&guard, table->rd_rel->relowner);
	table_relation_vacuum(table, &params, GetAccessStrategy(BAS_VACUUM));
	rf_role_restore(&guard);
}

/* As CheckTableNotInUse() asks. */
static bool
is_in_use(Relation table)
{
	return table->rd_refcnt > 1 || AfterTriggerPendingOnRel(RelationGetRelid(table));
}

static void
reclaim(Oid relid)
{
	Relation	table;

	if (!OidIsValid(relid) || !pays(relid) ||
		!ConditionalLockRelationOid(relid, ShareUpdateExclusiveLock))
		return;
	table = try_relation_open(relid, NoLock);
	if (table != NULL)
	{
		if (RELKIND_HAS_TABLE_AM(table->rd_rel->relkind) && !is_in_use(table))
			vacuum_table(table);
		relation_close(table, NoLock);
	}
	UnlockRelationOid(relid, ShareUpdateExclusiveLock);
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
 * Free the room of rows that earlier runs consumed, where it pays and where
 * this transaction may.  Needs no lock, and waits for none.
 */
void
rf_stream_reclaim(Oid stream)
{
	ListCell   *cell;

	if (TransactionIdIsValid(GetTopTransactionIdIfAny()))
		return;
	foreach(cell, find_all_inheritors(stream, NoLock, NULL))
	{
		reclaim(lfirst_oid(cell));
		reclaim(toast_table(lfirst_oid(cell)));
	}
}
