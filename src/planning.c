/*-------------------------------------------------------------------------
 *
 * planning.c
 *	  What the next refresh of a where flow would do, and why.
 *
 * It makes the plan that a run would make now, beside other sessions, and does
 * nothing of it.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "funcapi.h"
#include "utils/builtins.h"
#include "utils/snapmgr.h"
#include "utils/tuplestore.h"

#include "argument.h"
#include "flow_run.h"
#include "refresh_plan.h"
#include "where_predicate.h"

PG_FUNCTION_INFO_V1(replace_flow_planning);

typedef struct RfPlanningCall
{
	const char *override;
	RfRefreshBase *base;
	Node	   *predicate;
	ReturnSetInfo *result;
} RfPlanningCall;

enum
{
	PLANNING_TECHNIQUE,
	PLANNING_CHOSEN,
	PLANNING_REASON,
	PLANNING_CHANGED_ROWS,
	PLANNING_AFFECTED_GROUPS,
	PLANNING_COST,
	PLANNING_COLUMNS
};

/* Why a technique was chosen, or was not; NULL where that goes without saying. */
static char *
reason_of(const RfRefreshPlan *plan, RfTechnique technique)
{
	if (technique == plan->technique)
		return plan->reasons == NIL ? NULL : linitial(plan->reasons);
	return plan->against[technique];
}

static void
put_technique(const RfPlanningCall *call, const RfRefreshPlan *plan, RfTechnique technique)
{
	char	   *reason = reason_of(plan, technique);
	Datum		values[PLANNING_COLUMNS];
	bool		nulls[PLANNING_COLUMNS] = {false};

	values[PLANNING_TECHNIQUE] = CStringGetTextDatum(rf_technique_name(technique));
	values[PLANNING_CHOSEN] = BoolGetDatum(technique == plan->technique);
	values[PLANNING_REASON] = reason == NULL ? (Datum) 0 : CStringGetTextDatum(reason);
	values[PLANNING_CHANGED_ROWS] = Int64GetDatum(plan->changed_rows);
	values[PLANNING_AFFECTED_GROUPS] = Int64GetDatum(plan->affected_groups);
	values[PLANNING_COST] = Float8GetDatum(plan->costs[technique]);
	nulls[PLANNING_REASON] = reason == NULL;
	nulls[PLANNING_CHANGED_ROWS] = plan->changed_rows < 0;
	nulls[PLANNING_AFFECTED_GROUPS] = plan->affected_groups < 0;
	nulls[PLANNING_COST] = plan->costs[technique] < 0;
	tuplestore_putvalues(call->result->setResult, call->result->setDesc, values, nulls);
}

static void
prepare(RfRun *run, void *arg)
{
	RfPlanningCall *call = arg;

	call->predicate = rf_predicate_of_run(run->flow, call->override);
	call->base = rf_refresh_base(run->flow);
}

static void
work(RfRun *run, void *arg)
{
	RfPlanningCall *call = arg;
	RfRefreshRequest request = {.is_override = call->override != NULL, .only_plans = true};
	RfRefreshPlan *plan;

	PushActiveSnapshot(GetTransactionSnapshot());
	plan = rf_refresh_plan(run->flow, call->base, &request,
						   rf_predicate_settle(call->predicate));
	for (int technique = 0; technique < RF_TECHNIQUES; technique++)
		put_technique(call, plan, (RfTechnique) technique);
	PopActiveSnapshot();
}

/*
 * planning(flow, predicate_override): each technique, and whether it would be
 * chosen.
 */
Datum
replace_flow_planning(PG_FUNCTION_ARGS)
{
	RfPlanningCall call = {
		.override = rf_argument_text_or_null(fcinfo, 1),
		.result = (ReturnSetInfo *) fcinfo->resultinfo
	};
	RfRunOrder	order = {
		.command = "replace_flow.planning()",
		.flow_name = rf_argument_text(fcinfo, 0, "flow"),
		.kind = RF_WHERE,
		.prepare = prepare,
		.work = work,
		.arg = &call
	};

	InitMaterializedSRF(fcinfo, 0);
	(void) rf_preview(&order);
	return (Datum) 0;
}
