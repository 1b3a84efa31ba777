/*-------------------------------------------------------------------------
 *
 * flow_query.c
 *	  The texts that define a flow: its query, and expressions over what the
 *	  query gives.
 *
 * A text is parsed on its own and must be exactly one SELECT, or exactly one
 * expression: it is never put between other words, so nothing in it can leak
 * into a statement around it.  Names are looked up here, once, with the
 * creator's search path; from then on the parsed tree counts.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/analyze.h"
#include "parser/parse_coerce.h"
#include "parser/parse_collate.h"
#include "parser/parse_expr.h"
#include "parser/parser.h"
#include "utils/builtins.h"
#include "utils/varlena.h"

#include "flow_query.h"

static void
add_context(void *arg)
{
	const RfTextContext *context = arg;
	int			position = geterrposition();

	/* it is one in this text, and not in the statement that the caller sent */
	if (position > 0 && context->text != NULL)
	{
		errposition(0);
		internalerrposition(position);
		internalerrquery(context->text);
	}
	errcontext("parameter \"%s\" of flow \"%s\"", context->origin->parameter,
			   context->origin->flow_name);
}

/*
 * Let errors say, until the caller takes this off the stack, which text they are
 * about; the text itself, if positions of errors are in it.
 */
void
rf_query_push_context(RfTextContext *context, const RfTextOrigin *origin, const char *text)
{
	context->callback.previous = error_context_stack;
	context->callback.callback = add_context;
	context->callback.arg = context;
	context->origin = origin;
	context->text = text;
	error_context_stack = &context->callback;
}

/*
 * A query that a flow cannot have.
 */
void
rf_query_refuse(const RfTextOrigin *origin, const char *detail)
{
	ereport(ERROR,
			(errcode(ERRCODE_SYNTAX_ERROR),
			 errmsg("the query of flow \"%s\" is not a plain SELECT", origin->flow_name),
			 errdetail_internal("%s", detail),
			 errhint("Give one SELECT that only reads.")));
}

/*
 * Parse and analyze a query, under the caller's search path.
 */
Query *
rf_query_parse(const RfTextOrigin *origin, const char *text)
{
	RfTextContext context;
	List	   *statements;
	RawStmt    *statement;
	Query	   *query;

	rf_query_push_context(&context, origin, text);
	statements = raw_parser(text, RAW_PARSE_DEFAULT);
	if (list_length(statements) != 1)
		rf_query_refuse(origin, psprintf("The text has %d statements.", list_length(statements)));
	statement = linitial_node(RawStmt, statements);
	if (!IsA(statement->stmt, SelectStmt))
		rf_query_refuse(origin, "The statement is of another kind.");
	if (((SelectStmt *) statement->stmt)->intoClause != NULL)
		rf_query_refuse(origin, "SELECT INTO creates a table.");
	query = parse_analyze_fixedparams(statement, text, NULL, 0, NULL);
	if (query->commandType != CMD_SELECT)
		rf_query_refuse(origin, "The statement is of another kind.");
	if (query->hasModifyingCTE)
		rf_query_refuse(origin, "A WITH clause changes data.");
	error_context_stack = context.callback.previous;
	return query;
}

static void
refuse_expression(const RfTextOrigin *origin, const char *detail)
{
	ereport(ERROR,
			(errcode(ERRCODE_SYNTAX_ERROR),
			 errmsg("parameter \"%s\" of flow \"%s\" is not a single expression",
					origin->parameter, origin->flow_name),
			 errdetail_internal("%s", detail),
			 errhint("Give one expression over the columns that the query gives.")));
}

/*
 * Parse a text that must be one expression.
 */
