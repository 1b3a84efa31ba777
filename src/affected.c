/*-------------------------------------------------------------------------
 *
 * affected.c
 *	  Output rows that changed rows of sources can have a part in.
 *
 * Some columns of the target, the *group columns*, can be told from the changed
 * rows of each source (grouping.c).  So the values that they have for changed
 * rows, the *affected groups*, say which output rows may differ from what
 * the target holds; all others are as they were.
 *
 * The run computes its query for these groups alone, and compares the result with
 * the target's rows of the same groups.  To that end both queries are joined with
 * the groups: the target by its columns; and the flow's query as far down as
 * the group columns can be followed together (group_join.c), best to the
 * table that they come from, where an index can serve the join.
 *
 * Groups are values as the target stores them, and are one when its types count
 * them as equal.  NULL is a value, but a join that says so is served by no index;
 * so groups are taken apart by which of their columns are NULL, and each *part*
 * has queries of its own.
 *
 * When it is not known which rows changed, but between which values, then the
 * groups lie between two values, too, where the way from one to the other keeps
 * the order.  Such a range is a condition like those of the predicate, and is
 * added to it (rf_affected_predicate); for known groups as well, since it bounds
 * what has to be looked through.
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
#include "optimizer/optimizer.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/sortsupport.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

#include "affected.h"
#include "conversion.h"
#include "discrete_type.h"
#include "equal_values.h"
#include "group_join.h"
#include "grouping.h"
#include "query_level.h"
#include "where_predicate.h"

/* Groups that are kept at most; more are taken as a range. */
#define MAX_GROUPS 20000

struct RfAffected
{
	const RfFlow *flow;
	int			ncolumns;
	int		   *columns;		/* positions among the flow's columns */
	RfChangedRange *ranges;		/* of each */
	bool		exact;			/* the groups are known */
	bool		probing;		/* and are to be looked for one by one */
	RfGroup    *groups;
	int64		ngroups;
	int64		room;
	List	   *parts;			/* of RfGroupPart */
};

/*
 * Begin to collect groups, by these columns of the flow.
 */
RfAffected *
rf_affected_begin(const RfFlow *flow, const Bitmapset *columns)
{
	RfAffected *affected = palloc0(sizeof(RfAffected));
	int			column = -1;

	affected->flow = flow;
	affected->ncolumns = bms_num_members(columns);
	affected->columns = palloc(affected->ncolumns * sizeof(int));
	affected->ranges = palloc0(affected->ncolumns * sizeof(RfChangedRange));
	affected->exact = true;
	for (int i = 0; i < affected->ncolumns; i++)
	{
		column = bms_next_member(columns, column);
		affected->columns[i] = column;
		affected->ranges[i].bounded = rf_discrete_is(rf_flow_column_type(flow, column).type);
		affected->ranges[i].low = PG_INT64_MAX;
		affected->ranges[i].high = PG_INT64_MIN;
	}
	return affected;
}

/*
 * Take the ranges alone: the groups are too many, or most rows in the ranges are
 * affected.
 */
void
rf_affected_forget_groups(RfAffected *affected)
{
	affected->exact = false;
	affected->ngroups = 0;
}

static void
extend(RfChangedRange *range, int64 number)
{
	range->low = Min(range->low, number);
	range->high = Max(range->high, number);
}

/* Take values, by group column, for a group. */
static void
add_group(RfAffected *affected, const Datum *values, const bool *nulls)
{
	RfGroup    *group;

	if (affected->ngroups == MAX_GROUPS)
		rf_affected_forget_groups(affected);
	if (affected->ngroups == affected->room)
	{
		affected->room = Max(64, 2 * affected->room);
		affected->groups = affected->groups == NULL ?
			palloc(affected->room * sizeof(RfGroup)) :
			repalloc(affected->groups, affected->room * sizeof(RfGroup));
	}
	group = &affected->groups[affected->ngroups];
	group->values = palloc(affected->ncolumns * sizeof(Datum));
	group->nulls = palloc(affected->ncolumns * sizeof(bool));
	for (int i = 0; i < affected->ncolumns; i++)
	{
		Form_pg_attribute column = TupleDescAttr(affected->flow->columns, affected->columns[i]);

		group->nulls[i] = nulls[i];
		group->values[i] = nulls[i] ? (Datum) 0 :
			datumCopy(values[i], column->attbyval, column->attlen);
		if (nulls[i])
			affected->ranges[i].has_null = true;
		else if (affected->ranges[i].bounded)
			extend(&affected->ranges[i], rf_discrete_number(column->atttypid, values[i]));
	}
	if (affected->exact)
		affected->ngroups++;
}

