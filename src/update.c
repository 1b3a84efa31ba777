/*-------------------------------------------------------------------------
 *
 * update.c
 *	  An update: several flows are run, in the order of their dependencies.
 *
 * A flow that reads the target of another one comes after it.  What can be
 * refused is refused before the first of them runs; and all of them run in the
 * caller's transaction, so that an error in one undoes the others.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "funcapi.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/jsonb.h"
#include "utils/tuplestore.h"

#include "argument.h"
#include "flow.h"
#include "flow_catalog.h"
#include "query.h"
#include "query_reads.h"
#include "target.h"
#include "using_run.h"
#include "where_predicate.h"
#include "where_run.h"

PG_FUNCTION_INFO_V1(replace_flow_start_update);

/* A name that stands for all flows that take part. */
#define EVERYTHING "*"

#define NOT_RESET "RESET_NOT_ALLOWED: the flow was refreshed without being reset"

/* A flow that takes part. */
typedef struct RfUpdateStep
{
	RfFlow	   *flow;
	List	   *reads;			/* relations */
	List	   *writes;			/* the target's family */
	bool		full;			/* a full refresh is wanted */
	bool		guarded;		/* ... of everything, and not of this one */
	char	   *override;		/* or NULL */
	bool		placed;			/* in the order */
} RfUpdateStep;

static RfUpdateStep *
find_step(List *steps, const char *name)
{
	ListCell   *cell;

	foreach(cell, steps)
	{
		RfUpdateStep *step = lfirst(cell);

		if (strcmp(step->flow->name, name) == 0)
			return step;
	}
	return NULL;
}

static List *
add_step(List *steps, RfFlow *flow)
{
	RfUpdateStep *step = palloc0(sizeof(RfUpdateStep));

	step->flow = flow;
	return lappend(steps, step);
}

/* A flow that the caller names, who must have the right to run it. */
static List *
add_named(List *steps, const char *name)
{
	RfFlow	   *flow;

	if (find_step(steps, name) != NULL)
		return steps;
	flow = rf_flow_find(name);
	rf_flow_check_caller(flow);
	return add_step(steps, flow);
}

/* All flows that the caller may run. */
static List *
add_all(List *steps)
{
	RfRow	   *rows;
	int			nrows = rf_catalog_all_flows(&rows);

	for (int i = 0; i < nrows; i++)
	{
		RfFlow	   *flow = rf_flow_find(rf_row_text(&rows[i], "name"));

		if (has_privs_of_role(GetUserId(), flow->owner))
			steps = add_step(steps, flow);
	}
	return steps;
}

/* The elements of an array of names. */
static List *
names_of(Datum array, const char *parameter)
{
	Datum	   *values;
	bool	   *nulls;
	int			count;
	List	   *names = NIL;

	deconstruct_array(DatumGetArrayTypeP(array), TEXTOID, -1, false, TYPALIGN_INT,
					  &values, &nulls, &count);
	for (int i = 0; i < count; i++)
	{
		if (nulls[i])
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("\"%s\" has a null element", parameter)));
		names = lappend(names, TextDatumGetCString(values[i]));
	}
	return names;
}

static List *
select_flows(FunctionCallInfo fcinfo)
{
	List	   *steps = NIL;
	ListCell   *cell;

	if (PG_ARGISNULL(0))
		return add_all(NIL);
	foreach(cell, names_of(PG_GETARG_DATUM(0), "refresh_selection"))
		steps = add_named(steps, lfirst(cell));
	return steps;
}

static bool
can_reset(const RfFlow *flow)
{
	return flow->kind == RF_WHERE && flow->reset_allowed;
}

static void
ask_for_reset(RfUpdateStep *step)
{
	if (!can_reset(step->flow))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("flow \"%s\" does not allow a full refresh", step->flow->name),
				 errdetail("%s", step->flow->kind == RF_USING ?
						   "It is a using flow: the rows that it was made of are consumed." :
						   "It would delete the target's rows outside the window."),
				 errhint("Take it out of \"full_refresh_selection\"%s.",
						 step->flow->kind == RF_USING ? "" :
						 ", or alter it with reset_allowed => true")));
	step->full = true;
}

/* Everything is to be reset: what must not be is refreshed only. */
static void
ask_for_all_resets(List *steps)
{
	ListCell   *cell;

	foreach(cell, steps)
	{
		RfUpdateStep *step = lfirst(cell);

		step->full = can_reset(step->flow);
		step->guarded = !step->full;
	}
}

static List *
select_resets(List *steps, Datum selection)
{
	List	   *names = names_of(selection, "full_refresh_selection");
	ListCell   *cell;

	foreach(cell, names)
	{
		if (strcmp(lfirst(cell), EVERYTHING) == 0)
		{
			ask_for_all_resets(steps);
			continue;
		}
		steps = add_named(steps, lfirst(cell));
		ask_for_reset(find_step(steps, lfirst(cell)));
	}
	return steps;
}

static void
refuse_override(const char *name, const char *detail)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("\"replace_where_overrides\" cannot be used for flow \"%s\"",
					name),
			 errdetail("%s", detail),
			 errhint("Give [{\"flow_name\": ..., \"predicate_override\": ...}, ...], with where flows that the update refreshes.")));
}

