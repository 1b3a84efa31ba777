/*-------------------------------------------------------------------------
 *
 * group_join.c
 *	  A query that is to give the rows of some groups alone.
 *
 * The query is SELECT ... FROM (subquery) q, and expressions over q's columns
 * give the group of a row.  The groups are rows that we hand in; joined with
 * them, each row of the query meets at most one, since they are distinct.  So the
 * join can stand at any level at which a condition on the expressions can stand,
 * and it is put as deep as they can be followed together: each level that it
 * passes computes less.
 *
 * What ends at the deepest level is a comparison such as
 *
 *		key = groups.key AND date_trunc('day', ts) = groups.day
 *
 * of which an index on (key, ts) can serve the first half only.  So for an
 * expression that is computed from one column in steps that can be gone back
 * (monotone.c) each group also has the range of that column, and the join says
 *
 *		ts >= groups.low AND ts <= groups.high
 *
 * as well.  If the function gives the group's value for all that lies between the
 * two, these are exactly the rows of the group.  Then the comparison of its value is
 * left out: a function need not be called for each row of a table.  And what the query
 * itself computes of the column by the same expression is the group's value, which is
 * at hand.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/nbtree.h"
#include "access/stratnum.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "compat.h"
#include "discrete_type.h"
#include "group_join.h"
#include "monotone.h"
#include "query_level.h"

#define GROUPS_NAME "replace_flow_groups"

/*
 * Of rows that it knows nothing of the planner expects that a tenth have one value.
 * So it is told of fewer, else it would rather hash the whole table than them.
 */
#define UNKNOWN_ROWS 16

/* A column of the query's tables whose range is known for each group. */
typedef struct RfGroupRange
{
	int			column;			/* of the groups */
	Node	   *expression;		/* what gives the group's value */
	Var		   *var;			/* the one column in it */
	bool		exact;			/* it holds the rows of the group and no
								 * others */
	Datum	   *lows;			/* by group */
	Datum	   *highs;
} RfGroupRange;

struct RfGroupJoin
{
	const RfFlow *flow;
	int			ncolumns;
	const int  *columns;		/* positions among the flow's columns */
	const RfGroupPart *part;
	bool		probing;		/* the query is to look for each group, rather
								 * than to read what there is */
	List	   *ranges;			/* of RfGroupRange */
	List	   *entries;		/* of RangeTblEntry: the groups, where they
								 * are joined */
};

RfGroupJoin *
rf_group_join_begin(const RfFlow *flow, int ncolumns, const int *columns,
					const RfGroupPart *part, bool probing)
{
	RfGroupJoin *join = palloc0(sizeof(RfGroupJoin));

	join->flow = flow;
	join->ncolumns = ncolumns;
	join->columns = columns;
	join->part = part;
	join->probing = probing;
	return join;
}

static bool
is_null(const RfGroupJoin *join, int column)
{
	return (join->part->pattern & (1U << column)) != 0;
}

static RfType
type_of(const RfGroupJoin *join, int column)
{
	return rf_flow_column_type(join->flow, join->columns[column]);
}

/* A column of the joined groups. */
static Expr *
group_column(Index table, int position, RfType type)
{
	return (Expr *) makeVar((int) table, (AttrNumber) (position + 1), type.type, type.typmod,
							type.collation, 0);
}

static Node *
equality(const RfGroupJoin *join, Index table, int column, Node *expression)
{
	RfType		type = type_of(join, column);
	NullTest   *test = makeNode(NullTest);

	if (is_null(join, column))
	{
		test->arg = (Expr *) copyObject(expression);
		test->nulltesttype = IS_NULL;
		test->location = -1;
		return (Node *) test;
	}
	return (Node *) make_opclause(lookup_type_cache(type.type, TYPECACHE_EQ_OPR)->eq_opr, BOOLOID,
								  false, copyObject((Expr *) expression),
								  group_column(table, column, type), InvalidOid, type.collation);
}

