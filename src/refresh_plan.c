/*-------------------------------------------------------------------------
 *
 * refresh_plan.c
 *	  How a run of a where flow does its work, and why.
 *
 * A run may leave out what is known to come out as it is.  That it is known takes
 * three things, and where one is missing the run recomputes its whole window and
 * says why:
 *
 *	1. The last run left the window as the query gave it then: there was one, of
 *	   this definition, for a window that covers the present one
 *	   (refresh_reason.c), and nobody has changed rows of the window since
 *	   (refresh_change.c).
 *	2. The query gives the same as then, but for rows that changed: nothing in it
 *	   depends on the time, on what is not tracked, or on definitions that have
 *	   changed (refresh_reason.c).
 *	3. It can be told which rows of the window the changed ones affect
 *	   (refresh_change.c, find_affected), and to recompute them is less work than
 *	   to recompute all (refresh_cost.c).
 *
 * A run with a predicate of its own does what it is asked to in the same way, and
 * changes nothing of what is remembered (refresh_base.c): then the next ordinary run
 * goes on from the last ordinary one.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/builtins.h"

#include "attempt.h"
#include "partition_overwrite.h"
#include "refresh_change.h"
#include "refresh_cost.h"
#include "refresh_plan.h"
#include "refresh_reason.h"

/* The part of a window's rows that are most of them. */
#define MOST 0.5

/* What the plan is made of. */
typedef struct RfPlanning
{
	const RfFlow *flow;
	const RfRefreshBase *base;
	Node	   *predicate;
	RfRefreshChange *change;	/* once it is looked at */
	RfRefreshPlan *plan;
} RfPlanning;

/* Whether something has to be recomputed whole: the reason is put down. */
static bool
is_complete(RfPlanning *planning, char *reason)
{
	RfRefreshPlan *plan = planning->plan;

	if (reason == NULL)
		return false;
	for (int i = RF_NO_OP; i <= RF_ROW_BASED; i++)
	{
		if (plan->against[i] == NULL)
			plan->against[i] = reason;
	}
	return true;
}

/* Whether it is known what has changed, and nothing else can have. */
static bool
can_leave_out(RfPlanning *planning)
{
	const RfFlow *flow = planning->flow;
	const RfRefreshBase *base = planning->base;
	Node	   *predicate = planning->predicate;

	if (is_complete(planning, rf_refresh_reason(flow, base, predicate)))
		return false;
	planning->change = rf_refresh_change(flow, base);
	planning->plan->remembers = planning->change->nentries > 0;
	return !is_complete(planning, rf_refresh_change_target_obstacle(planning->change, flow, base,
																	predicate));
}

static void
add_affected(void *arg)
{
	RfPlanning *planning = arg;
	RfAffected *affected = planning->plan->affected;
	ListCell   *cell;
	ListCell   *occurrence;

	foreach(cell, planning->change->sources)
	{
		RfChangedSource *changed = lfirst(cell);

		foreach(occurrence, changed->source->occurrences)
			rf_affected_add(affected, lfirst(occurrence), changed->changes);
	}
	rf_affected_complete(affected, planning->predicate);
}

/* Which groups are affected; computing it may fail where the query itself would not. */
static char *
find_affected(RfPlanning *planning)
{
	RfRefreshPlan *plan = planning->plan;
	ErrorData  *error;

	plan->affected = rf_affected_begin(planning->flow, rf_refresh_change_groups(planning->change));
	error = rf_attempt(add_affected, planning);
	if (error != NULL)
		return psprintf("UNSUPPORTED_QUERY_SHAPE: which rows are affected cannot be computed: %s",
						error->message);
	if (!rf_affected_is_bounded(plan->affected))
		return "TOO_MUCH_CHANGED: the changes are too many to be told from each other";
	plan->affected_groups = rf_affected_is_exact(plan->affected) ?
		rf_affected_groups(plan->affected) : -1;
	return NULL;
}

/* What can be left out, once it is known that something can. */
static void
plan_changes(RfPlanning *planning)
{
	RfRefreshPlan *plan = planning->plan;
	const RfRefreshChange *change = planning->change;
	char	   *too_much;

	plan->changed_rows = rf_refresh_change_rows(change);
	if (change->sources == NIL)
	{
		plan->technique = RF_NO_OP;
		plan->affected_groups = 0;
		return;
	}
	if (is_complete(planning, rf_refresh_change_obstacle(change)) ||
		is_complete(planning, find_affected(planning)))
		return;
	if (plan->affected_groups == 0)
	{
		plan->technique = RF_NO_OP;
		return;
	}
	plan->against[RF_NO_OP] = "ROWS_CHANGED: rows that have a part in the window were changed";
	if (!change->inserts_only)
		plan->against[RF_APPEND_ONLY] = "ROWS_CHANGED: rows were updated or deleted";
	too_much = rf_refresh_cost(plan, planning->flow, planning->predicate);
	plan->technique = change->inserts_only ? RF_APPEND_ONLY : RF_ROW_BASED;
	if (too_much != NULL)
	{
		plan->technique = RF_COMPLETE;
		plan->reasons = list_make1(too_much);
	}
}

