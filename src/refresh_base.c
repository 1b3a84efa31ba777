/*-------------------------------------------------------------------------
 *
 * refresh_base.c
 *	  What a run of a where flow knows of the one before, and leaves to the next.
 *
 * Before it takes its snapshot, a run looks at what may change under it: which tables
 * the query reads, what of them is captured, the fingerprints of definitions; and at
 * what the last run has seen.  Definitions that change after that make other
 * fingerprints than those that are remembered here, so the next run finds them
 * changed.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "catalog/pg_trigger.h"
#include "utils/rel.h"

#include "capture_wanted.h"
#include "captured.h"
#include "fingerprint.h"
#include "reentry.h"
#include "refresh_base.h"
#include "refresh_reason.h"
#include "repeatable.h"
#include "table_family.h"

/*
 * The tables whose changes matter to a flow.
 */
List *
rf_refresh_tables(const RfFlow *flow, const RfSources *sources)
{
	List	   *relids = rf_table_relatives(flow->target);
	ListCell   *cell;

	foreach(cell, sources->sources)
	{
		RfSource   *source = lfirst(cell);

		relids = list_concat_unique_oid(relids, rf_table_relatives(source->relid));
	}
	return relids;
}

/*
 * Whether a statement of this session that has not ended uses a table.  If it
 * writes it, what it has done so far is seen, and not logged yet.  Around a trigger
 * it may also have changed rows because they reference others, and have closed the
 * table; their triggers come later.
 */
static bool
is_in_use(Oid relid)
{
	ListCell   *cell;
	bool		result = false;

	foreach(cell, rf_table_relatives(relid))
	{
		Relation	table = table_open(lfirst_oid(cell), NoLock);

		result |= table->rd_refcnt > 1 ||
			(rf_reentry_trigger_depth() > 0 && RelationGetFKeyList(table) != NIL);
		table_close(table, NoLock);
	}
	return result;
}

static bool
some_is_in_use(const RfFlow *flow, const RfSources *sources)
{
	ListCell   *cell;

	if (is_in_use(flow->target))
		return true;
	foreach(cell, sources->sources)
	{
		RfSource   *source = lfirst(cell);

		if (rf_source_obstacle(source) == NULL && is_in_use(source->relid))
			return true;
	}
	return false;
}

static void
take_fingerprints(RfRefreshBase *base, const RfFlow *flow)
{
	base->sources_print = rf_fingerprint_of_sources(flow, base->sources->query);
	base->target_print = rf_fingerprint_of_target(flow);
}

/*
 * What is known of an open flow before its run takes a snapshot.  Definitions that
 * change after it are found when it is remembered.
 */
RfRefreshBase *
rf_refresh_base(const RfFlow *flow)
{
	RfRefreshBase *base = palloc0(sizeof(RfRefreshBase));

	base->sources = rf_sources_of_flow(flow);
	base->in_use = some_is_in_use(flow, base->sources);
	base->has_seen = rf_seen_load(flow->id, &base->seen);
	base->captured = rf_captured_for(flow->id);
	take_fingerprints(base, flow);
	return base;
}

/*
 * After a restore, and where a view reads other tables than it did, the triggers
 * that the run could not go without are not there.  A unique index of the target can make
 * other columns of sources matter.  Place what can be placed without waiting, for
 * the runs that follow: this one goes by what was captured until now.
 */
void
rf_refresh_base_repair(RfRefreshBase *base, const RfFlow *flow)
{
	List	   *wanted = rf_capture_wanted(flow, base->sources);

	if (base->has_seen && base->seen.sources == base->sources_print &&
		base->seen.target == base->target_print && rf_captured_covers(base->captured, wanted))
		return;
	(void) rf_captured_place(flow, wanted, false);
	take_fingerprints(base, flow);
}

static void
store(const RfFlow *flow, const RfRefreshBase *base, List *relids, Datum snapshot, Node *predicate)
{
	RfSeen		seen = {
		.definition_version = flow->definition_version,
		.predicate = nodeToString(predicate),
		.settled = rf_repeatable_culprit(predicate) == NULL,
		.sources = base->sources_print,

		/*
		 * no table has none; then the next run knows that this one was not
		 * exact
		 */
		.target = rf_stored_obstacle(flow) == NULL ? rf_fingerprint_of_target(flow) : 0,
		.relids = relids,
		.snapshot = snapshot
	};

	rf_seen_store(flow->id, &seen);
}

/*
 * Let the next run know what this one has seen, which has read all that it reads, and
 * written what it writes.  If this one is not to be remembered, what is known of the one
 * before stays, unless definitions have changed since.
 */
void
rf_refresh_remember(const RfFlow *flow, const RfRefreshBase *base, bool remembers, Datum snapshot,
					Node *predicate)
{
	List	   *relids;

	if (!remembers || base->in_use)
	{
		if (base->has_seen && base->seen.sources != base->sources_print)
			rf_seen_doubt(flow->id);
		return;
	}
	relids = rf_refresh_tables(flow, base->sources);
	if (!base->has_seen || list_difference_oid(relids, base->seen.relids) != NIL)
		rf_seen_nothing(flow->id, relids);
	else if (!base->seen.is_new)
		store(flow, base, relids, snapshot, predicate);
	rf_change_log_prune(relids);
}
