/*-------------------------------------------------------------------------
 *
 * source_trace.c
 *	  What a row of a source table tells of the output rows that it can make.
 *
 * Where a query groups by date_trunc('day', ts), a row of the table can have a
 * part only in output rows of its own day.  So when the row changes, all output
 * rows of other days stay what they are, and need not be computed again.
 *
 * For each place where the query reads a table, expressions over the query's
 * output are followed down to it, as push_down.c follows conditions: an
 * expression that a level does not hold back is taken into it, and on into the
 * relation whose columns it uses.  If it gets down to a table, then a row of
 * the table for which it has some value can make only output rows for which it
 * has the same value.
 *
 * An expression may also get to a table through an equality.  With
 * "facts JOIN labels ON facts.id = labels.id" the output's facts.id is the id of
 * the label, too.  That holds in the ON clause of an outer join as well, for the
 * table that NULLs can stand for: its row has a part only in output rows for which
 * the equality is true, and these are the same rows that it turns from NULLs.  But
 * what is equal need not be the same: 'A' and 'a' are one citext and two texts.  So
 * groups have to be told from each other as the equality tells its values.
 *
 * Tables in subqueries of expressions, such as IN and EXISTS, and in recursive
 * queries are not followed: nothing is known of them.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_class.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "equal_values.h"
#include "query_level.h"
#include "source_trace.h"

/* What the search is about, and what it has found. */
typedef struct RfTrace
{
	int			nexpressions;
	TupleDesc	columns;		/* the expressions are values of these */
	List	   *occurrences;	/* of RfOccurrence */
} RfTrace;

static void trace_output(RfTrace *trace, RfLevel *level, Node **expressions);

static void
add_occurrence(RfTrace *trace, Oid relid, Node **expressions)
{
	RfOccurrence *occurrence = palloc(sizeof(RfOccurrence));

	occurrence->relid = relid;
	occurrence->traces = expressions;
	trace->occurrences = lappend(trace->occurrences, occurrence);
}

static Node **
no_expressions(const RfTrace *trace)
{
	return palloc0(trace->nexpressions * sizeof(Node *));
}

/* Tables of which nothing is known: of a query, and of all that is in it. */
static bool
lose_tables(Node *node, void *context)
{
	RfTrace    *trace = context;

	if (node == NULL)
		return false;
	if (IsA(node, RangeTblEntry))
	{
		RangeTblEntry *rte = (RangeTblEntry *) node;

		if (rte->rtekind == RTE_RELATION && rte->relkind != RELKIND_VIEW)
			add_occurrence(trace, rte->relid, no_expressions(trace));
		return false;
	}
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, lose_tables, context,
								 QTW_EXAMINE_RTES_BEFORE);
	return expression_tree_walker(node, lose_tables, context);
}

static bool
lose_subqueries(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, SubLink))
		(void) lose_tables(((SubLink *) node)->subselect, context);
	/* those in FROM are followed */
	if (IsA(node, Query))
		return false;
	return expression_tree_walker(node, lose_subqueries, context);
}

/* Tables in subqueries of a level's expressions. */
static void
lose_tables_in_expressions(RfTrace *trace, Query *query)
{
	(void) query_tree_walker(query, lose_subqueries, trace,
							 QTW_IGNORE_RT_SUBQUERIES | QTW_IGNORE_CTE_SUBQUERIES);
}

/* A column without what changes nothing but its type's name; or NULL. */
static Var *
plain_column(Node *expression)
{
	while (IsA(expression, RelabelType) &&
		   exprCollation(expression) ==
		   exprCollation((Node *) ((RelabelType *) expression)->arg))
		expression = (Node *) ((RelabelType *) expression)->arg;
	return IsA(expression, Var) ? (Var *) expression : NULL;
}

/* Whether values that a comparison takes for equal are one in a group column. */
static bool
keeps_group(OpExpr *comparison, Form_pg_attribute group)
{
	Oid			equality = lookup_type_cache(group->atttypid, TYPECACHE_EQ_OPR)->eq_opr;

	return rf_equals_are_same(comparison->opno, comparison->inputcollid) ||
		(comparison->opno == equality &&
		 (comparison->inputcollid == group->attcollation || !OidIsValid(group->attcollation)));
}

