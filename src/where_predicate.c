/*-------------------------------------------------------------------------
 *
 * where_predicate.c
 *	  The predicate of a where flow: a condition on rows of the target.
 *
 * A predicate is one boolean expression over those columns of the target that
 * the flow's query gives.  In memory it is a tree whose variables number the
 * flow's stored columns, from 1; a view keeps it (flow_view.c).
 *
 * Besides a column's name alone, the target's own name may stand before it,
 * and an alias of the query, if the query's output has that very column.
 *
 * Before a run uses it, a predicate is settled: what does not depend on the row
 * is computed, once.  So now() and a user's stable function have one value in
 * the run, on both sides of it, and conditions can be compared with what
 * indexes and partitions hold.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/sysattr.h"
#include "catalog/namespace.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/ruleutils.h"

#include "compat.h"
#include "query.h"
#include "query_level.h"
#include "regcolumn.h"
#include "role.h"
#include "sql_text.h"
#include "where_predicate.h"

static void
refuse_name(const RfPredicateScope *scope, List *name, const char *detail, char *closest)
{
	char	  **names = palloc(scope->columns->natts * sizeof(char *));

	for (int i = 0; i < scope->columns->natts; i++)
		names[i] = NameStr(TupleDescAttr(scope->columns, i)->attname);
	if (closest == NULL)
		closest = rf_closest_name(strVal(llast(name)), scope->columns->natts, names);
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_COLUMN),
			 errmsg("column \"%s\" in \"%s\" of flow \"%s\" cannot be used",
					NameListToString(name), scope->parameter, scope->flow_name),
			 errdetail("%s The columns are %s.", detail,
					   rf_sql_names(scope->columns->natts, names)),
			 closest != NULL ? errhint("Perhaps you meant the column \"%s\".", closest) :
			 errhint("Use columns of the target that the query gives.")));
}

static bool
is_column(const RfPredicateScope *scope, const char *name)
{
	for (int i = 0; i < scope->columns->natts; i++)
	{
		if (strcmp(NameStr(TupleDescAttr(scope->columns, i)->attname), name) == 0)
			return true;
	}
	return false;
}

/* The table of a query's FROM that has this name, from 1; 0 when there is none. */
static int
find_alias(const Query *query, const char *alias)
{
	for (int i = 1; i <= list_length(query->rtable); i++)
	{
		RangeTblEntry *rte = rt_fetch(i, query->rtable);

		if (rte->inFromCl && rte->eref != NULL && strcmp(rte->eref->aliasname, alias) == 0)
			return i;
	}
	return 0;
}

/* A column of a table of FROM, as the tables below joins give it; or NULL. */
static Node *
find_from_column(Query *query, int varno, const char *column)
{
	RangeTblEntry *rte = rt_fetch(varno, query->rtable);
	AttrNumber	attnum = 0;
	ListCell   *cell;

	foreach(cell, rte->eref->colnames)
	{
		attnum++;
		if (strcmp(strVal(lfirst(cell)), column) == 0)
			return rf_level_flatten(query, list_nth(rf_relation_columns(rte, varno), attnum - 1));
	}
	return NULL;
}

/* Which outer joins lie above a column does not make another column of it. */
static bool
is_same_column(Node *expression, Node *column)
{
	Var		   *var1 = (Var *) expression;
	Var		   *var2 = (Var *) column;

	if (!IsA(var1, Var) || !IsA(var2, Var))
		return equal(expression, column);
	return var1->varno == var2->varno && var1->varattno == var2->varattno &&
		var1->varlevelsup == var2->varlevelsup;
}

/* The column of the target that stores a column of the query's FROM, or NULL. */
static char *
find_source_column(const RfPredicateScope *scope, const char *alias, const char *column)
{
	Query	   *query = copyObject(unconstify(Query *, scope->query));
	int			varno = find_alias(query, alias);
	Node	   *source = varno > 0 ? find_from_column(query, varno, column) : NULL;

	for (int i = 0; source != NULL && i < scope->columns->natts; i++)
	{
		TargetEntry *output = list_nth(query->targetList, i);

		if (is_same_column(rf_level_flatten(query, (Node *) output->expr), source))
			return NameStr(TupleDescAttr(scope->columns, i)->attname);
	}
	return NULL;
}

