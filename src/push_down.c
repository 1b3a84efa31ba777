/*-------------------------------------------------------------------------
 *
 * push_down.c
 *	  Filtering the rows of a query as early as that is the same.
 *
 * The query is SELECT ... FROM (subquery) q, and each condition is about q's
 * columns.  Put into its WHERE clause, a condition is taken by the server's
 * planner as deep into the subquery as it can go.  Two things remain to do.
 *
 * First, the planner goes too far.  It takes conditions below GROUP BY,
 * DISTINCT, UNION and PARTITION BY when they look at nothing but the grouped
 * columns, and trusts that all members of a group look the same to them.  Where
 * equal values can be told apart (equal_values.c), some members of a group
 * would be filtered out and others not, and the group would be another one.
 * Such a condition stays out of the WHERE clause (cuts_groups); the caller
 * applies it to finished rows.
 *
 * Second, the planner does not go far enough.  A condition on
 * date_trunc('day', ts) says something of ts (monotone.c) that an index or the
 * bounds of partitions can serve.  So each condition is followed into the
 * subquery to the deepest level that it can be taken to, and the bounds that it
 * implies are added there (follow).  All the way, a row for which the condition
 * is false can make nothing but output rows for which it is false: the levels
 * that would break this, such as LIMIT, hold the condition back
 * (rf_level_holds_back), the nullable sides of outer joins are not entered, and
 * groups go as a whole.  The condition itself is applied further up, so the output
 * rows that come of incomplete groups are filtered out in the end.  WITH queries
 * that the server computes on their own are left as they stand.
 *
 * Where bounds do the work of a comparison, wherever it went, nothing is won by
 * computing date_trunc('day', ts) for each row of the table once more.  Then the
 * comparison is applied to finished rows, too, and not put into the WHERE clause.
 *
 * What ended where is told to people.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "optimizer/tlist.h"
#include "parser/parsetree.h"

#include "equal_values.h"
#include "monotone.h"
#include "push_down.h"
#include "query_level.h"

/* What becomes of a condition on its way into a query. */
typedef struct RfTrip
{
	List	   *places;			/* of RfPushed: where it ended itself */
	List	   *bounds;			/* of RfPushed: what it implied there */
	bool		unbounded;		/* it implied nothing at one of its ends */
} RfTrip;

static bool cuts_groups(RfLevel *level, Node *condition);
static bool follow(RfLevel *level, Node *condition, RfTrip *trip);

/* Whether a condition tells apart what a clause such as DISTINCT takes for equal. */
static bool
cuts_listed(const RfLevel *level, List *clause, Node *condition)
{
	ListCell   *cell;

	foreach(cell, rf_condition_columns(condition))
	{
		Var		   *var = lfirst(cell);
		TargetEntry *target = list_nth_node(TargetEntry, level->query->targetList,
											var->varattno - 1);
		ListCell   *other;

		foreach(other, clause)
		{
			SortGroupClause *item = lfirst_node(SortGroupClause, other);

			if (item->tleSortGroupRef == target->ressortgroupref &&
				rf_tells_equals_apart(condition, (Node *) var, item->eqop, var->varcollid))
				return true;
		}
	}
	return false;
}

/* The same for GROUP BY; the condition has been taken into the level. */
static bool
cuts_grouped(const RfLevel *level, Node *condition)
{
	Query	   *query = level->query;
	ListCell   *cell;

	foreach(cell, query->groupClause)
	{
		SortGroupClause *item = lfirst_node(SortGroupClause, cell);
		Node	   *value = get_sortgroupclause_expr(item, query->targetList);

		value = rf_level_flatten(query, copyObject(value));
		if (rf_tells_equals_apart(condition, value, item->eqop, exprCollation(value)))
			return true;
	}
	return false;
}

/* The same for UNION and INTERSECT, which compare column by column. */
static bool
cuts_united(Node *node, Node *condition)
{
	SetOperationStmt *operation = (SetOperationStmt *) node;
	ListCell   *cell;

	if (IsA(node, RangeTblRef))
		return false;
	foreach(cell, operation->groupClauses == NIL ? NIL : rf_condition_columns(condition))
	{
		Var		   *var = lfirst(cell);
		int			position = var->varattno - 1;
		SortGroupClause *item = list_nth_node(SortGroupClause, operation->groupClauses,
											  position);

		if (rf_tells_equals_apart(condition, (Node *) var, item->eqop,
								  list_nth_oid(operation->colCollations, position)))
			return true;
	}
	return cuts_united(operation->larg, condition) || cuts_united(operation->rarg, condition);
}