Node *
rf_expression_parse(const RfTextOrigin *origin, const char *text)
{
	RfTextContext context;
	List	   *statements;
	SelectStmt *select;
	ResTarget  *target;

	rf_query_push_context(&context, origin, text);
	statements = raw_parser(text, RAW_PARSE_PLPGSQL_EXPR);
	select = castNode(SelectStmt, linitial_node(RawStmt, statements)->stmt);
	error_context_stack = context.callback.previous;

	if (select->distinctClause != NIL || select->fromClause != NIL ||
		select->whereClause != NULL || select->groupClause != NIL ||
		select->havingClause != NULL || select->windowClause != NIL ||
		select->sortClause != NIL || select->limitCount != NULL ||
		select->limitOffset != NULL || select->lockingClause != NIL ||
		select->op != SETOP_NONE)
		refuse_expression(origin, "The text has clauses of a query.");
	if (list_length(select->targetList) != 1)
		refuse_expression(origin, psprintf("The text has %d expressions.",
										   list_length(select->targetList)));
	target = linitial_node(ResTarget, select->targetList);
	if (target->name != NULL)
		refuse_expression(origin, "The text names its result with AS.");
	if (IsA(target->val, ColumnRef) &&
		IsA(llast(((ColumnRef *) target->val)->fields), A_Star))
		refuse_expression(origin, "The text stands for several columns.");
	return target->val;
}

/*
 * The name of the column, if the expression is no more than that; else NULL.
 */
const char *
rf_expression_column(Node *raw)
{
	ColumnRef  *column = (ColumnRef *) raw;

	if (!IsA(raw, ColumnRef) || list_length(column->fields) != 1 ||
		!IsA(linitial(column->fields), String))
		return NULL;
	return strVal(linitial(column->fields));
}

/*
 * Give an expression its meaning.  required_type is boolean or nothing.
 */
Node *
rf_expression_analyze(const RfTextOrigin *origin, ParseState *pstate,
					  Node *raw, const char *text, Oid required_type)
{
	RfTextContext context;
	Node	   *expression;

	rf_query_push_context(&context, origin, text);
	pstate->p_sourcetext = text;
	expression = transformExpr(pstate, raw, EXPR_KIND_WHERE);
	if (required_type == BOOLOID)
		expression = coerce_to_boolean(pstate, expression, origin->parameter);
	else if (exprType(expression) == UNKNOWNOID)
		expression = coerce_type(pstate, expression, UNKNOWNOID, TEXTOID, -1,
								 COERCION_IMPLICIT, COERCE_IMPLICIT_CAST, -1);
	assign_expr_collations(pstate, expression);
	error_context_stack = context.callback.previous;

	if (pstate->p_hasSubLinks)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("parameter \"%s\" of flow \"%s\" has a subquery",
						origin->parameter, origin->flow_name),
				 errdetail("It is an expression over one row that the query gives."),
				 errhint("Join in the query what the expression needs.")));
	if (contain_volatile_functions(expression))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
				 errmsg("%sparameter \"%s\" of flow \"%s\" calls a volatile function",
						origin->is_predicate ? "REPLACE_WHERE_NOT_DETERMINISTIC: " : "",
						origin->parameter, origin->flow_name),
				 errdetail("Its value for a row could differ from run to run."),
				 errhint("Use columns, and functions that are immutable or stable.")));
	return expression;
}

/*
 * The position of a name among others, or -1.
 */
int
rf_name_position(const char *name, int nnames, char **names)
{
	for (int i = 0; i < nnames; i++)
	{
		if (strcmp(names[i], name) == 0)
			return i;
	}
	return -1;
}

/*
 * The name that a mistyped one most likely stands for, or NULL.
 */
char *
rf_closest_name(const char *name, int nnames, char **names)
{
	int			length = strlen(name);
	int			best_distance = length / 2 + 1;
	char	   *best = NULL;

	/* no column has so long a name */
	if (length >= NAMEDATALEN)
		return NULL;
	for (int i = 0; i < nnames; i++)
	{
		int			distance;

		if (pg_strcasecmp(name, names[i]) == 0)
			return names[i];
		distance = varstr_levenshtein_less_equal(name, length, names[i], strlen(names[i]),
												 1, 1, 1, best_distance - 1, true);
		if (distance < best_distance)
		{
			best_distance = distance;
			best = names[i];
		}
	}
	return best;
}