/* The range of each group.  Neighbours often have the same. */
static void
compute_bounds(const RfGroupJoin *join, RfGroupRange *range)
{
	Form_pg_attribute column = TupleDescAttr(join->flow->columns, join->columns[range->column]);
	int			ngroups = list_length(join->part->groups);

	range->exact = true;
	range->lows = palloc(ngroups * sizeof(Datum));
	range->highs = palloc(ngroups * sizeof(Datum));
	for (int i = 0; i < ngroups; i++)
	{
		Datum		value = ((RfGroup *) list_nth(join->part->groups, i))->values[range->column];
		Datum		before = i == 0 ? (Datum) 0 :
		((RfGroup *) list_nth(join->part->groups, i - 1))->values[range->column];

		if (i > 0 && datumIsEqual(value, before, column->attbyval, column->attlen))
		{
			range->lows[i] = range->lows[i - 1];
			range->highs[i] = range->highs[i - 1];
			continue;
		}
		CHECK_FOR_INTERRUPTS();
		range->exact &=
			rf_monotone_range(range->expression, range->var,
							  makeConst(column->atttypid, column->atttypmod, column->attcollation,
										column->attlen, value, false, column->attbyval),
							  &range->lows[i], &range->highs[i]);
	}
}

/* The range that goes with an expression, or NULL; noted when it is new. */
static RfGroupRange *
find_range(RfGroupJoin *join, int column, Node *expression)
{
	List	   *vars = rf_condition_columns(expression);
	RfGroupRange *range;
	ListCell   *cell;

	if (is_null(join, column) || IsA(expression, Var) || list_length(vars) != 1 ||
		!rf_monotone_is(expression, linitial_node(Var, vars)))
		return NULL;
	foreach(cell, join->ranges)
	{
		range = lfirst(cell);
		if (range->column == column && equal(range->expression, expression))
			return range;
	}
	range = palloc(sizeof(RfGroupRange));
	range->column = column;
	range->expression = copyObject(expression);
	range->var = linitial_node(Var, vars);
	compute_bounds(join, range);
	join->ranges = lappend(join->ranges, range);
	return range;
}

/* Where a range's bounds are among the columns of the groups. */
static int
position_of(const RfGroupJoin *join, const RfGroupRange *range)
{
	ListCell   *cell;

	foreach(cell, join->ranges)
	{
		if (lfirst(cell) == range)
			return join->ncolumns + 2 * foreach_current_index(cell);
	}
	pg_unreachable();
}

static Node *
bound(const RfGroupRange *range, int strategy, Index table, int position)
{
	RfType		type = {range->var->vartype, -1, InvalidOid};
	Oid			family = lookup_type_cache(type.type, TYPECACHE_BTREE_OPFAMILY)->btree_opf;

	return (Node *) make_opclause(get_opfamily_member(family, type.type, type.type, strategy),
								  BOOLOID, false, (Expr *) copyObject(range->var),
								  group_column(table, position, type), InvalidOid, InvalidOid);
}

/*
 * Whether groups are told from each other well enough by other columns than this
 * one, so that looking for one of them does not find many.
 */
static bool
others_tell(const RfGroupJoin *join, Node **expressions, int column)
{
	int			ngroups = list_length(join->part->groups);
	int			same = 1;

	if (join->probing)
		return true;
	for (int i = 0; i < join->ncolumns; i++)
	{
		if (i != column && !IsA(expressions[i], Var))
			return false;
	}
	for (int i = 1; join->ncolumns > 1 && i < ngroups; i++)
	{
		const RfGroup *group = list_nth(join->part->groups, i);
		const RfGroup *before = list_nth(join->part->groups, i - 1);

		/* a rough measure: how often the column changes among sorted groups */
		same += group->values[column] == before->values[column];
	}
	return join->ncolumns > 1 && same > ngroups / 2;
}

/* The conditions by which a row meets its group, for one column. */
static List *
conditions_for(RfGroupJoin *join, Index table, Node **expressions, int column)
{
	RfGroupRange *range = find_range(join, column, expressions[column]);
	Node	   *is_equal = equality(join, table, column, expressions[column]);
	int			position;
	List	   *bounds;

	if (range == NULL)
		return list_make1(is_equal);
	position = position_of(join, range);
	bounds = list_make2(bound(range, BTGreaterEqualStrategyNumber, table, position),
						bound(range, BTLessEqualStrategyNumber, table, position + 1));
	if (range->exact && others_tell(join, expressions, column))
		return bounds;
	return lcons(is_equal, bounds);
}

typedef struct RfReplacement
{
	Node	   *expression;
	Node	   *by;
} RfReplacement;

