/*-------------------------------------------------------------------------
 *
 * refresh_cost.c
 *	  Which way to recompute affected rows is the cheapest.
 *
 * The planner is asked what it would cost to read both sides of the window, of the
 * range that the affected groups lie in, and of some of the groups alone.  What it
 * says is for queries as they would be without the groups; so the cost of looking up
 * each row's group is added, by rules of thumb.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "refresh_cost.h"
#include "window.h"

/* To recompute groups must cost no more than this part of recomputing all. */
#define WORTHWHILE 0.9

/* What costs no more than this is not worth a thought: then only groups are recomputed. */
#define SMALL 1000

/*
 * Groups are taken apart by which columns of theirs are NULL.  Of few such parts each
 * may read all there is, if that is little; of many each has to be paid for, and
 * costs so much before it reads a row.
 */
#define FEW_PARTS 4
#define PART_COST 100

/* Groups whose cost is looked at, for that of all. */
#define SAMPLES 3

/*
 * So few groups are looked for without more thought, if one of them says that it
 * costs no more than this part of recomputing all: each thought is a plan, and several
 * take longer than the run.
 */
#define FEW_GROUPS 16
#define CLEARLY_LESS 0.1

/* What the planner thinks of both sides of a window, and how many rows it holds. */
static double
cost_of(const RfFlow *flow, Node *predicate, double *old_rows)
{
	List	   *pushed;
	double		new_rows;

	return rf_query_cost(rf_window_new_rows(flow, predicate, &pushed), RF_PLAN_CACHED, &new_rows) +
		rf_query_cost(rf_window_old_rows(flow, predicate, false), RF_PLAN_CACHED, old_rows);
}

/*
 * The same for each of the groups alone, and all their rows, as some of them show.
 * Without statistics a group counts as one row: the planner would guess far more.
 */
static double
cost_of_probing(const RfFlow *flow, Node *predicate, const RfAffected *affected,
				int nsamples, double *old_rows)
{
	int64		ngroups = rf_affected_groups(affected);

	/* odd, as old and new values may alternate */
	int64		step = Max(ngroups / nsamples, 1) | 1;
	double		cost = 0;
	int			samples = 0;

	*old_rows = 0;
	for (int64 i = step / 2; i < ngroups && samples < nsamples; i += step)
	{
		double		rows;

		cost += cost_of(flow, rf_affected_predicate_of_group(affected, predicate, i), &rows);
		*old_rows += rows;
		samples++;
	}
	*old_rows = rf_affected_is_estimable(affected) ? *old_rows / samples * ngroups : ngroups;
	return cost / samples * ngroups;
}

static double
share_of(double some, double all)
{
	return Min(1, some / Max(all, 1));
}

/* Whether it is clear at once that few groups are to be looked for. */
static bool
is_clear(RfRefreshPlan *plan, const RfFlow *flow, Node *predicate, double all)
{
	double		rows;
	double		probe;

	if (!rf_affected_is_exact(plan->affected) ||
		rf_affected_groups(plan->affected) > FEW_GROUPS ||
		rf_affected_parts(plan->affected) > 1)
		return false;
	probe = cost_of_probing(flow, predicate, plan->affected, 1, &rows);
	if (probe > CLEARLY_LESS * all)
		return false;
	rf_affected_probe(plan->affected, true);
	plan->costs[RF_ROW_BASED] = plan->costs[RF_APPEND_ONLY] = probe;
	return true;
}

/*
 * Choose the cheapest way: look for each group; read the range that the groups lie
 * in, and take their rows; or recompute the whole range.  The reason why it is none
 * of them, if it costs as much to recompute all.
 */
char *
rf_refresh_cost(RfRefreshPlan *plan, const RfFlow *flow, Node *predicate)
{
	RfAffected *affected = plan->affected;
	double		rows;
	double		rows_in_range;
	double		rows_in_groups;
	int			parts = rf_affected_parts(affected);
	double		all = cost_of(flow, predicate, &rows);
	bool		is_small = all < SMALL && parts <= FEW_PARTS;
	double		range;
	double		scan;
	double		probe;

	plan->predicate = rf_affected_predicate(affected, predicate);
	plan->costs[RF_COMPLETE] = all;
	if (is_clear(plan, flow, predicate, all))
		return NULL;
	range = cost_of(flow, plan->predicate, &rows_in_range);
	plan->costs[RF_ROW_BASED] = range;
	if (rf_affected_is_exact(affected))
	{
		probe = cost_of_probing(flow, predicate, affected, SAMPLES, &rows_in_groups) +
			Max(parts - 1, 0) * PART_COST;
		plan->affected_share = share_of(rows_in_groups, rows);
		/* to look up each row's group costs something, too */
		scan = range * (0.6 + 0.5 * share_of(rows_in_groups, rows_in_range)) * parts;
		plan->costs[RF_ROW_BASED] = Min(Min(range, scan), probe);
		rf_affected_probe(affected, probe < scan);
		if (range < Min(scan, probe) && !is_small)
			rf_affected_forget_groups(affected);
	}
	plan->costs[RF_APPEND_ONLY] = plan->costs[RF_ROW_BASED];
	if (plan->costs[RF_ROW_BASED] > WORTHWHILE * all && !is_small)
		return "TOO_MUCH_CHANGED: to recompute what is affected is expected to cost as much as "
			"to recompute all";
	return NULL;
}