/* What stands for the column, once its qualifier was understood. */
static void
resolve_name(const RfPredicateScope *scope, ColumnRef *reference)
{
	List	   *fields = reference->fields;
	char	   *target = get_rel_name(scope->target);
	char	   *column;
	char	   *stored;

	if (!IsA(llast(fields), String))
		refuse_name(scope, list_make1(makeString(pstrdup("*"))),
					"A whole row is not compared.", NULL);
	column = strVal(llast(fields));
	if (list_length(fields) == 3 &&
		strcmp(strVal(linitial(fields)),
			   get_namespace_name(get_rel_namespace(scope->target))) == 0)
		fields = list_delete_first(list_copy(fields));
	if (list_length(fields) == 2 && strcmp(strVal(linitial(fields)), target) == 0)
		fields = list_make1(llast(fields));
	if (list_length(fields) > 1)
	{
		stored = list_length(fields) > 2 ? NULL :
			find_source_column(scope, strVal(linitial(fields)), column);
		if (stored == NULL)
			refuse_name(scope, fields, "The query's output does not have this very column.", NULL);
		fields = list_make1(makeString(stored));
	}
	else if (!is_column(scope, column))
		refuse_name(scope, fields, get_attnum(scope->target, column) > 0 ?
					"The target has it, and the query does not give it." :
					"There is no such column.", NULL);
	reference->fields = fields;
}

static bool
resolve_names(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, ColumnRef))
	{
		resolve_name(context, (ColumnRef *) node);
		return false;
	}
	/* refused later, as what it is */
	if (IsA(node, SubLink))
		return false;
	return raw_expression_tree_walker(node, resolve_names, context);
}

/*
 * Read a predicate, with the caller's search path; the view is one over a row
 * of the target.
 */
RfView *
rf_predicate_read(const RfPredicateScope *scope, const char *text)
{
	RfTextOrigin origin = {
		.flow_name = scope->flow_name,
		.parameter = scope->parameter,
		.is_predicate = true
	};
	RfView	   *view = rf_view_begin_row(scope->flow_name, get_rel_name(scope->target),
										 scope->columns);
	Node	   *raw = rf_expression_parse(&origin, text);

	(void) resolve_names(raw, unconstify(RfPredicateScope *, scope));
	(void) rf_view_add_parsed(view, &origin, raw, text, BOOLOID, "predicate");
	return view;
}

/* A column of the target may have got another type since. */
static void
check_types(const RfFlow *flow, const RfView *view)
{
	char	  **names;
	RfType	   *types;
	int			ncolumns = rf_view_outputs(view, &names, &types);

	for (int i = 0; i < ncolumns; i++)
	{
		RfType		now = rf_flow_column_type(flow, i);

		if (!rf_type_is_same(types[i], now) &&
			bms_is_member(i, rf_predicate_columns(rf_view_added(view))))
			ereport(ERROR,
					(errcode(ERRCODE_DATATYPE_MISMATCH),
					 errmsg("column \"%s\" in the predicate of flow \"%s\" has changed its type",
							NameStr(TupleDescAttr(flow->columns, i)->attname), flow->name),
					 errdetail("It was %s and is now %s, or their collations differ.",
							   rf_type_name(types[i]), rf_type_name(now)),
					 errhint("Give the flow its predicate anew: replace_flow.alter_flow(..., replace_where => ...).")));
	}
}

/*
 * Take up the predicate that is stored, with the names that the target's columns
 * have now.
 */
RfView *
rf_predicate_stored(const RfFlow *flow)
{
	RfView	   *view = rf_view_load_row(flow, flow->window);
	char	  **names;
	RfType	   *types;

	/* each column that a where flow gives is stored */
	if (rf_view_outputs(view, &names, &types) != flow->noutputs)
		rf_flow_report_changed_view(flow, flow->window);
	for (int i = 0; i < flow->noutputs; i++)
	{
		AttrNumber	attnum = flow->output_attnums[i];
		const char *name = attnum > 0 ? rf_column_name(flow->target, attnum) : NULL;

		/* no column has the name of one that was dropped */
		rf_view_rename(view, i, name != NULL ? name : "");
	}
	return view;
}

/*
 * The predicate that a flow has by itself; a run has it checked (rf_predicate_of_run).
 */
Node *
rf_predicate_own(const RfFlow *flow)
{
	return rf_view_added(rf_predicate_stored(flow));
}

/*
 * Let a predicate be about the columns of a new definition.
 */
RfView *
rf_predicate_carry(const RfPredicateScope *scope, const RfView *before)
{
	RfView	   *view = rf_view_begin_row(scope->flow_name, get_rel_name(scope->target),
										 scope->columns);

	rf_view_carry_added(view, before, "\"replace_where\"", "predicate");
	return view;
}

