/*-------------------------------------------------------------------------
 *
 * stream_space.c
 *	  Room of consumed rows, for new ones.
 *
 * All rows of a stream die young.  Autovacuum looks at a table once a minute,
 * and in a minute a busy stream grows to many times the size of what waits in
 * it.  So a run, before it takes its snapshot, has the server vacuum a stream
 * that needs it: what earlier runs have consumed becomes free for rows that
 * are staged next.  (The VACUUM command does the same work, but insists on a
 * transaction of its own.)
 *
 * Whether it pays is read off the server's statistics: many dead rows, and
 * many new ones since the last vacuum.  So a vacuum that could remove nothing,
 * because somebody's old snapshot sees the rows, is not tried again at each
 * run.  Somebody else's vacuum, or any stronger lock, goes first.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/relation.h"
#include "access/table.h"
#include "access/tableam.h"
#include "catalog/pg_inherits.h"
#include "commands/vacuum.h"
#include "pgstat.h"
#include "storage/bufmgr.h"
#include "storage/lmgr.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "compat.h"
#include "query.h"
#include "stream_space.h"

/* Below this many dead rows a table is small whatever happens. */
#define MIN_DEAD_ROWS 10000

static bool
pays(Oid relid)
{
	PgStat_StatTabEntry *stats = pgstat_fetch_stat_tabentry(relid);
	double		rows;

	if (stats == NULL)
		return false;
	rows = (double) stats->live_tuples + (double) stats->dead_tuples;
	return stats->dead_tuples >= MIN_DEAD_ROWS &&
		stats->dead_tuples >= rows / 4 && stats->ins_since_vacuum >= rows / 4;
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
		if (RELKIND_HAS_TABLE_AM(table->rd_rel->relkind))
			vacuum_table(table);
		relation_close(table, NoLock);
	}
	UnlockRelationOid(relid, ShareUpdateExclusiveLock);
}

/*
 * Free the room of rows that earlier runs consumed, where it pays.  The caller
 * holds a lock on the stream.
 */
void
rf_stream_reclaim(Oid stream)
{
	ListCell   *cell;

	foreach(cell, find_all_inheritors(stream, NoLock, NULL))
	{
		Relation	part = table_open(lfirst_oid(cell), AccessShareLock);
		Oid			toast = part->rd_rel->reltoastrelid;

		table_close(part, NoLock);
		reclaim(lfirst_oid(cell));
		reclaim(toast);
	}
}
