/*-------------------------------------------------------------------------
 *
 * query_level.c
 *	  Conditions on the rows of a query, taken into the query.
 *
 * A level is one SELECT, with those that it is a part of.  A condition on a
 * query's output has the query's output columns as columns of relation 1.  Taken
 * into the level (rf_level_condition), it has in their place what the level
 * computes them from: columns of the relations in its FROM clause.  From there
 * it can be taken on to one of these relations (rf_condition_on_output), and
 * into it when that is a subquery, a view or a WITH query (rf_level_enter).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_class.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "parser/parse_clause.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteManip.h"
#include "storage/lockdefs.h"
#include "utils/lsyscache.h"
#include "utils/ruleutils.h"

#include "compat.h"
#include "query_level.h"

/* The relation that stands for a query's output. */
#define OUTPUT 1

static bool
collect_columns(Node *node, void *context)
{
	List	  **columns = context;

	if (node == NULL || IsA(node, Query))
		return false;
	if (IsA(node, Var))
	{
		if (((Var *) node)->varlevelsup == 0)
			*columns = list_append_unique(*columns, node);
		return false;
	}
	return expression_tree_walker(node, collect_columns, context);
}

/*
 * The columns that a condition uses, as Vars, each once; not those in subqueries
 * of it.
 */
List *
rf_condition_columns(Node *condition)
{
	List	   *columns = NIL;

	(void) collect_columns(condition, &columns);
	return columns;
}

typedef struct RfTables
{
	Bitmapset  *tables;
	int			levels_up;
} RfTables;

static bool
collect_tables(Node *node, void *context)
{
	RfTables   *tables = context;
	bool		result;

	if (node == NULL)
		return false;
	if (IsA(node, Var))
	{
		if ((int) ((Var *) node)->varlevelsup == tables->levels_up)
			tables->tables = bms_add_member(tables->tables, ((Var *) node)->varno);
		return false;
	}
	if (!IsA(node, Query))
		return expression_tree_walker(node, collect_tables, context);
	tables->levels_up++;
	result = query_tree_walker((Query *) node, collect_tables, context, 0);
	tables->levels_up--;
	return result;
}

/*
 * The relations whose columns a condition uses, also in subqueries of it.
 */
Bitmapset *
rf_condition_tables(Node *condition)
{
	RfTables	tables = {NULL, 0};

	(void) collect_tables(condition, &tables);
	return tables.tables;
}

/* Added to a Var's level, so that it is taken for one of another query. */
#define HIDDEN 1000000

typedef struct RfHiding
{
	Query	   *query;
	Index		levels_up;
} RfHiding;

/* Hide rows of joins as a whole that NULL can stand for. */
static bool
hide_rows(Node *node, void *context)
{
	RfHiding   *hiding = context;
	bool		result;

	if (node == NULL)
		return false;
	if (IsA(node, Var))
	{
		Var		   *var = (Var *) node;

		if (var->varlevelsup == hiding->levels_up && var->varattno == InvalidAttrNumber &&
			rf_var_is_nulled(var) &&
			rt_fetch(var->varno, hiding->query->rtable)->rtekind == RTE_JOIN)
			var->varlevelsup += HIDDEN;
		return false;
	}
	if (!IsA(node, Query))
		return expression_tree_walker(node, hide_rows, context);
	hiding->levels_up++;
	result = query_tree_walker((Query *) node, hide_rows, context, 0);
	hiding->levels_up--;
	return result;
}

static bool
show_rows(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Var) && ((Var *) node)->varlevelsup >= HIDDEN)
		((Var *) node)->varlevelsup -= HIDDEN;
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, show_rows, context, 0);
	return expression_tree_walker(node, show_rows, context);
}

/*
 * An expression over the tables of a query, whatever joins and groups lie between.
 * The row of a join as a whole stays what it is where NULL can stand for it: then
 * it is not the row of its columns.  The expression is changed.
 */