/* The flow's own predicate. */
static Node *
predicate_of_flow(const RfFlow *flow)
{
	RfView	   *view = rf_predicate_stored(flow);

	check_types(flow, view);
	/* what a function is marked as can change */
	if (contain_volatile_functions(rf_view_added(view)))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
				 errmsg("REPLACE_WHERE_NOT_DETERMINISTIC: the predicate of flow \"%s\" calls a volatile function",
						flow->name),
				 errdetail("It was not volatile when the predicate was given."),
				 errhint("Mark the function as what it is, or give the flow another predicate with replace_flow.alter_flow().")));
	return rf_view_added(view);
}

/*
 * A predicate that is given for one run.  Its names are the caller's, and it is
 * read as the owner; times and intervals in it mean what they mean in the flow's
 * own.
 */
static Node *
predicate_of_text(const RfFlow *flow, const char *text)
{
	RfPredicateScope scope = {
		.flow_name = flow->name,
		.parameter = "predicate_override",
		.target = flow->target,
		.columns = flow->columns,
		.query = rf_view_inner_query(rf_view_load(flow))
	};
	RfRoleGuard guard;
	Node	   *predicate;

	rf_role_read_as(&guard, flow->owner);
	rf_flow_set_creator_settings(flow);
	predicate = rf_view_added(rf_predicate_read(&scope, text));
	rf_role_restore(&guard);
	return predicate;
}

/*
 * The predicate of a run of an open flow, called as who calls for the run: an
 * override, or else (NULL) the flow's own.
 */
Node *
rf_predicate_of_run(const RfFlow *flow, const char *override)
{
	return override != NULL ? predicate_of_text(flow, override) : predicate_of_flow(flow);
}

static Const *
compute(Expr *expression)
{
	EState	   *estate = CreateExecutorState();
	MemoryContext caller = MemoryContextSwitchTo(estate->es_query_cxt);
	Oid			type = exprType((Node *) expression);
	int16		length;
	bool		by_value;
	bool		isnull;
	Datum		value;

	get_typlenbyval(type, &length, &by_value);
	value = ExecEvalExprSwitchContext(ExecInitExpr(expression_planner(expression), NULL),
									  GetPerTupleExprContext(estate), &isnull);
	MemoryContextSwitchTo(caller);
	if (!isnull)
		value = length == -1 ? PointerGetDatum(PG_DETOAST_DATUM_COPY(value)) :
			datumCopy(value, by_value, length);
	FreeExecutorState(estate);
	return makeConst(type, exprTypmod((Node *) expression), exprCollation((Node *) expression),
					 length, value, isnull, by_value);
}

/* What has a value only inside of another expression, or for a row. */
static bool
needs_context(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Var) || IsA(node, CaseTestExpr) || IsA(node, CoerceToDomainValue) ||
		IsA(node, Param))
		return true;
	return expression_tree_walker(node, needs_context, context);
}

static bool
can_compute(Node *node)
{
	switch (nodeTag(node))
	{
		case T_FuncExpr:
		case T_OpExpr:
		case T_DistinctExpr:
		case T_NullIfExpr:
		case T_ScalarArrayOpExpr:
		case T_SubscriptingRef:
		case T_FieldSelect:
		case T_RelabelType:
		case T_CoerceViaIO:
		case T_ArrayCoerceExpr:
		case T_CollateExpr:
		case T_ArrayExpr:
		case T_MinMaxExpr:
		case T_SQLValueFunction:
		case T_CoerceToDomain:
		case T_BoolExpr:
		case T_CaseExpr:
		case T_CoalesceExpr:
		case T_NullTest:
		case T_BooleanTest:
		case T_RowCompareExpr:
			return get_typtype(exprType(node)) != TYPTYPE_PSEUDO && !needs_context(node, NULL);
		default:
			return false;
	}
}

/*
 * In a branch that may not be taken, what would raise an error should not; only
 * what could have another value the next time is computed there.
 */
static Node *
settle(Node *node, void *context)
{
	bool		in_branch = *(bool *) context;

	if (node == NULL)
		return NULL;
	if (can_compute(node) && (!in_branch || contain_mutable_functions(node)))
		return (Node *) compute((Expr *) node);
	in_branch |= IsA(node, CaseExpr) || IsA(node, CoalesceExpr);
	return expression_tree_mutator(node, settle, &in_branch);
}

/*
 * Compute what does not depend on the row.
 */
Node *
rf_predicate_settle(Node *predicate)
{
	bool		in_branch = false;

	return settle(predicate, &in_branch);
}

/* Leave NULL where a run would compute. */
static Node *
leave_out(Node *node, void *context)
{
	if (node == NULL)
		return NULL;
	if (can_compute(node))
		return (Node *) makeNullConst(exprType(node), exprTypmod(node), exprCollation(node));
	return expression_tree_mutator(node, leave_out, context);
}

/*
 * What of a predicate is left to be asked of each row, once it is settled.
 */
