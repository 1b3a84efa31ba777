/*-------------------------------------------------------------------------
 *
 * refresh_reason.c
 *	  Why a run of a where flow recomputes its whole window, whatever has changed.
 *
 * A run can leave out what comes out as it is only if the target holds what the query
 * gave the last time (check_last_run, rf_stored_obstacle), if only rows that change
 * make the query give something else (check_query), and if the window was a part of
 * that one (check_window).  Reasons are a code and a sentence.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "nodes/makefuncs.h"
#include "nodes/readfuncs.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "captured.h"
#include "fingerprint.h"
#include "flow_catalog.h"
#include "refresh_reason.h"
#include "repeatable.h"
#include "table_family.h"

/*
 * The reason that something in the query gives something else each time.
 */
char *
rf_reason_of_query(const char *culprit)
{
	return psprintf("PLAN_NOT_DETERMINISTIC: the query uses %s, which gives something else at "
					"another time", culprit);
}

/*
 * The reason that something in the predicate does, and depends on the row.
 */
char *
rf_reason_of_predicate(const char *culprit)
{
	return psprintf("REPLACE_WHERE_NOT_DETERMINISTIC: the predicate calls %s for each row",
					culprit);
}

static char *
check_last_run(const RfFlow *flow, const RfRefreshBase *base)
{
	int32		version;

	if (!base->has_seen || base->seen.definition_version == 0)
		return rf_catalog_last_version(flow->id, &version) ?
			"FIRST_RUN: no earlier run is known that this one could go on from" :
			"FIRST_RUN: the flow has not run before";
	if (base->seen.definition_version != flow->definition_version)
		return "DEFINITION_CHANGED: the flow was altered since its last run";
	return NULL;
}

/* Whether triggers may store other values than the query gave. */
static bool
has_changing_triggers(Oid relid)
{
	Relation	table = table_open(relid, NoLock);
	TriggerDesc *triggers = table->trigdesc;
	bool		result = triggers != NULL &&
	(triggers->trig_insert_before_row || triggers->trig_update_before_row ||
	 triggers->trig_insert_instead_row || triggers->trig_update_instead_row);

	/* a rule may do anything */
	result |= table->rd_rel->relhasrules;
	table_close(table, NoLock);
	return result;
}

/*
 * Why the target may hold other values than the query gave, as a reason; NULL if it
 * does not.
 */
char *
rf_stored_obstacle(const RfFlow *flow)
{
	ListCell   *cell;

	foreach(cell, rf_table_with_parts(flow->target))
	{
		if (has_changing_triggers(lfirst_oid(cell)))
			return psprintf("UNSUPPORTED_QUERY_SHAPE: triggers or rules of \"%s\" may store other "
							"values than the query gives",
							get_rel_name(lfirst_oid(cell)));
	}
	return NULL;
}

/* What cannot be known of a source, as a reason. */
static char *
check_source(const RfFlow *flow, const RfRefreshBase *base, const RfSource *source)
{
	char	   *obstacle = rf_source_obstacle(source);

	if (obstacle == NULL && !rf_capture_is_complete(base->captured, source->relid,
													flow->owner))
		obstacle = psprintf("\"%s\" or a part of it lacks triggers of the flow",
							get_rel_name(source->relid));
	return obstacle == NULL ? NULL : psprintf("UNTRACKED_SOURCE: %s", obstacle);
}

static char *
check_query(const RfFlow *flow, const RfRefreshBase *base)
{
	ListCell   *cell;

	if (base->in_use)
		return "UNTRACKED_SOURCE: a statement that has not ended uses a table of the flow, and may "
			"change it";
	if (base->sources->culprit != NULL)
		return rf_reason_of_query(base->sources->culprit);
	foreach(cell, base->sources->sources)
	{
		char	   *reason = check_source(flow, base, lfirst(cell));

		if (reason != NULL)
			return reason;
	}
	/* rf_seen_nothing() and rf_seen_doubt() leave none */
	if (base->seen.sources == 0)
		return "SOURCE_DDL_OR_BULK_CHANGE: the last run met tables or definitions that were new "
			"to the flow; changes are known since then";

	/*
	 * now again: what came before the snapshot may have come with what is not
	 * logged
	 */
	if (base->seen.sources != base->sources_print ||
		rf_fingerprint_of_sources(flow, base->sources->query) != base->sources_print)
		return "SOURCE_DDL_OR_BULK_CHANGE: a table, view or function that the query uses was "
			"altered, emptied, rewritten or replaced, or has other parts or rights; or a setting "
			"of the session that values depend on is another one";
	return NULL;
}

static List *
conditions_of(Node *predicate)
{
	return make_ands_implicit(canonicalize_qual((Expr *) predicate, false));
}

/* Whether the window lies within that of the last run. */
static bool
is_covered(const RfRefreshBase *base, Node *predicate)
{
	Node	   *last = stringToNode(base->seen.predicate);

	if (equal(predicate, last))
		return true;
	predicate = eval_const_expressions(NULL, copyObject(predicate));
	return predicate_implied_by(conditions_of(last), conditions_of(predicate), false);
}

static char *
check_window(const RfRefreshBase *base, Node *predicate)
{
	char	   *culprit = rf_repeatable_culprit(predicate);

	if (culprit != NULL)
		return rf_reason_of_predicate(culprit);
	if (!base->seen.settled)
		return "PRIOR_REPLACE_WHERE_NOT_DETERMINISTIC: the predicate of the last run called "
			"a function whose result is not known any more";
	if (!is_covered(base, predicate))
		return "UNSUPPORTED_REPLACE_WHERE_PREDICATE: the window is not known to lie within "
			"that of the last run";
	return NULL;
}

/*
 * The first reason why the window of a settled predicate is to be recomputed whole,
 * from what is cheap to know to what is not; NULL if none is known.
 */
char *
rf_refresh_reason(const RfFlow *flow, const RfRefreshBase *base, Node *predicate)
{
	char	   *reason = check_last_run(flow, base);

	if (reason == NULL)
		reason = rf_stored_obstacle(flow);
	if (reason == NULL)
		reason = check_query(flow, base);
	return reason != NULL ? reason : check_window(base, predicate);
}