static Node *
replace(Node *node, void *context)
{
	RfReplacement *replacement = context;

	if (node == NULL || IsA(node, Query))
		return node;
	if (equal(node, replacement->expression))
		return copyObject(replacement->by);
	return expression_tree_mutator(node, replace, context);
}

/* Where the level computes an expression itself, let it take the group's value. */
static void
take_values(RfGroupJoin *join, Query *query, Index table, Node **expressions)
{
	for (int i = 0; i < join->ncolumns; i++)
	{
		RfReplacement replacement;

		if (find_range(join, i, expressions[i]) == NULL ||
			!rf_discrete_is(type_of(join, i).type))
			continue;
		replacement.expression = expressions[i];
		replacement.by = (Node *) group_column(table, i, type_of(join, i));
		query->targetList = (List *) replace((Node *) query->targetList, &replacement);
		rf_replace_group_expressions(query, replace, &replacement);
	}
}

/* Join a level with the groups; the expressions are inside the level. */
static void
join_here(RfGroupJoin *join, RfLevel *level, Node **expressions)
{
	Query	   *query = level->query;
	RangeTblEntry *entry = makeNode(RangeTblEntry);
	RangeTblRef *reference = makeNode(RangeTblRef);
	List	   *conditions = make_ands_implicit((Expr *) query->jointree->quals);
	Index		table;

	query->rtable = lappend(query->rtable, entry);
	table = list_length(query->rtable);
	for (int i = 0; i < join->ncolumns; i++)
		conditions = list_concat(conditions, conditions_for(join, table, expressions, i));
	take_values(join, query, table, expressions);
	reference->rtindex = (int) table;
	query->jointree->fromlist = lappend(query->jointree->fromlist, reference);
	query->jointree->quals = (Node *) make_ands_explicit(conditions);
	join->entries = lappend(join->entries, entry);
}

/* The one relation that all expressions are about; 0 if there is no such. */
static Index
common_relation(const RfGroupJoin *join, Node **expressions)
{
	Bitmapset  *tables = NULL;
	int			table = 0;

	for (int i = 0; i < join->ncolumns; i++)
	{
		tables = bms_add_members(tables, rf_condition_tables(expressions[i]));
		if (expression_returns_set(expressions[i]))
			return 0;
	}
	return bms_get_singleton_member(tables, &table) ? (Index) table : 0;
}

static bool go_down(RfGroupJoin *join, RfLevel *level, Node **expressions, bool act);

/* Go into a level; the expressions are over its output.  Or see whether one could. */
static bool
enter_output(RfGroupJoin *join, RfLevel *level, Node **expressions, bool act)
{
	Node	  **inside = palloc(join->ncolumns * sizeof(Node *));
	ListCell   *cell;

	check_stack_depth();
	for (int i = 0; i < join->ncolumns; i++)
	{
		if (rf_level_holds_back(level, expressions[i]))
			return false;
	}
	if (level->query->setOperations != NULL)
	{
		foreach(cell, rf_level_arms(level))
		{
			if (!enter_output(join, lfirst(cell), expressions, act))
				return false;
		}
		return true;
	}
	for (int i = 0; i < join->ncolumns; i++)
	{
		inside[i] = rf_level_condition(level, expressions[i]);
		if (!rf_level_is_alone(level, inside[i]))
			return false;
	}
	return go_down(join, level, inside, act);
}

/* From inside a level into the relation that the expressions are about. */
static bool
enter_relation(RfGroupJoin *join, RfLevel *level, Node **expressions, bool act)
{
	Index		table = common_relation(join, expressions);
	Node	  **on_output = palloc(join->ncolumns * sizeof(Node *));
	RangeTblEntry *rte;
	RfLevel		inner;
	ListCell   *cell;

	if (table == 0 || rf_level_is_nullable(level, table) ||
		!rf_level_enter(level, table, &inner) || rf_level_is_fenced(level, table))
		return false;
	rte = rt_fetch(table, level->query->rtable);
	if (rte->security_barrier && contain_volatile_functions((Node *) rte->subquery))
		return false;
	for (int i = 0; i < join->ncolumns; i++)
	{
		foreach(cell, rf_condition_columns(expressions[i]))
		{
			if (lfirst_node(Var, cell)->varattno <= 0)
				return false;
		}
		on_output[i] = rf_condition_on_output(expressions[i], table, 0);
	}
	return enter_output(join, &inner, on_output, act);
}