/*
 * The column of a table that some conditions say to equal another column, from which
 * a group's is taken; or NULL.
 */
static Node *
equal_column(const RfLevel *level, Node *quals, Var *column, Form_pg_attribute group, Index table)
{
	ListCell   *cell;

	quals = rf_level_flatten(level->query, copyObject(quals));
	foreach(cell, make_ands_implicit((Expr *) quals))
	{
		OpExpr	   *comparison = lfirst(cell);

		if (!rf_condition_is_equality((Node *) comparison) || !keeps_group(comparison, group))
			continue;
		for (int side = 0; side < 2; side++)
		{
			Var		   *one = plain_column(list_nth(comparison->args, side));
			Var		   *other = plain_column(list_nth(comparison->args, 1 - side));

			if (one != NULL && other != NULL && one->varlevelsup == 0 &&
				other->varlevelsup == 0 && one->varno == column->varno &&
				one->varattno == column->varattno && other->varno == (int) table &&
				other->varattno > 0 && other->vartype == column->vartype &&
				other->varcollid == column->varcollid)
				return (Node *) other;
		}
	}
	return NULL;
}

static bool
is_below(Node *node, Index table)
{
	ListCell   *cell;

	if (IsA(node, RangeTblRef))
		return ((RangeTblRef *) node)->rtindex == (int) table;
	if (IsA(node, JoinExpr))
		return is_below(((JoinExpr *) node)->larg, table) ||
			is_below(((JoinExpr *) node)->rarg, table);
	foreach(cell, ((FromExpr *) node)->fromlist)
	{
		if (is_below(lfirst(cell), table))
			return true;
	}
	return false;
}

/*
 * Whether the conditions of a join are true of all rows that a table has a part
 * in: one that NULLs do not stand for in this join, or one that they do, in the
 * place of exactly these rows.
 */
static bool
join_holds_for(const JoinExpr *join, Index table)
{
	switch (join->jointype)
	{
		case JOIN_INNER:
			return true;
		case JOIN_LEFT:
			return is_below(join->rarg, table);
		case JOIN_RIGHT:
			return is_below(join->larg, table);
		default:
			return false;
	}
}

static Node *
find_equal_column(const RfLevel *level, Node *node, Var *column, Form_pg_attribute group,
				  Index table)
{
	Node	   *found = NULL;
	ListCell   *cell;

	if (IsA(node, RangeTblRef))
		return NULL;
	if (IsA(node, JoinExpr))
	{
		JoinExpr   *join = (JoinExpr *) node;

		if (join_holds_for(join, table))
			found = equal_column(level, join->quals, column, group, table);
		if (found == NULL)
			found = find_equal_column(level, join->larg, column, group, table);
		return found != NULL ? found : find_equal_column(level, join->rarg, column, group, table);
	}
	found = equal_column(level, ((FromExpr *) node)->quals, column, group, table);
	foreach(cell, ((FromExpr *) node)->fromlist)
	{
		if (found == NULL)
			found = find_equal_column(level, lfirst(cell), column, group, table);
	}
	return found;
}

/*
 * An expression inside a level as one over a single relation of it; NULL if it
 * cannot be that.
 */
static Node *
on_relation(const RfLevel *level, Node *expression, Form_pg_attribute group, Index table)
{
	Bitmapset  *tables;
	Var		   *column;
	Node	   *found;

	if (expression == NULL || IsA(expression, Const))
		return expression;
	tables = rf_condition_tables(expression);
	if (bms_membership(tables) != BMS_SINGLETON ||
		rf_level_is_nullable(level, bms_singleton_member(tables)))
		return NULL;
	if (bms_is_member(table, tables))
		return rf_condition_on_output(expression, table, 0);
	column = plain_column(expression);
	if (column == NULL)
		return NULL;
	found = find_equal_column(level, (Node *) level->query->jointree, column, group, table);
	return found == NULL ? NULL : rf_condition_on_output(found, table, 0);
}