static bool
uses_one_table(Node *condition)
{
	return bms_membership(rf_condition_tables(condition)) == BMS_SINGLETON;
}

/*
 * Whether the server could take a condition inside a level on to a relation of
 * the level, and cut groups there.  From a condition on several relations it may
 * take a part, so that is asked for each column alone.
 */
static bool
cuts_groups_below(RfLevel *level, Node *condition)
{
	bool		as_a_whole = uses_one_table(condition);
	ListCell   *cell;

	foreach(cell, rf_condition_columns(condition))
	{
		Var		   *var = lfirst(cell);
		RfLevel		inner;

		/* rows as a whole are not looked into */
		if (rt_fetch(var->varno, level->query->rtable)->rtekind == RTE_JOIN)
			return true;
		if (!rf_level_enter(level, var->varno, &inner))
			continue;
		if (var->varattno <= 0 ||
			cuts_groups(&inner, rf_condition_on_output(condition, var->varno,
													   as_a_whole ? 0 : var->varattno)))
			return true;
		if (as_a_whole)
			break;
	}
	return false;
}

/*
 * The server concludes from a = 1 and a = b that b = 1, and takes that where b
 * comes from.  So an equality is looked at as if it were said of both sides of
 * every other one.  Those that the server makes of subqueries in conditions are
 * not looked into.
 */
static bool
cuts_groups_by_conclusion(RfLevel *level, Node *condition)
{
	ListCell   *cell;

	if (!rf_condition_is_equality(condition))
		return false;
	if (rf_level_joins_groups(level))
		return true;
	foreach(cell, rf_level_equalities(level))
	{
		for (int side = 0; side < 2; side++)
		{
			OpExpr	   *conclusion = copyObject(lfirst_node(OpExpr, cell));
			ListCell   *other = list_nth_cell(conclusion->args, 1 - side);

			lfirst(other) = makeNullConst(exprType(lfirst(other)), -1,
										  exprCollation(lfirst(other)));
			if (cuts_groups_below(level, (Node *) conclusion))
				return true;
		}
	}
	return false;
}

/*
 * Whether the server could take a condition on a level's output to a place where
 * it filters some members of a group and not others.
 */
static bool
cuts_groups(RfLevel *level, Node *condition)
{
	Query	   *query = level->query;
	Node	   *inside;
	ListCell   *cell;

	check_stack_depth();
	if (rf_level_holds_back(level, condition))
		return false;
	if (query->setOperations != NULL)
	{
		if (cuts_united(query->setOperations, condition))
			return true;
		foreach(cell, rf_level_arms(level))
		{
			if (cuts_groups(lfirst(cell), condition))
				return true;
		}
		return false;
	}
	if (cuts_listed(level, query->distinctClause, condition))
		return true;
	foreach(cell, query->windowClause)
	{
		if (cuts_listed(level, lfirst_node(WindowClause, cell)->partitionClause, condition))
			return true;
	}
	inside = rf_level_condition(level, condition);
	return cuts_grouped(level, inside) || cuts_groups_below(level, inside) ||
		cuts_groups_by_conclusion(level, inside);
}

static List *
report(List *reports, const RfLevel *level, Node *condition)
{
	RfPushed   *entry = palloc(sizeof(RfPushed));

	entry->place = rf_level_place(level, condition);
	entry->condition = rf_level_text(level, condition);
	return lappend(reports, entry);
}

static void
add_condition(const RfLevel *level, Node *condition)
{
	FromExpr   *from = level->query->jointree;

	from->quals = make_and_qual(from->quals, copyObject(condition));
}

/*
 * Take a condition on one relation of a level into it; false when it has to stay
 * in the level.
 */
static bool
follow_below(RfLevel *level, Node *condition, RfTrip *trip)
{
	Index		table = linitial_node(Var, rf_condition_columns(condition))->varno;
	RangeTblEntry *rte = rt_fetch(table, level->query->rtable);
	RfLevel		inner;
	ListCell   *cell;

	if (rf_level_is_nullable(level, table) || !rf_level_enter(level, table, &inner) ||
		rf_level_is_fenced(level, table))
		return false;
	if (level->outer == NULL)
		inner.name = "query";
	foreach(cell, rf_condition_columns(condition))
	{
		if (lfirst_node(Var, cell)->varattno <= 0)
			return false;
	}
	if (rte->security_barrier && contain_volatile_functions((Node *) rte->subquery))
		return false;
	return follow(&inner, rf_condition_on_output(condition, table, 0), trip);
}