/* Whether the window can be overwritten partition by partition. */
static void
check_partitions(RfPlanning *planning)
{
	RfRefreshPlan *plan = planning->plan;
	char	   *obstacle = rf_overwrite_obstacle(planning->flow, planning->predicate,
												 &plan->partitions);

	if (obstacle != NULL)
		plan->against[RF_PARTITION_OVERWRITE] =
			psprintf("UNSUPPORTED_REPLACE_WHERE_PREDICATE: %s", obstacle);
	else if (planning->base->in_use)
		plan->against[RF_PARTITION_OVERWRITE] =
			"LOCKED: a statement that has not ended uses a table of the flow";
}

/* Overwrite partitions if most of their rows are known to have changed. */
static void
consider_overwriting(RfPlanning *planning, const RfRefreshRequest *request)
{
	RfRefreshPlan *plan = planning->plan;
	bool		most = plan->technique == RF_COMPLETE && plan->affected_share >= MOST;

	if (!most && !request->only_plans)
		return;
	check_partitions(planning);
	if (plan->against[RF_PARTITION_OVERWRITE] != NULL)
		return;
	if (!most)
		plan->against[RF_PARTITION_OVERWRITE] =
			"ROWS_STAY: less than half of the window's rows are known to be affected, or to "
			"recompute them alone is cheaper";
	else if (!request->only_plans && !rf_overwrite_lock(plan->partitions, false))
		plan->against[RF_PARTITION_OVERWRITE] = "LOCKED: partitions of the window are being read";
	else
		plan->technique = RF_PARTITION_OVERWRITE;
}

/* Whether the window is to be recomputed whole whatever has changed. */
static bool
asks_for_all(const RfRefreshRequest *request, const char *flow_name)
{
	return request->technique != NULL &&
		rf_technique_parse(request->technique, flow_name) >= RF_PARTITION_OVERWRITE;
}

/* The technique that was asked for; it must not give another result. */
static void
take_requested(RfPlanning *planning, const RfRefreshRequest *request)
{
	RfRefreshPlan *plan = planning->plan;
	RfTechnique technique = rf_technique_parse(request->technique, planning->flow->name);

	if (technique == RF_PARTITION_OVERWRITE)
		check_partitions(planning);
	if (plan->against[technique] != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("flow \"%s\" cannot be refreshed with technique \"%s\" now",
						planning->flow->name, request->technique),
				 errdetail("%s.", plan->against[technique]),
				 errhint("Leave the technique to the run; replace_flow.planning(%s) shows what it would do.",
						 quote_literal_cstr(planning->flow->name))));
	if (technique == RF_PARTITION_OVERWRITE)
		(void) rf_overwrite_lock(plan->partitions, true);
	plan->technique = technique;
	plan->reasons = list_make1("REQUESTED: the technique was given in the call");
}

/*
 * The plan of a run that recomputes all of its window.
 */
RfRefreshPlan *
rf_refresh_plan_complete(Node *predicate)
{
	RfRefreshPlan *plan = palloc0(sizeof(RfRefreshPlan));

	plan->technique = RF_COMPLETE;
	plan->predicate = predicate;
	plan->remembers = true;
	plan->changed_rows = -1;
	plan->affected_groups = -1;
	plan->affected_share = -1;
	for (int i = 0; i < RF_TECHNIQUES; i++)
		plan->costs[i] = -1;
	return plan;
}

/*
 * Whether there is nothing to recompute.
 */
bool
rf_refresh_plan_is_empty(const RfRefreshPlan *plan)
{
	return plan->technique != RF_COMPLETE && plan->technique != RF_PARTITION_OVERWRITE &&
		(plan->affected == NULL || plan->affected_groups == 0);
}

/*
 * Recompute the whole window after all, under the name that the plan has.
 */
void
rf_refresh_plan_give_up(RfRefreshPlan *plan, Node *predicate)
{
	plan->affected = NULL;
	plan->predicate = predicate;
}

/*
 * Decide how to recompute the window of a settled predicate, under the run's
 * snapshot and as the flow's owner.
 */
RfRefreshPlan *
rf_refresh_plan(const RfFlow *flow, const RfRefreshBase *base,
				const RfRefreshRequest *request, Node *predicate)
{
	RfRefreshPlan *plan = rf_refresh_plan_complete(predicate);
	RfPlanning	planning = {.flow = flow, .base = base, .predicate = predicate, .plan = plan};

	if (request->full)
		(void) is_complete(&planning, "REQUESTED: a full refresh was called for");
	else if (!asks_for_all(request, flow->name) && can_leave_out(&planning))
		plan_changes(&planning);
	if (request->technique != NULL)
		take_requested(&planning, request);
	else if (plan->technique == RF_COMPLETE || request->only_plans)
		consider_overwriting(&planning, request);
	if (plan->technique == RF_COMPLETE && plan->reasons == NIL)
		plan->reasons = list_make1(plan->against[RF_NO_OP]);
	if (plan->technique != RF_PARTITION_OVERWRITE)
		plan->partitions = NIL;
	if (plan->technique != RF_ROW_BASED && plan->technique != RF_APPEND_ONLY)
	{
		plan->affected = NULL;
		plan->predicate = predicate;
	}
	plan->remembers = (plan->remembers || plan->technique != RF_NO_OP) && !request->is_override;
	return plan;
}