static bool
uses_whole_row(Node *expression)
{
	ListCell   *cell;

	foreach(cell, rf_condition_columns(expression))
	{
		if (lfirst_node(Var, cell)->varattno <= 0)
			return true;
	}
	return false;
}

static Node **
all_on_relation(const RfTrace *trace, const RfLevel *level, Node **expressions, Index table)
{
	Node	  **result = no_expressions(trace);

	for (int i = 0; i < trace->nexpressions; i++)
	{
		Form_pg_attribute column = TupleDescAttr(trace->columns, i);
		Node	   *expression = on_relation(level, expressions[i], column, table);

		if (expression != NULL && !uses_whole_row(expression))
			result[i] = expression;
	}
	return result;
}

/* One relation of a level; the expressions are inside the level. */
static void
trace_relation(RfTrace *trace, RfLevel *level, Node **expressions, Index table)
{
	RangeTblEntry *rte = rt_fetch(table, level->query->rtable);
	RfLevel		inner;

	if (rte->rtekind == RTE_RELATION && rte->relkind != RELKIND_VIEW)
		add_occurrence(trace, rte->relid, all_on_relation(trace, level, expressions, table));
	else if (rte->rtekind == RTE_CTE && !rf_level_enter(level, table, &inner))
		(void) lose_tables((Node *) rf_level_with_query(level, table), trace);
	else if (rf_level_enter(level, table, &inner))
		trace_output(trace, &inner, all_on_relation(trace, level, expressions, table));
}

static Node **
all_inside(const RfTrace *trace, RfLevel *level, Node **expressions)
{
	Node	  **result = no_expressions(trace);

	for (int i = 0; i < trace->nexpressions; i++)
	{
		Node	   *inside;

		if (expressions[i] == NULL)
			continue;
		inside = rf_level_condition(level, expressions[i]);
		if (rf_level_is_alone(level, inside))
			result[i] = inside;
	}
	return result;
}

static void
trace_inside(RfTrace *trace, RfLevel *level, Node **expressions)
{
	for (Index table = 1; (int) table <= list_length(level->query->rtable); table++)
		trace_relation(trace, level, expressions, table);
	lose_tables_in_expressions(trace, level->query);
}

/* A query in FROM; the expressions are over its output. */
static void
trace_output(RfTrace *trace, RfLevel *level, Node **expressions)
{
	Node	  **kept = no_expressions(trace);
	ListCell   *cell;

	check_stack_depth();
	for (int i = 0; i < trace->nexpressions; i++)
	{
		if (expressions[i] != NULL && !rf_level_holds_back(level, expressions[i]))
			kept[i] = expressions[i];
	}
	if (level->query->setOperations == NULL)
	{
		trace_inside(trace, level, all_inside(trace, level, kept));
		return;
	}
	foreach(cell, rf_level_arms(level))
		trace_output(trace, lfirst(cell), kept);
}

/* A WITH query that is used in subqueries of expressions is not followed there. */
static bool
uses_with_query(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, RangeTblEntry))
		return ((RangeTblEntry *) node)->rtekind == RTE_CTE;
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, uses_with_query, context,
								 QTW_EXAMINE_RTES_BEFORE);
	return expression_tree_walker(node, uses_with_query, context);
}

static bool
has_hidden_with_query(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, SubLink) && uses_with_query(((SubLink *) node)->subselect, context))
		return true;
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, has_hidden_with_query, context, 0);
	return expression_tree_walker(node, has_hidden_with_query, context);
}

/*
 * The tables that a query reads, each place apart, as RfOccurrence.  The query
 * is a rewritten one, SELECT ... FROM (subquery) q, and the expressions, for these
 * columns, are over columns of q.
 */
List *
rf_source_trace(Query *query, TupleDesc columns, Node **expressions)
{
	RfTrace		trace = {columns->natts, columns, NIL};
	RfLevel		level = {query, NULL, "finished rows"};

	if (has_hidden_with_query((Node *) query, NULL))
		(void) lose_tables((Node *) query, &trace);
	else
		trace_inside(&trace, &level, expressions);
	return trace.occurrences;
}
