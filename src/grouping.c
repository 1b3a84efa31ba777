/*-------------------------------------------------------------------------
 *
 * grouping.c
 *	  The group that a row of a source has a part in.
 *
 * Each group column is an expression over columns of the source (source_trace.c), which
 * is computed for a row in a slot.
 *
 * Of a range of rows the group is a range, too, where a column is computed from one
 * column of the source in a way that keeps the order: then the range goes from what is
 * computed for one end to what is computed for the other.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "catalog/pg_type.h"
#include "datatype/timestamp.h"
#include "executor/executor.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/rel.h"

#include "discrete_type.h"
#include "grouping.h"
#include "monotone_function.h"
#include "monotone_step.h"
#include "query_level.h"

/*
 * By how much two time zones, or two moments in one, differ at most, twice: a
 * time that is converted from one to the other, cut, and converted back, keeps
 * its order to one that is further away.
 */
#define ZONE_SLACK (60 * USECS_PER_HOUR)

struct RfGrouping
{
	int			ncolumns;
	Node	  **traces;			/* by group column */
	ExprState **expressions;	/* the same, to be computed */
	EState	   *estate;
	ExprContext *econtext;
	Relation	table;
	TupleTableSlot *slot;
};

/*
 * Prepare to compute groups at one of the places where the query reads a table; by
 * these columns of the flow.  This may fail, as all that computes them may.
 */
RfGrouping *
rf_grouping_begin(const RfOccurrence *occurrence, int ncolumns, const int *columns)
{
	RfGrouping *grouping = palloc(sizeof(RfGrouping));
	MemoryContext caller;

	grouping->ncolumns = ncolumns;
	grouping->estate = CreateExecutorState();
	grouping->econtext = CreateExprContext(grouping->estate);
	grouping->table = table_open(occurrence->relid, NoLock);
	caller = MemoryContextSwitchTo(grouping->estate->es_query_cxt);
	grouping->slot = MakeSingleTupleTableSlot(RelationGetDescr(grouping->table), &TTSOpsVirtual);
	grouping->traces = palloc(ncolumns * sizeof(Node *));
	grouping->expressions = palloc(ncolumns * sizeof(ExprState *));
	for (int i = 0; i < ncolumns; i++)
	{
		Node	   *trace = occurrence->traces[columns[i]];

		grouping->traces[i] = trace;
		grouping->expressions[i] = ExecInitExpr(expression_planner(copyObject((Expr *) trace)),
												NULL);
	}
	MemoryContextSwitchTo(caller);
	grouping->econtext->ecxt_scantuple = grouping->slot;
	return grouping;
}

/*
 * The slot for a row of the table.
 */
TupleTableSlot *
rf_grouping_slot(const RfGrouping *grouping)
{
	return grouping->slot;
}

/*
 * The group of the row in the slot.
 */
void
rf_grouping_compute(RfGrouping *grouping, Datum *values, bool *nulls)
{
	ResetExprContext(grouping->econtext);
	for (int i = 0; i < grouping->ncolumns; i++)
		values[i] = ExecEvalExprSwitchContext(grouping->expressions[i], grouping->econtext,
											  &nulls[i]);
}

/* A column's number, kept away from the ends of its type, and moved by some slack. */
static bool
widen(Oid type, int64 slack, int64 *low, int64 *high)
{
	int64		first;
	int64		last;

	rf_discrete_usual(type, &first, &last);
	if (type == DATEOID)
		slack = (slack + USECS_PER_DAY - 1) / USECS_PER_DAY;
	if (*low > *high || *low < first + slack || *high > last - slack)
		return false;
	*low -= slack;
	*high += slack;
	return true;
}

/* Whether steps keep the order of all values that are far enough apart. */
static int64
slack_of(List *steps)
{
	ListCell   *cell;

	foreach(cell, steps)
	{
		RfStepKind	kind = ((RfStep *) lfirst(cell))->kind;

		if (kind == RF_STEP_TO_LOCAL || kind == RF_STEP_FROM_LOCAL)
			return ZONE_SLACK;
	}
	return 0;
}

/* What a group column is, as a number, if a column of the table is this; false: NULL. */
static bool
compute_number(RfGrouping *grouping, int column, const Var *var, int64 *number)
{
	TupleTableSlot *slot = grouping->slot;
	bool		isnull;
	Datum		value;

	ExecClearTuple(slot);
	memset(slot->tts_isnull, true, slot->tts_tupleDescriptor->natts * sizeof(bool));
	slot->tts_values[var->varattno - 1] = rf_discrete_value(var->vartype, *number);
	slot->tts_isnull[var->varattno - 1] = false;
	ExecStoreVirtualTuple(slot);
	ResetExprContext(grouping->econtext);
	value = ExecEvalExprSwitchContext(grouping->expressions[column], grouping->econtext, &isnull);
	if (isnull)
		return false;
	*number = rf_discrete_number(exprType(grouping->traces[column]), value);
	return true;
}

/*
 * The range of a group column for the range of the one column that it is computed
 * from; not bounded where the way there may change the order.
 */
RfChangedRange
rf_grouping_range(RfGrouping *grouping, int column, const RfChangeSet *changes)
{
	RfChangedRange any = {.bounded = false, .has_null = true};
	Node	   *trace = grouping->traces[column];
	List	   *vars = rf_condition_columns(trace);
	List	   *steps = NIL;
	Var		   *var;
	RfChangedRange range;

	if (list_length(vars) != 1)
		return any;
	var = linitial_node(Var, vars);
	range = rf_changes_range(changes, var->varattno);
	if (!range.bounded || !rf_discrete_is(var->vartype) ||
		!rf_steps_from(trace, var, &steps) ||
		!widen(var->vartype, slack_of(steps), &range.low, &range.high) ||
		!compute_number(grouping, column, var, &range.low) ||
		!compute_number(grouping, column, var, &range.high))
		return any;
	return range;
}

void
rf_grouping_end(RfGrouping *grouping)
{
	ExecDropSingleTupleTableSlot(grouping->slot);
	table_close(grouping->table, NoLock);
	FreeExecutorState(grouping->estate);
	pfree(grouping);
}