Node *
rf_level_flatten(Query *query, Node *node)
{
	RfHiding	hiding = {query, 0};

	(void) hide_rows(node, &hiding);
	node = rf_flatten_joins(query, node);
	(void) show_rows(node, NULL);
	return node;
}

/* What an output column is computed from. */
static Node *
output_expression(const RfLevel *level, AttrNumber column)
{
	TargetEntry *target = list_nth_node(TargetEntry, level->query->targetList, column - 1);

	return rf_level_flatten(level->query, copyObject((Node *) target->expr));
}

static Node *
replace_output(Node *node, void *context)
{
	if (node == NULL || IsA(node, Query))
		return node;
	if (IsA(node, Var) && ((Var *) node)->varlevelsup == 0)
		return output_expression(context, ((Var *) node)->varattno);
	return expression_tree_mutator(node, replace_output, context);
}

/*
 * Take a condition on a level's output into the level.
 */
Node *
rf_level_condition(const RfLevel *level, Node *condition)
{
	return replace_output(condition, unconstify(RfLevel *, level));
}

static Node *
replace_columns(Node *node, void *context)
{
	if (node == NULL || IsA(node, Query))
		return node;
	if (IsA(node, Var))
		return copyObject((Node *) context);
	return expression_tree_mutator(node, replace_columns, context);
}

/*
 * A condition in which a value stands for each column.
 */
Node *
rf_condition_with(Node *condition, Node *value)
{
	return replace_columns(condition, value);
}

typedef struct RfOnOutput
{
	Index		table;
	AttrNumber	column;
} RfOnOutput;

static Node *
replace_table(Node *node, void *context)
{
	RfOnOutput *on = context;

	if (node == NULL || IsA(node, Query))
		return node;
	if (IsA(node, Var))
	{
		Var		   *var = (Var *) node;

		if (var->varlevelsup == 0 && var->varno == (int) on->table &&
			(on->column == 0 || on->column == var->varattno))
			return (Node *) makeVar(OUTPUT, var->varattno, var->vartype, var->vartypmod,
									var->varcollid, 0);
		return (Node *) makeNullConst(var->vartype, var->vartypmod, var->varcollid);
	}
	return expression_tree_mutator(node, replace_table, context);
}

/*
 * Take a condition inside a level on to one of the level's relations, or one
 * column of it.  Other columns, about which nothing is known there, become NULL.
 */
Node *
rf_condition_on_output(Node *condition, Index table, AttrNumber column)
{
	RfOnOutput	on = {table, column};

	return replace_table(condition, &on);
}

/* Whether a column is listed in a clause such as DISTINCT or PARTITION BY. */
static bool
is_listed(TargetEntry *target, List *clause)
{
	return targetIsInSortList(target, InvalidOid, clause);
}

/* Whether filtering by an output column before it is computed is not the same. */
static bool
column_holds_back(const RfLevel *level, AttrNumber column)
{
	Query	   *query = level->query;
	TargetEntry *target = list_nth_node(TargetEntry, query->targetList, column - 1);
	Node	   *expression = output_expression(level, column);
	ListCell   *cell;

	if (expression_returns_set(expression) || contain_volatile_functions(expression) ||
		contain_agg_clause(expression) || contain_window_function(expression))
		return true;
	if (query->hasDistinctOn && !is_listed(target, query->distinctClause))
		return true;
	foreach(cell, query->windowClause)
	{
		if (query->hasWindowFuncs &&
			!is_listed(target, lfirst_node(WindowClause, cell)->partitionClause))
			return true;
	}
	return false;
}