static void
set_override(List *steps, const char *name, char *override)
{
	RfUpdateStep *step = name == NULL ? NULL : find_step(steps, name);
	RfFlow	   *flow;

	if (name == NULL || override == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("an element of \"replace_where_overrides\" lacks \"%s\"",
						name == NULL ? "flow_name" : "predicate_override"),
				 errhint("Give [{\"flow_name\": ..., \"predicate_override\": ...}, ...].")));
	flow = rf_flow_find(name);
	if (step == NULL)
		refuse_override(name, "The update does not select it.");
	if (step->flow->kind != RF_WHERE)
		refuse_override(name, "It is a using flow, which has no predicate.");
	if (step->full)
		refuse_override(name, "It is refreshed fully.");
	if (step->override != NULL)
		refuse_override(name, "There are two overrides for it.");
	step->override = override;
	/* what is wrong with it is to be known before anything happens */
	rf_flow_open(flow);
	(void) rf_predicate_of_run(flow, override);
}

static void
read_overrides(List *steps, Datum overrides)
{
	RfRow	   *rows;
	int			nrows;

	if (!JB_ROOT_IS_ARRAY(DatumGetJsonbP(overrides)) ||
		JB_ROOT_IS_SCALAR(DatumGetJsonbP(overrides)))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("\"replace_where_overrides\" is not a JSON array"),
				 errhint("Give [{\"flow_name\": ..., \"predicate_override\": ...}, ...].")));
	nrows = rf_catalog_overrides(overrides, &rows);
	for (int i = 0; i < nrows; i++)
		set_override(steps, rf_row_text(&rows[i], "flow_name"),
					 rf_row_text(&rows[i], "predicate_override"));
}

static void
find_dependencies(List *steps)
{
	ListCell   *cell;

	foreach(cell, steps)
	{
		RfUpdateStep *step = lfirst(cell);

		step->reads = rf_reads_of_flow(step->flow->id);
		step->writes = rf_table_family(step->flow->target);
	}
}

/* Whether a flow reads nothing that another one is still to write. */
static bool
is_ready(const RfUpdateStep *step, List *steps)
{
	ListCell   *cell;

	foreach(cell, steps)
	{
		RfUpdateStep *other = lfirst(cell);

		if (other != step && !other->placed &&
			rf_have_common_member(step->reads, other->writes))
			return false;
	}
	return true;
}

static void
report_cycle(List *steps)
{
	StringInfoData names;
	ListCell   *cell;

	initStringInfo(&names);
	foreach(cell, steps)
	{
		RfUpdateStep *step = lfirst(cell);

		if (!step->placed)
			appendStringInfo(&names, "%s\"%s\"", names.len > 0 ? ", " : "", step->flow->name);
	}
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
			 errmsg("flows read each other's targets in a circle"),
			 errdetail("No order suits the flows %s.", names.data),
			 errhint("Refresh them one by one, or change what one of them reads.")));
}

/* By dependency, and else by age. */
static List *
put_in_order(List *steps)
{
	List	   *ordered = NIL;

	while (list_length(ordered) < list_length(steps))
	{
		RfUpdateStep *next = NULL;
		ListCell   *cell;

		foreach(cell, steps)
		{
			RfUpdateStep *step = lfirst(cell);

			if (!step->placed && (next == NULL || step->flow->id < next->flow->id) &&
				is_ready(step, steps))
				next = step;
		}
		if (next == NULL)
			report_cycle(steps);
		next->placed = true;
		ordered = lappend(ordered, next);
	}
	return ordered;
}

/*
 * Lock all targets, in the same order as everybody else, before one run after
 * the other locks its own.
 */
static void
lock_targets(List *steps)
{
	List	   *targets = NIL;
	ListCell   *cell;

	foreach(cell, steps)
	{
		const RfFlow *flow = ((RfUpdateStep *) lfirst(cell))->flow;

		rf_target_check_owner(flow->target, flow->owner, flow->name);
		targets = lappend_oid(targets, flow->target);
	}
	list_sort(targets, list_oid_cmp);
	foreach(cell, targets)
		LockRelationOid(lfirst_oid(cell), ShareRowExclusiveLock);
}

static List *
plan_update(FunctionCallInfo fcinfo)
{
	List	   *steps;

	rf_query_begin();
	steps = select_flows(fcinfo);
	steps = select_resets(steps, rf_argument(fcinfo, 1, "full_refresh_selection"));
	lock_targets(steps);
	read_overrides(steps, rf_argument(fcinfo, 2, "replace_where_overrides"));
	find_dependencies(steps);
	steps = put_in_order(steps);
	rf_query_end();
	return steps;
}

static RfRow
run_step(const RfUpdateStep *step)
{
	const char *name = step->flow->name;
	const char *reason = step->guarded ? NOT_RESET : NULL;
	RfRefreshOptions options = {
		.predicate_override = step->override,
		.wait = true,
		.reason = reason
	};

	if (step->flow->kind == RF_USING)
	{
		RfApplyOptions options = {.wait = true, .reason = reason};

		return rf_apply(name, &options);
	}
	return step->full ? rf_full_refresh(name) : rf_refresh(name, &options);
}

/*
 * start_update(refresh_selection, full_refresh_selection,
 * replace_where_overrides): run flows; gives the records of their runs.
 */
Datum
replace_flow_start_update(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	List	   *steps;
	ListCell   *cell;

	InitMaterializedSRF(fcinfo, 0);
	PreventCommandIfReadOnly("replace_flow.start_update()");
	steps = plan_update(fcinfo);
	foreach(cell, steps)
		tuplestore_puttuple(result->setResult, run_step(lfirst(cell)).tuple);
	return (Datum) 0;
}
