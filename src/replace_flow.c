/*-------------------------------------------------------------------------
 *
 * replace_flow.c
 *	  Where the server enters: the library's mark, and the functions that run
 *	  and show flows.
 *
 * A using flow brings a target up to date from rows that applications stage; a
 * where flow overwrites a window of a target by what a query gives.
 * README.md in this folder tells the life of a run and where things are.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"

#include "argument.h"
#include "database_command.h"
#include "flow.h"
#include "launcher.h"
#include "query.h"
#include "role.h"
#include "settings.h"
#include "shared_state.h"
#include "sql_text.h"
#include "using_run.h"
#include "wake_up.h"
#include "where_run.h"

PG_MODULE_MAGIC;

void		_PG_init(void);

PG_FUNCTION_INFO_V1(replace_flow_apply);
PG_FUNCTION_INFO_V1(replace_flow_apply_range);
PG_FUNCTION_INFO_V1(replace_flow_refresh);
PG_FUNCTION_INFO_V1(replace_flow_full_refresh);
PG_FUNCTION_INFO_V1(replace_flow_floors);

void
_PG_init(void)
{
	rf_settings_define();
	if (!process_shared_preload_libraries_in_progress)
		return;
	rf_shared_state_init();
	rf_wake_up_init();
	rf_database_command_init();
	rf_launcher_register();
}

static Datum
run_datum(FunctionCallInfo fcinfo, RfRow record)
{
	TupleDesc	desc;

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "unexpected result type of a run");
	return heap_copy_tuple_as_datum(record.tuple, desc);
}

/*
 * apply(flow, wait): one run of a using flow; gives its record.
 */
Datum
replace_flow_apply(PG_FUNCTION_ARGS)
{
	char	   *flow_name = rf_argument_text(fcinfo, 0, "flow");
	RfApplyOptions options = {.wait = rf_argument_bool(fcinfo, 1, "wait")};

	return run_datum(fcinfo, rf_apply(flow_name, &options));
}

/*
 * apply_range(flow, first, last): the same for the keys whose hash lies in a range.
 */
Datum
replace_flow_apply_range(PG_FUNCTION_ARGS)
{
	char	   *flow_name = rf_argument_text(fcinfo, 0, "flow");
	RfKeyRange	range = {
		.first = DatumGetInt64(rf_argument(fcinfo, 1, "first")),
		.last = DatumGetInt64(rf_argument(fcinfo, 2, "last"))
	};
	RfApplyOptions options = {.wait = true, .range = &range};

	return run_datum(fcinfo, rf_apply(flow_name, &options));
}

/*
 * refresh(flow, predicate_override, technique, allow_empty, wait): one run of a
 * where flow; gives its record.
 */
Datum
replace_flow_refresh(PG_FUNCTION_ARGS)
{
	char	   *flow_name = rf_argument_text(fcinfo, 0, "flow");
	RfRefreshOptions options = {
		.predicate_override = rf_argument_text_or_null(fcinfo, 1),
		.technique = rf_argument_text_or_null(fcinfo, 2),
		.insists = !PG_ARGISNULL(3),
		.allow_empty = !PG_ARGISNULL(3) && PG_GETARG_BOOL(3),
		.wait = rf_argument_bool(fcinfo, 4, "wait")
	};

	return run_datum(fcinfo, rf_refresh(flow_name, &options));
}

/*
 * full_refresh(flow): empty the target and recompute the window; gives the
 * run's record.
 */
Datum
replace_flow_full_refresh(PG_FUNCTION_ARGS)
{
	return run_datum(fcinfo, rf_full_refresh(rf_argument_text(fcinfo, 0, "flow")));
}

static void
put_floor(TupleTableSlot *slot, void *arg)
{
	ReturnSetInfo *result = arg;

	tuplestore_puttupleslot(result->setResult, slot);
}

/*
 * floors(flow): the floor of each key.
 */
Datum
replace_flow_floors(PG_FUNCTION_ARGS)
{
	char	   *flow_name = rf_argument_text(fcinfo, 0, "flow");
	RfFlow	   *flow;
	RfRoleGuard guard;

	InitMaterializedSRF(fcinfo, 0);
	rf_query_begin();
	flow = rf_flow_find(flow_name);
	rf_flow_check_caller(flow);
	rf_flow_check_kind(flow, RF_USING);
	rf_flow_open(flow);
	rf_flow_assume(&guard, flow);
	rf_query_each(rf_sql_floors(flow), RF_PLAN_FREE, NULL, put_floor, fcinfo->resultinfo);
	rf_role_restore(&guard);
	rf_query_end();
	return (Datum) 0;
}