/* Whether no operation but UNION and INTERSECT, and no conversion, touches a column. */
static bool
is_carried_through(const RfLevel *level, Node *node, AttrNumber column, Oid type)
{
	SetOperationStmt *operation = (SetOperationStmt *) node;

	if (IsA(node, RangeTblRef))
	{
		Query	   *arm = rt_fetch(((RangeTblRef *) node)->rtindex,
								   level->query->rtable)->subquery;
		TargetEntry *target = list_nth_node(TargetEntry, arm->targetList, column - 1);

		return exprType((Node *) target->expr) == type;
	}
	return operation->op != SETOP_EXCEPT &&
		list_nth_oid(operation->colTypes, column - 1) == type &&
		is_carried_through(level, operation->larg, column, type) &&
		is_carried_through(level, operation->rarg, column, type);
}

/*
 * Whether a condition on a level's output cannot be taken into the level: the
 * level counts rows (LIMIT), or computes from several rows what the condition
 * looks at.  The server's planner holds such a condition back, too.
 */
bool
rf_level_holds_back(const RfLevel *level, Node *condition)
{
	Query	   *query = level->query;
	ListCell   *cell;

	if (query->commandType != CMD_SELECT || query->limitOffset != NULL ||
		query->limitCount != NULL || query->groupingSets != NIL ||
		(query->groupClause == NIL && (query->hasAggs || query->havingQual != NULL)))
		return true;
	foreach(cell, rf_condition_columns(condition))
	{
		Var		   *var = lfirst(cell);

		if (query->setOperations != NULL ?
			!is_carried_through(level, query->setOperations, var->varattno, var->vartype) :
			column_holds_back(level, var->varattno))
			return true;
	}
	return false;
}

static List *
collect_arms(RfLevel *level, Node *node, List *arms)
{
	if (IsA(node, RangeTblRef))
	{
		RfLevel    *arm = palloc(sizeof(RfLevel));

		arm->query = rt_fetch(((RangeTblRef *) node)->rtindex, level->query->rtable)->subquery;
		arm->outer = level;
		arm->name = level->name;
		return lappend(arms, arm);
	}
	arms = collect_arms(level, ((SetOperationStmt *) node)->larg, arms);
	return collect_arms(level, ((SetOperationStmt *) node)->rarg, arms);
}

/*
 * The queries that a UNION or INTERSECT puts together, as levels.
 */
List *
rf_level_arms(RfLevel *level)
{
	return collect_arms(level, level->query->setOperations, NIL);
}

/* The WITH query that a relation stands for, and the level that it belongs to. */
static CommonTableExpr *
find_with_query(const RfLevel *level, RangeTblEntry *rte, const RfLevel **owner)
{
	ListCell   *cell;

	for (Index i = 0; i < rte->ctelevelsup && level != NULL; i++)
		level = level->outer;
	*owner = level;
	foreach(cell, level == NULL ? NIL : level->query->cteList)
	{
		CommonTableExpr *cte = lfirst_node(CommonTableExpr, cell);

		if (strcmp(cte->ctename, rte->ctename) == 0)
			return cte;
	}
	return NULL;
}

static char *
describe(RangeTblEntry *rte)
{
	const char *name = rte->eref->aliasname;

	switch (rte->rtekind)
	{
		case RTE_RELATION:
			name = get_rel_name(rte->relid);
			return psprintf(rte->relkind == RELKIND_MATVIEW ? "materialized view \"%s\"" :
							"table \"%s\"", name);
		case RTE_SUBQUERY:
			if (OidIsValid(rf_view_of_subquery(rte)))
				return psprintf("view \"%s\"", get_rel_name(rf_view_of_subquery(rte)));
			return psprintf("subquery \"%s\"", name);
		case RTE_CTE:
			return psprintf("WITH query \"%s\"", rte->ctename);
		case RTE_FUNCTION:
			return psprintf("function \"%s\"", name);
		default:
			return psprintf("\"%s\"", name);
	}
}

static bool
groups_rows(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Query))
	{
		Query	   *query = (Query *) node;

		if (query->groupClause != NIL || query->groupingSets != NIL ||
			query->distinctClause != NIL || query->setOperations != NULL ||
			query->windowClause != NIL)
			return true;
		return query_tree_walker(query, groups_rows, context, 0);
	}
	return expression_tree_walker(node, groups_rows, context);
}