/* Take a bound, which is a condition on a column, as far as it goes. */
static void
settle_bound(RfLevel *level, Node *bound, RfTrip *trip)
{
	RfTrip		trip_of_bound = {0};

	add_condition(level, bound);
	if (follow_below(level, bound, &trip_of_bound))
		trip->bounds = list_concat(trip->bounds, trip_of_bound.places);
	else
		trip->bounds = report(trip->bounds, level, bound);
}

/* Add to a level the bounds that a condition inside it implies, if there are any. */
static bool
add_bounds(RfLevel *level, Node *condition, RfTrip *trip)
{
	bool		found = false;
	ListCell   *cell;

	foreach(cell, rf_condition_columns(condition))
	{
		Var		   *var = lfirst(cell);
		List	   *bounds;

		if (var->varattno <= 0 || rf_level_is_nullable(level, var->varno))
			continue;
		bounds = rf_monotone_bounds(condition, var);
		if (bounds == NIL)
			continue;
		settle_bound(level, (Node *) make_ands_explicit(bounds), trip);
		found = true;
	}
	return found;
}

/* Take a condition inside a level as far as it goes. */
static void
settle(RfLevel *level, Node *condition, RfTrip *trip)
{
	if (uses_one_table(condition) && follow_below(level, condition, trip))
		return;
	trip->places = report(trip->places, level, condition);
	trip->unbounded |= !add_bounds(level, condition, trip);
}

/*
 * Take a condition on a level's output into it; false when that is not possible.
 */
static bool
follow(RfLevel *level, Node *condition, RfTrip *trip)
{
	bool		followed = false;
	Node	   *inside;
	ListCell   *cell;

	check_stack_depth();
	if (rf_level_holds_back(level, condition))
		return false;
	if (level->query->setOperations != NULL)
	{
		foreach(cell, rf_level_arms(level))
			followed |= follow(lfirst(cell), condition, trip);
		return followed;
	}
	inside = rf_level_condition(level, condition);
	if (!rf_level_is_alone(level, inside))
		return false;
	settle(level, inside, trip);
	return true;
}

/* Conditions of which none is two, joined by AND. */
static List *
flatten(List *conditions)
{
	List	   *flat = NIL;
	ListCell   *cell;

	foreach(cell, conditions)
	{
		if (is_andclause(lfirst(cell)))
			flat = list_concat(flat, flatten(((BoolExpr *) lfirst(cell))->args));
		else
			flat = lappend(flat, lfirst(cell));
	}
	return flat;
}

/*
 * Whether the bounds that a condition has left behind filter as well as it would
 * itself.  Those of a list of values may be far apart.
 */
static bool
is_replaced(Node *condition, const RfTrip *trip)
{
	return IsA(condition, OpExpr) && trip->bounds != NIL && !trip->unbounded;
}

/* Push one condition; false when it has to be applied to finished rows. */
static bool
push(RfLevel *level, Node *condition, List **pushed)
{
	RfTrip		trip = {0};
	bool		replaced;

	if (cuts_groups_below(level, condition))
	{
		*pushed = report(*pushed, level, condition);
		return false;
	}
	settle(level, condition, &trip);
	replaced = is_replaced(condition, &trip);
	if (replaced)
		*pushed = report(*pushed, level, condition);
	else
	{
		add_condition(level, condition);
		*pushed = list_concat(*pushed, trip.places);
	}
	*pushed = list_concat(*pushed, trip.bounds);
	return !replaced;
}

/*
 * Whether a condition on a query's output, taken into it, can leave out some rows
 * of a group and not others.
 */
bool
rf_push_down_cuts_groups(Query *query, Node *condition)
{
	RfLevel		level = {query, NULL, "finished rows"};

	return cuts_groups_below(&level, condition);
}

/*
 * Filter the rows of a query by conditions on its output.  The query is a
 * rewritten one, SELECT ... FROM (subquery) q; the conditions are over q's
 * columns, without subqueries and volatile functions, and with constants for
 * what does not depend on a row.  Those that the caller has to apply to finished
 * rows end in residual, of Node; what is filtered where in pushed, of RfPushed.
 */
void
rf_push_down(Query *query, List *conjuncts, List **residual, List **pushed)
{
	RfLevel		level = {query, NULL, "finished rows"};
	ListCell   *cell;

	*residual = NIL;
	*pushed = NIL;
	foreach(cell, flatten(conjuncts))
	{
		Node	   *condition = lfirst(cell);

		if (!push(&level, condition, pushed))
			*residual = lappend(*residual, condition);
	}
}