static RfGrouping *
begin_grouping(const RfAffected *affected, const RfOccurrence *occurrence)
{
	return rf_grouping_begin(occurrence, affected->ncolumns, affected->columns);
}

static void
add_rows(RfAffected *affected, const RfOccurrence *occurrence, const RfChangeSet *changes)
{
	RfGrouping *grouping = begin_grouping(affected, occurrence);
	Datum	   *values = palloc(affected->ncolumns * sizeof(Datum));
	bool	   *nulls = palloc(affected->ncolumns * sizeof(bool));
	int64		position = 0;

	while (rf_changes_next(changes, &position, rf_grouping_slot(grouping)))
	{
		CHECK_FOR_INTERRUPTS();
		rf_grouping_compute(grouping, values, nulls);
		add_group(affected, values, nulls);
	}
	rf_grouping_end(grouping);
}

static void
add_range(RfAffected *affected, const RfOccurrence *occurrence, const RfChangeSet *changes)
{
	RfGrouping *grouping = begin_grouping(affected, occurrence);

	rf_affected_forget_groups(affected);
	for (int i = 0; i < affected->ncolumns; i++)
	{
		RfChangedRange *range = &affected->ranges[i];
		RfChangedRange one;

		if (!range->bounded)
			continue;
		one = rf_grouping_range(grouping, i, changes);
		range->bounded = one.bounded;
		range->has_null |= one.has_null;
		extend(range, one.low);
		extend(range, one.high);
	}
	rf_grouping_end(grouping);
}

/*
 * Add the groups of changed rows of a source, at one of the places where the
 * query reads it.  This computes expressions of the query for rows that it may
 * never have computed them for, so it can fail.
 */
void
rf_affected_add(RfAffected *affected, const RfOccurrence *occurrence,
				const RfChangeSet *changes)
{
	if (rf_changes_kind(changes) == RF_CHANGES_ROWS)
		add_rows(affected, occurrence, changes);
	else
		add_range(affected, occurrence, changes);
}

/* What groups are compared by, column by column. */
static SortSupport
begin_comparison(const RfAffected *affected)
{
	SortSupport keys = palloc0(affected->ncolumns * sizeof(SortSupportData));

	for (int i = 0; i < affected->ncolumns; i++)
	{
		RfType		type = rf_flow_column_type(affected->flow, affected->columns[i]);

		keys[i].ssup_cxt = CurrentMemoryContext;
		keys[i].ssup_collation = type.collation;
		keys[i].ssup_nulls_first = false;
		PrepareSortSupportFromOrderingOp(lookup_type_cache(type.type, TYPECACHE_LT_OPR)->lt_opr,
										 &keys[i]);
	}
	return keys;
}

/* What the comparison of groups is given. */
typedef struct RfComparison
{
	int			ncolumns;
	SortSupport keys;
} RfComparison;

static int
compare_groups(const void *a, const void *b, void *arg)
{
	const RfGroup *one = a;
	const RfGroup *other = b;
	const RfComparison *comparison = arg;

	for (int i = 0; i < comparison->ncolumns; i++)
	{
		int			result = ApplySortComparator(one->values[i], one->nulls[i],
												 other->values[i], other->nulls[i],
												 &comparison->keys[i]);

		if (result != 0)
			return result;
	}
	return 0;
}

/* Leave each group in the array once. */
static void
make_distinct(RfAffected *affected)
{
	RfComparison comparison = {affected->ncolumns, begin_comparison(affected)};
	int64		kept = 0;

	if (affected->ngroups == 0)
		return;
	qsort_arg(affected->groups, affected->ngroups, sizeof(RfGroup), compare_groups, &comparison);
	for (int64 i = 1; i < affected->ngroups; i++)
	{
		if (compare_groups(&affected->groups[kept], &affected->groups[i], &comparison) != 0)
			affected->groups[++kept] = affected->groups[i];
	}
	affected->ngroups = kept + 1;
}

/* A group column, as predicates have it. */
static Var *
group_column(const RfAffected *affected, int i)
{
	int			column = affected->columns[i];
	RfType		type = rf_flow_column_type(affected->flow, column);

	return makeVar(1, (AttrNumber) (column + 1), type.type, type.typmod, type.collation, 0);
}

/*
 * Whether the predicate says the same of all rows of a group: it looks at nothing
 * but group columns, and does not tell apart what they count as equal.
 */
static bool
decides(const RfAffected *affected, Node *predicate)
{
	Bitmapset  *columns = NULL;

	for (int i = 0; i < affected->ncolumns; i++)
	{
		Var		   *column = group_column(affected, i);
		Oid			equality = lookup_type_cache(column->vartype, TYPECACHE_EQ_OPR)->eq_opr;

		if (rf_tells_equals_apart(predicate, (Node *) column, equality, column->varcollid))
			return false;
		columns = bms_add_member(columns, affected->columns[i]);
	}
	return bms_is_subset(rf_predicate_columns(predicate), columns);
}