static bool
has_sublink_over_groups(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, SubLink))
		return groups_rows(((SubLink *) node)->subselect, context);
	return expression_tree_walker(node, has_sublink_over_groups, context);
}

/*
 * Whether the level has conditions with subqueries that group rows.  The server
 * may make joins of them.
 */
bool
rf_level_joins_groups(const RfLevel *level)
{
	return has_sublink_over_groups((Node *) level->query->jointree, NULL);
}

/*
 * Enter a relation of a level that is a query itself; false when it is not, or
 * when it is recursive.
 */
bool
rf_level_enter(RfLevel *level, Index table, RfLevel *inner)
{
	RangeTblEntry *rte = rt_fetch(table, level->query->rtable);
	const RfLevel *owner = level;

	inner->query = rte->rtekind == RTE_SUBQUERY ? rte->subquery : NULL;
	if (rte->rtekind == RTE_CTE)
	{
		CommonTableExpr *cte = find_with_query(level, rte, &owner);

		if (cte != NULL && !cte->cterecursive)
			inner->query = castNode(Query, cte->ctequery);
	}
	inner->outer = unconstify(RfLevel *, owner);
	inner->name = describe(rte);
	return inner->query != NULL;
}

/*
 * The WITH query that a relation of a level stands for.
 */
Query *
rf_level_with_query(const RfLevel *level, Index table)
{
	const RfLevel *owner;
	CommonTableExpr *cte = find_with_query(level, rt_fetch(table, level->query->rtable), &owner);

	if (cte == NULL)
		elog(ERROR, "unexpected reference to a WITH query");
	return castNode(Query, cte->ctequery);
}

/*
 * Whether a WITH query is computed on its own, as it stands: the server takes no
 * condition into it.
 */
bool
rf_level_is_fenced(const RfLevel *level, Index table)
{
	RangeTblEntry *rte = rt_fetch(table, level->query->rtable);
	const RfLevel *owner;
	CommonTableExpr *cte;

	if (rte->rtekind != RTE_CTE)
		return false;
	cte = find_with_query(level, rte, &owner);
	return cte->ctematerialized == CTEMaterializeAlways || cte->cterefcount != 1 ||
		contain_volatile_functions(cte->ctequery);
}

/* Whether a relation is in a part of a join tree, and can be filled up with NULLs there. */
static bool
find_nullable(Node *node, Index table, bool nullable, bool *found)
{
	JoinExpr   *join = (JoinExpr *) node;
	bool		in_left;
	ListCell   *cell;

	if (IsA(node, RangeTblRef))
	{
		*found = ((RangeTblRef *) node)->rtindex == (int) table;
		return nullable;
	}
	if (IsA(node, FromExpr))
	{
		foreach(cell, ((FromExpr *) node)->fromlist)
		{
			bool		result = find_nullable(lfirst(cell), table, nullable, found);

			if (*found)
				return result;
		}
		return false;
	}
	in_left = find_nullable(join->larg, table, nullable || join->jointype == JOIN_RIGHT ||
							join->jointype == JOIN_FULL, found);
	if (*found)
		return in_left;
	return find_nullable(join->rarg, table, nullable || join->jointype == JOIN_LEFT ||
						 join->jointype == JOIN_FULL, found);
}

/*
 * Whether a relation is on the side of an outer join that NULLs can stand for.
 */
bool
rf_level_is_nullable(const RfLevel *level, Index table)
{
	bool		found = false;
	bool		nullable = find_nullable((Node *) level->query->jointree, table, false, &found);

	return !found || nullable;
}

/*
 * Whether the server draws conclusions from a comparison: if a = b and a = 1,
 * then b = 1.
 */
