/*-------------------------------------------------------------------------
 *
 * explain.c
 *	  What a run of a where flow would read, and how.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "funcapi.h"
#include "nodes/makefuncs.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/ruleutils.h"
#include "utils/snapmgr.h"
#include "utils/tuplestore.h"

#include "argument.h"
#include "flow_run.h"
#include "push_down.h"
#include "query.h"
#include "refresh_advice.h"
#include "where_predicate.h"
#include "window.h"

PG_FUNCTION_INFO_V1(replace_flow_explain);

typedef struct RfExplain
{
	const char *override;
	Node	   *predicate;
	ReturnSetInfo *result;
} RfExplain;

/* Each line of a text becomes a row. */
static void
put_lines(RfExplain *explain, const char *indent, char *text)
{
	char	   *line;

	while ((line = strsep(&text, "\n")) != NULL)
	{
		Datum		value;
		bool		isnull = false;

		if (line[0] == '\0')
			continue;
		value = CStringGetTextDatum(psprintf("%s%s", indent, line));
		tuplestore_putvalues(explain->result->setResult, explain->result->setDesc,
							 &value, &isnull);
	}
}

static void
put_title(RfExplain *explain, char *title)
{
	put_lines(explain, "", title);
}

static void
put_pushed(RfExplain *explain, List *pushed)
{
	ListCell   *cell;

	foreach(cell, pushed)
	{
		RfPushed   *condition = lfirst(cell);

		put_lines(explain, "  ", psprintf("%s: %s", condition->place, condition->condition));
	}
	if (pushed == NIL)
		put_lines(explain, "  ", pstrdup("nowhere: the finished rows are filtered"));
}

static void
put_query(RfExplain *explain, Query *query)
{
	put_lines(explain, "  ", pg_get_querydef(query, true));
	put_title(explain, "Plan of the query:");
	put_lines(explain, "  ", rf_query_plan(query));
}

static List *
add_statement(List *statements, char *statement)
{
	return statement == NULL ? statements : list_append_unique(statements, makeString(statement));
}

/* What is missing for refreshes that recompute some groups of rows. */
static void
put_indexes(RfExplain *explain, const RfFlow *flow)
{
	List	   *statements = NIL;
	ListCell   *cell;

	foreach(cell, rf_sources_of_flow(flow)->sources)
	{
		const RfSource *source = lfirst(cell);

		statements = add_statement(statements, rf_missing_index(source));
		statements = add_statement(statements, rf_missing_target_index(flow, source));
	}
	if (statements != NIL)
		put_title(explain, pstrdup("Indexes that would help to recompute what changed:"));
	foreach(cell, statements)
		put_lines(explain, "  ", strVal(lfirst(cell)));
}

static void
prepare(RfRun *run, void *arg)
{
	RfExplain  *explain = arg;

	explain->predicate = rf_predicate_of_run(run->flow, explain->override);
}

static void
work(RfRun *run, void *arg)
{
	RfExplain  *explain = arg;
	const RfFlow *flow = run->flow;
	Node	   *predicate;
	Query	   *query;
	List	   *pushed;

	PushActiveSnapshot(GetTransactionSnapshot());
	predicate = rf_predicate_settle(explain->predicate);
	query = rf_window_new_rows(flow, predicate, &pushed);
	put_title(explain, psprintf("Window of table \"%s\":", get_rel_name(flow->target)));
	put_lines(explain, "  ", rf_predicate_text(flow, predicate));
	put_title(explain, "Pushed to:");
	put_pushed(explain, pushed);
	put_title(explain, "Query:");
	put_query(explain, query);
	put_indexes(explain, flow);
	put_title(explain, "Plan for the target:");
	put_lines(explain, "  ", rf_query_plan(rf_window_old_rows(flow, predicate, false)));
	PopActiveSnapshot();
}

/*
 * explain(flow, predicate_override): the window, the query that gives its rows,
 * and the plans.
 */
Datum
replace_flow_explain(PG_FUNCTION_ARGS)
{
	RfExplain	explain = {
		.override = rf_argument_text_or_null(fcinfo, 1),
		.result = (ReturnSetInfo *) fcinfo->resultinfo
	};
	RfRunOrder	order = {
		.command = "replace_flow.explain()",
		.flow_name = rf_argument_text(fcinfo, 0, "flow"),
		.kind = RF_WHERE,
		.prepare = prepare,
		.work = work,
		.arg = &explain
	};

	InitMaterializedSRF(fcinfo, MAT_SRF_USE_EXPECTED_DESC);
	(void) rf_preview(&order);
	return (Datum) 0;
}