/* Leave out groups for which the predicate is not true, if groups alone decide. */
static void
keep_those_in_window(RfAffected *affected, Node *predicate)
{
	RfRowCondition *condition;
	Datum	   *values;
	bool	   *nulls;
	int64		kept = 0;

	if (!decides(affected, predicate))
		return;
	condition = rf_predicate_begin_rows(affected->flow, predicate);
	values = palloc0(affected->flow->columns->natts * sizeof(Datum));
	nulls = palloc(affected->flow->columns->natts * sizeof(bool));
	memset(nulls, true, affected->flow->columns->natts * sizeof(bool));
	for (int64 i = 0; i < affected->ngroups; i++)
	{
		for (int j = 0; j < affected->ncolumns; j++)
		{
			values[affected->columns[j]] = affected->groups[i].values[j];
			nulls[affected->columns[j]] = affected->groups[i].nulls[j];
		}
		if (rf_predicate_is_true(condition, values, nulls))
			affected->groups[kept++] = affected->groups[i];
	}
	affected->ngroups = kept;
	rf_predicate_end_rows(condition);
}

/* Ranges of the groups that are left. */
static void
measure_again(RfAffected *affected)
{
	for (int i = 0; i < affected->ncolumns; i++)
	{
		RfChangedRange *range = &affected->ranges[i];
		Oid			type = rf_flow_column_type(affected->flow, affected->columns[i]).type;

		range->low = PG_INT64_MAX;
		range->high = PG_INT64_MIN;
		range->has_null = false;
		for (int64 j = 0; j < affected->ngroups; j++)
		{
			if (affected->groups[j].nulls[i])
				range->has_null = true;
			else if (range->bounded)
				extend(range, rf_discrete_number(type, affected->groups[j].values[i]));
		}
	}
}

static uint32
null_pattern(const RfAffected *affected, const RfGroup *group)
{
	uint32		pattern = 0;

	for (int i = 0; i < affected->ncolumns; i++)
	{
		if (group->nulls[i])
			pattern |= 1U << i;
	}
	return pattern;
}

static void
add_to_part(RfAffected *affected, const RfGroup *group)
{
	uint32		pattern = null_pattern(affected, group);
	RfGroupPart *part = NULL;
	ListCell   *cell;

	foreach(cell, affected->parts)
	{
		if (((RfGroupPart *) lfirst(cell))->pattern == pattern)
			part = lfirst(cell);
	}
	if (part == NULL)
	{
		part = palloc0(sizeof(RfGroupPart));
		part->pattern = pattern;
		affected->parts = lappend(affected->parts, part);
	}
	part->groups = lappend(part->groups, unconstify(RfGroup *, group));
}

/*
 * All changes are there: see what groups they make, of those that can be in the
 * window of a predicate.
 */
void
rf_affected_complete(RfAffected *affected, Node *predicate)
{
	if (!affected->exact)
		return;
	make_distinct(affected);
	keep_those_in_window(affected, predicate);
	measure_again(affected);
	for (int64 i = 0; i < affected->ngroups; i++)
		add_to_part(affected, &affected->groups[i]);
}

bool
rf_affected_is_exact(const RfAffected *affected)
{
	return affected->exact;
}

/*
 * How many groups there are, if that is known.
 */
int64
rf_affected_groups(const RfAffected *affected)
{
	return affected->ngroups;
}

/*
 * Whether the planner knows how many rows of the target a group has.
 */
bool
rf_affected_is_estimable(const RfAffected *affected)
{
	Datum		relid = ObjectIdGetDatum(affected->flow->target);

	for (int i = 0; i < affected->ncolumns; i++)
	{
		Datum		attnum = Int16GetDatum(rf_flow_column_attnum(affected->flow,
																 affected->columns[i]));

		if (!SearchSysCacheExists3(STATRELATTINH, relid, attnum, BoolGetDatum(false)) &&
			!SearchSysCacheExists3(STATRELATTINH, relid, attnum, BoolGetDatum(true)))
			return false;
	}
	return true;
}

/*
 * Whether it is known which groups they are, or between which values some column
 * of theirs lies.
 */
bool
rf_affected_is_bounded(const RfAffected *affected)
{
	if (affected->exact)
		return true;
	for (int i = 0; i < affected->ncolumns; i++)
	{
		if (affected->ranges[i].bounded)
			return true;
	}
	return false;
}

static Node *
null_condition(const RfAffected *affected, int i)
{
	NullTest   *test = makeNode(NullTest);

	test->arg = (Expr *) group_column(affected, i);
	test->nulltesttype = IS_NULL;
	test->location = -1;
	return (Node *) test;
}