bool
rf_condition_is_equality(Node *condition)
{
	OpExpr	   *comparison = (OpExpr *) condition;

	return IsA(condition, OpExpr) && list_length(comparison->args) == 2 &&
		op_mergejoinable(comparison->opno, exprType(linitial(comparison->args)));
}

static List *
collect_equalities(Node *node, List *equalities)
{
	Node	   *quals = NULL;
	ListCell   *cell;

	if (IsA(node, FromExpr))
	{
		quals = ((FromExpr *) node)->quals;
		foreach(cell, ((FromExpr *) node)->fromlist)
			equalities = collect_equalities(lfirst(cell), equalities);
	}
	else if (IsA(node, JoinExpr))
	{
		quals = ((JoinExpr *) node)->quals;
		equalities = collect_equalities(((JoinExpr *) node)->larg, equalities);
		equalities = collect_equalities(((JoinExpr *) node)->rarg, equalities);
	}
	foreach(cell, make_ands_implicit((Expr *) quals))
	{
		if (rf_condition_is_equality(lfirst(cell)))
			equalities = lappend(equalities, lfirst(cell));
	}
	return equalities;
}

/*
 * The equalities in a level's joins and WHERE clause.
 */
List *
rf_level_equalities(const RfLevel *level)
{
	List	   *equalities = collect_equalities((Node *) level->query->jointree, NIL);

	return (List *) rf_level_flatten(level->query, (Node *) copyObject(equalities));
}

/*
 * Whether a condition looks at nothing but the level's own relations.
 */
bool
rf_level_is_alone(const RfLevel *level, Node *condition)
{
	int			levels_up = 0;

	for (; level != NULL; level = level->outer)
	{
		if (levels_up > 0 && contain_vars_of_level(condition, levels_up))
			return false;
		levels_up++;
	}
	return !checkExprHasSubLink(condition);
}

/*
 * Where a condition inside a level holds: for one relation of it, or for all.
 */
char *
rf_level_place(const RfLevel *level, Node *condition)
{
	int			table;

	if (level->outer == NULL ||
		!bms_get_singleton_member(rf_condition_tables(condition), &table) ||
		rf_level_is_nullable(level, table))
		return pstrdup(level->name);
	return describe(rt_fetch(table, level->query->rtable));
}

/* A relation of which nothing but the names is left. */
static RangeTblEntry *
make_sketch(RangeTblEntry *rte)
{
	RangeTblEntry *sketch = makeNode(RangeTblEntry);

	sketch->rtekind = RTE_VALUES;
	sketch->alias = rte->eref;
	sketch->eref = rte->eref;
	if (rte->rtekind == RTE_RELATION)
	{
		sketch->rtekind = RTE_RELATION;
		sketch->relid = rte->relid;
		sketch->relkind = rte->relkind;
		sketch->rellockmode = AccessShareLock;
		sketch->alias = rte->alias;
	}
	return sketch;
}

/*
 * A condition inside a level as text; columns are qualified if there are several
 * relations.
 */
char *
rf_level_text(const RfLevel *level, Node *condition)
{
	Query	   *sketch = makeNode(Query);
	Bitmapset  *tables = rf_condition_tables(condition);
	int			table = -1;
	char	   *text;

	condition = copyObject(condition);
	while ((table = bms_next_member(tables, table)) >= 0)
	{
		sketch->rtable = lappend(sketch->rtable,
								 make_sketch(rt_fetch(table, level->query->rtable)));
		ChangeVarNodes(condition, table, list_length(sketch->rtable), 0);
	}
	sketch->commandType = CMD_SELECT;
	sketch->jointree = makeFromExpr(NIL, NULL);
	sketch->targetList = list_make1(makeTargetEntry((Expr *) condition, 1, NULL, false));
	text = pg_get_querydef(sketch, true);
	text += strspn(text, " ");
	if (strncmp(text, "SELECT", 6) == 0)
		text += 6;
	return text + strspn(text, " \n");
}