/* Join as far down from here as it goes; that it goes somewhere is sure. */
static bool
go_down(RfGroupJoin *join, RfLevel *level, Node **expressions, bool act)
{
	if (enter_relation(join, level, expressions, false))
		return !act || enter_relation(join, level, expressions, true);
	if (act)
		join_here(join, level, expressions);
	return true;
}

static TupleDesc
describe(const RfGroupJoin *join)
{
	TupleDesc	desc = CreateTemplateTupleDesc(join->ncolumns + 2 * list_length(join->ranges));
	ListCell   *cell;

	for (int i = 0; i < join->ncolumns; i++)
		TupleDescCopyEntry(desc, (AttrNumber) (i + 1), join->flow->columns,
						   (AttrNumber) (join->columns[i] + 1));
	foreach(cell, join->ranges)
	{
		int			position = join->ncolumns + 2 * foreach_current_index(cell);
		Oid			type = ((RfGroupRange *) lfirst(cell))->var->vartype;

		TupleDescInitEntry(desc, (AttrNumber) (position + 1), NULL, type, -1, 0);
		TupleDescInitEntry(desc, (AttrNumber) (position + 2), NULL, type, -1, 0);
	}
	for (int i = 0; i < desc->natts; i++)
		snprintf(NameStr(TupleDescAttr(desc, i)->attname), NAMEDATALEN, "column_%d", i + 1);
	return desc;
}

/* The groups as a relation of a query, now that their columns are known. */
static void
finish_entry(RangeTblEntry *entry, TupleDesc desc, double nrows)
{
	entry->rtekind = RTE_NAMEDTUPLESTORE;
	entry->enrname = pstrdup(GROUPS_NAME);
	entry->enrtuples = nrows;
	entry->eref = makeAlias(GROUPS_NAME, NIL);
	entry->inFromCl = true;
	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute column = TupleDescAttr(desc, i);

		entry->eref->colnames = lappend(entry->eref->colnames,
										makeString(pstrdup(NameStr(column->attname))));
		entry->coltypes = lappend_oid(entry->coltypes, column->atttypid);
		entry->coltypmods = lappend_int(entry->coltypmods, column->atttypmod);
		entry->colcollations = lappend_oid(entry->colcollations, column->attcollation);
	}
}

static Tuplestorestate *
store_groups(const RfGroupJoin *join, TupleDesc desc)
{
	Tuplestorestate *rows = tuplestore_begin_heap(true, false, work_mem);
	Datum	   *values = palloc(desc->natts * sizeof(Datum));
	bool	   *nulls = palloc0(desc->natts * sizeof(bool));
	ListCell   *cell;
	ListCell   *range_cell;

	foreach(cell, join->part->groups)
	{
		const RfGroup *group = lfirst(cell);

		memcpy(values, group->values, join->ncolumns * sizeof(Datum));
		memcpy(nulls, group->nulls, join->ncolumns * sizeof(bool));
		foreach(range_cell, join->ranges)
		{
			const RfGroupRange *range = lfirst(range_cell);
			int			position = join->ncolumns + 2 * foreach_current_index(range_cell);

			values[position] = range->lows[foreach_current_index(cell)];
			values[position + 1] = range->highs[foreach_current_index(cell)];
		}
		tuplestore_putvalues(rows, desc, values, nulls);
	}
	return rows;
}

/*
 * Let a query give the rows of the groups alone; expressions over its relation
 * 1, by column of the groups, give the group of a row.  Gives the groups as rows
 * that the query is to be handed.
 */
RfGivenRows *
rf_group_join_query(RfGroupJoin *join, Query *query, Node **expressions)
{
	RfLevel		level = {query, NULL, "finished rows"};
	RfGivenRows *given = palloc(sizeof(RfGivenRows));
	ListCell   *cell;

	(void) go_down(join, &level, expressions, true);
	given->name = GROUPS_NAME;
	given->desc = describe(join);
	given->rows = store_groups(join, given->desc);
	given->nrows = list_length(join->part->groups);
	foreach(cell, join->entries)
		finish_entry(lfirst(cell), given->desc, given->nrows / UNKNOWN_ROWS);
	return given;
}