/* The condition that a column lies in its range. */
static Node *
range_condition(const RfAffected *affected, int i)
{
	const RfChangedRange *range = &affected->ranges[i];
	Var		   *column = group_column(affected, i);
	Node	   *low = rf_discrete_comparison(column, column->vartype,
											 BTGreaterEqualStrategyNumber, range->low);
	Node	   *high = rf_discrete_comparison(column, column->vartype,
											  BTLessEqualStrategyNumber, range->high);
	Node	   *condition = (Node *) make_andclause(list_make2(low, high));

	if (!range->has_null)
		return condition;
	if (range->low > range->high)
		return null_condition(affected, i);
	return (Node *) make_orclause(list_make2(condition, null_condition(affected, i)));
}

/*
 * A predicate, and the ranges of the groups.
 */
Node *
rf_affected_predicate(const RfAffected *affected, Node *predicate)
{
	List	   *conditions = list_make1(predicate);

	for (int i = 0; i < affected->ncolumns; i++)
	{
		if (affected->ranges[i].bounded)
			conditions = lappend(conditions, range_condition(affected, i));
	}
	return list_length(conditions) == 1 ? predicate : (Node *) make_andclause(conditions);
}

/*
 * In how many parts what is affected is; each needs queries of its own.  Ranges are
 * one.
 */
int
rf_affected_parts(const RfAffected *affected)
{
	return affected->exact ? list_length(affected->parts) : 1;
}

/*
 * Whether queries are to look for each group, rather than to read the tables once
 * and look up each row's group.
 */
void
rf_affected_probe(RfAffected *affected, bool probing)
{
	affected->probing = probing;
}

/*
 * How the queries are to be planned, then.
 */
RfPlan
rf_affected_plan(const RfAffected *affected)
{
	if (!affected->exact)
		return RF_PLAN_FREE;
	return affected->probing ? RF_PLAN_PROBE_CACHED : RF_PLAN_SCAN;
}

/* The condition that a column has the value that it has for a group. */
static Node *
value_condition(const RfAffected *affected, const RfGroup *group, int i)
{
	Form_pg_attribute attribute = TupleDescAttr(affected->flow->columns, affected->columns[i]);
	Var		   *column = group_column(affected, i);
	Oid			equality = lookup_type_cache(column->vartype, TYPECACHE_EQ_OPR)->eq_opr;
	Const	   *value = makeConst(column->vartype, column->vartypmod, column->varcollid,
								  attribute->attlen, group->values[i], false, attribute->attbyval);

	return (Node *) make_opclause(equality, BOOLOID, false, (Expr *) column, (Expr *) value,
								  InvalidOid, column->varcollid);
}

/*
 * The predicate for one of the groups alone.
 */
Node *
rf_affected_predicate_of_group(const RfAffected *affected, Node *predicate, int64 index)
{
	const RfGroup *group = &affected->groups[index];
	List	   *conditions = list_make1(predicate);

	for (int i = 0; i < affected->ncolumns; i++)
	{
		conditions = lappend(conditions, group->nulls[i] ? null_condition(affected, i) :
							 value_condition(affected, group, i));
	}
	return (Node *) make_ands_explicit(conditions);
}

/*
 * Let a query give the rows of a part of the groups; an expression over its relation
 * 1 stands for each column of the flow.  NULL if it is as it should be already: the
 * ranges are in the predicate.
 */
static RfGivenRows *
restrict_query(const RfAffected *affected, int part, Query *query,
			   Node *(*expression_of) (const RfFlow *flow, int column))
{
	RfGroupJoin *join;
	Node	  **expressions;

	if (!affected->exact)
		return NULL;
	join = rf_group_join_begin(affected->flow, affected->ncolumns, affected->columns,
							   list_nth(affected->parts, part), affected->probing);
	expressions = palloc(affected->ncolumns * sizeof(Node *));
	for (int i = 0; i < affected->ncolumns; i++)
		expressions[i] = expression_of(affected->flow, affected->columns[i]);
	return rf_group_join_query(join, query, expressions);
}

/*
 * Restrict a flow's query, as rf_window_new_rows() made it, to a part of what is
 * affected; give the rows that the query then has to be given, or NULL.
 */
RfGivenRows *
rf_affected_restrict_source(const RfAffected *affected, int part, Query *query)
{
	return restrict_query(affected, part, query, rf_conversion_column);
}

/*
 * The same for rows of the target, as rf_window_old_rows() made the query.
 */
RfGivenRows *
rf_affected_restrict_target(const RfAffected *affected, int part, Query *query)
{
	return restrict_query(affected, part, query, rf_flow_column_var);
}
