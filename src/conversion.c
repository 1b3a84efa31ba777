/*-------------------------------------------------------------------------
 *
 * conversion.c
 *	  A query's values as the target's columns store them.
 *
 * Each output column is converted to the type and length of its target column
 * by the same rules as in an INSERT (assignment casts), before anything is
 * compared: keys, sequences and images are then those that the target will
 * store.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "executor/executor.h"
#include "nodes/makefuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parse_coerce.h"
#include "parser/parse_collate.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "conversion.h"

struct RfConversion
{
	const RfFlow *flow;
	EState	   *estate;
	ExprContext *econtext;
	ExprState **casts;			/* per stored column; NULL: as it comes */
	int			current;		/* for errors: the column being converted */
};

/*
 * The cast of a value; NULL when there is none, the value itself when none is
 * needed.
 */
Node *
rf_conversion_cast(Node *value, RfType from, RfType to)
{
	Node	   *cast = coerce_to_target_type(NULL, value, from.type, to.type, to.typmod,
											 COERCION_ASSIGNMENT,
											 COERCE_IMPLICIT_CAST, -1);

	if (cast != NULL)
		assign_expr_collations(NULL, cast);
	return cast;
}

static Node *
build_cast(AttrNumber attnum, RfType from, RfType to)
{
	Var		   *value = makeVar(1, attnum, from.type, from.typmod, from.collation, 0);

	return rf_conversion_cast((Node *) value, from, to);
}

bool
rf_conversion_exists(RfType from, RfType to)
{
	return build_cast(1, from, to) != NULL;
}

/*
 * Whether values have to be computed, not only relabeled, to become the other
 * type.
 */
bool
rf_conversion_is_needed(RfType from, RfType to)
{
	Node	   *cast = build_cast(1, from, to);

	while (cast != NULL && IsA(cast, RelabelType))
		cast = (Node *) ((RelabelType *) cast)->arg;
	return cast == NULL || !IsA(cast, Var);
}

/*
 * The value of a stored column, made of the variable that numbers the output
 * column, from 1.
 */
Node *
rf_conversion_column(const RfFlow *flow, int column)
{
	int			position = flow->column_outputs[column];
	Node	   *cast = build_cast(position + 1, flow->output_types[position],
								  rf_flow_column_type(flow, column));

	if (cast == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("column \"%s\" of flow \"%s\" no longer fits the target",
						flow->outputs[position], flow->name),
				 errdetail("There is no assignment cast to the column's present type."),
				 errhint("Give the flow a query that casts the column with replace_flow.alter_flow().")));
	return cast;
}

static ExprState *
prepare_cast(const RfFlow *flow, int column)
{
	Node	   *cast = rf_conversion_column(flow, column);

	if (IsA(cast, Var))
		return NULL;
	return ExecInitExpr(expression_planner((Expr *) cast), NULL);
}

/*
 * Prepare to convert rows whose first columns are the flow's outputs.
 */
RfConversion *
rf_conversion_begin(const RfFlow *flow)
{
	RfConversion *conversion = palloc0(sizeof(RfConversion));
	MemoryContext caller;

	conversion->flow = flow;
	conversion->estate = CreateExecutorState();
	conversion->econtext = CreateExprContext(conversion->estate);
	caller = MemoryContextSwitchTo(conversion->estate->es_query_cxt);
	conversion->casts = palloc0(flow->columns->natts * sizeof(ExprState *));
	for (int i = 0; i < flow->columns->natts; i++)
		conversion->casts[i] = prepare_cast(flow, i);
	MemoryContextSwitchTo(caller);
	return conversion;
}

static void
add_context(void *arg)
{
	RfConversion *conversion = arg;
	const RfFlow *flow = conversion->flow;

	errcontext("converting column \"%s\" of flow \"%s\" to the type of the target's column",
			   flow->outputs[flow->column_outputs[conversion->current]], flow->name);
}

/*
 * Convert a row.  The values are good until the next call.
 */
void
rf_conversion_row(RfConversion *conversion, TupleTableSlot *input,
				  Datum *values, bool *nulls)
{
	const RfFlow *flow = conversion->flow;
	ErrorContextCallback callback = {error_context_stack, add_context, conversion};

	error_context_stack = &callback;
	slot_getallattrs(input);
	ResetExprContext(conversion->econtext);
	conversion->econtext->ecxt_scantuple = input;
	for (int i = 0; i < flow->columns->natts; i++)
	{
		int			position = flow->column_outputs[i];

		conversion->current = i;
		if (conversion->casts[i] == NULL)
		{
			values[i] = input->tts_values[position];
			nulls[i] = input->tts_isnull[position];
		}
		else
			values[i] = ExecEvalExprSwitchContext(conversion->casts[i],
												  conversion->econtext, &nulls[i]);
	}
	error_context_stack = callback.previous;
}

void
rf_conversion_end(RfConversion *conversion)
{
	FreeExecutorState(conversion->estate);
	pfree(conversion);
}