Node *
rf_predicate_for_rows(Node *predicate)
{
	return leave_out(predicate, NULL);
}

/*
 * A predicate over what the query gives has the casts to the target's types in
 * it, and these must give for a row what will be stored.
 */
void
rf_predicate_check_casts(const char *flow_name, Node *predicate)
{
	if (contain_volatile_functions(predicate))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
				 errmsg("REPLACE_WHERE_NOT_DETERMINISTIC: a column in the predicate of flow \"%s\" is converted by a volatile function",
						flow_name),
				 errdetail("The assignment cast to the type of the target's column is volatile."),
				 errhint("Cast the column in the query.")));
}

/*
 * The positions of the columns that a predicate uses.
 */
Bitmapset *
rf_predicate_columns(Node *predicate)
{
	Bitmapset  *attnums = NULL;
	Bitmapset  *positions = NULL;
	int			member = -1;

	pull_varattnos(predicate, 1, &attnums);
	while ((member = bms_next_member(attnums, member)) >= 0)
		positions = bms_add_member(positions, member + FirstLowInvalidHeapAttributeNumber - 1);
	return positions;
}

/*
 * The numbers that these columns have in the target.
 */
Bitmapset *
rf_predicate_target_columns(const RfFlow *flow, Node *predicate)
{
	Bitmapset  *positions = rf_predicate_columns(predicate);
	Bitmapset  *attnums = NULL;
	int			position = -1;

	while ((position = bms_next_member(positions, position)) >= 0)
		attnums = bms_add_member(attnums, rf_flow_column_attnum(flow, position));
	return attnums;
}

static Node *
replace(Node *node, void *context)
{
	Node	  **by = context;

	if (node == NULL)
		return NULL;
	if (IsA(node, Var))
		return copyObject(by[((Var *) node)->varattno - 1]);
	return expression_tree_mutator(node, replace, context);
}

/*
 * Put expressions in the place of the columns, by position.
 */
Node *
rf_predicate_replace(Node *predicate, Node **by)
{
	return replace(predicate, by);
}

/*
 * The predicate over rows of the target's relation.
 */
Node *
rf_predicate_on_target(const RfFlow *flow, Node *predicate)
{
	Node	  **by = palloc(flow->columns->natts * sizeof(Node *));

	for (int i = 0; i < flow->columns->natts; i++)
		by[i] = rf_flow_column_var(flow, i);
	return rf_predicate_replace(predicate, by);
}

/* A predicate that is asked of rows in memory. */
struct RfRowCondition
{
	EState	   *estate;
	ExprContext *econtext;
	ExprState  *expression;
	TupleTableSlot *slot;
};

/*
 * Prepare to ask a predicate of rows: of their stored columns, by position.
 */
RfRowCondition *
rf_predicate_begin_rows(const RfFlow *flow, Node *predicate)
{
	RfRowCondition *condition = palloc(sizeof(RfRowCondition));
	MemoryContext caller;

	condition->estate = CreateExecutorState();
	condition->econtext = CreateExprContext(condition->estate);
	caller = MemoryContextSwitchTo(condition->estate->es_query_cxt);
	condition->slot = MakeSingleTupleTableSlot(flow->columns, &TTSOpsVirtual);
	condition->expression = ExecInitExpr(expression_planner(copyObject((Expr *) predicate)), NULL);
	condition->econtext->ecxt_scantuple = condition->slot;
	MemoryContextSwitchTo(caller);
	return condition;
}

/*
 * Whether it is true of a row.
 */
bool
rf_predicate_is_true(RfRowCondition *condition, const Datum *values, const bool *nulls)
{
	TupleTableSlot *slot = condition->slot;
	bool		isnull;
	Datum		result;

	ExecClearTuple(slot);
	memcpy(slot->tts_values, values, slot->tts_tupleDescriptor->natts * sizeof(Datum));
	memcpy(slot->tts_isnull, nulls, slot->tts_tupleDescriptor->natts * sizeof(bool));
	ExecStoreVirtualTuple(slot);
	ResetExprContext(condition->econtext);
	result = ExecEvalExprSwitchContext(condition->expression, condition->econtext, &isnull);
	return !isnull && DatumGetBool(result);
}

void
rf_predicate_end_rows(RfRowCondition *condition)
{
	ExecDropSingleTupleTableSlot(condition->slot);
	FreeExecutorState(condition->estate);
}

/*
 * The predicate as people read it.
 */
char *
rf_predicate_text(const RfFlow *flow, Node *predicate)
{
	return deparse_expression(rf_predicate_on_target(flow, predicate),
							  deparse_context_for(get_rel_name(flow->target), flow->target),
							  false, false);
}
