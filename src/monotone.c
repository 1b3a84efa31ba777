/*-------------------------------------------------------------------------
 *
 * monotone.c
 *	  What a condition on functions of a column says of the column itself.
 *
 * For a column "ts", the condition
 *
 *		date_trunc('day', ts) >= '2024-03-01'
 *
 * can be true only when ts >= '2024-03-01', which an index on ts can serve.
 * A condition of comparisons joined by AND and OR confines the column to a
 * hull, a range of values outside of which the condition is not true.  Inside,
 * it need not be true; so bounds are added to a condition, never put in its
 * place, unless the range is known to hold one value (rf_monotone_range).
 *
 * Comparisons are known by the default btree operator family of what is
 * compared; the functions by monotone_function.c.  Whatever is unknown confines
 * nothing.
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
#include "utils/array.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "discrete_type.h"
#include "monotone.h"
#include "monotone_function.h"
#include "monotone_step.h"

/* A range of numbers of values; the ends of int64 stand for no bound. */
typedef struct RfHull
{
	int64		low;
	int64		high;
	bool		through_function;	/* some bound went back through a function */
} RfHull;

static const RfHull everything = {PG_INT64_MIN, PG_INT64_MAX, false};
static const RfHull nothing = {PG_INT64_MAX, PG_INT64_MIN, false};

static RfHull hull_of(Node *condition, const Var *var);

static RfHull
intersection(RfHull a, RfHull b)
{
	RfHull		hull = {Max(a.low, b.low), Min(a.high, b.high),
	a.through_function || b.through_function};

	return hull;
}

static RfHull
hull_of_both(RfHull a, RfHull b)
{
	RfHull		hull = {Min(a.low, b.low), Max(a.high, b.high),
	a.through_function || b.through_function};

	return hull;
}

static int
commuted(int strategy)
{
	return BTMaxStrategyNumber + 1 - strategy;
}

/* The values that pass a comparison with a constant. */
static RfLimits
limits_of(int strategy, const Const *constant)
{
	RfLimits	limits;
	RfLimit		limit = {true, true, constant->constvalue};

	memset(&limits, 0, sizeof(limits));
	limit.inclusive = strategy != BTLessStrategyNumber && strategy != BTGreaterStrategyNumber;
	if (strategy >= BTEqualStrategyNumber)
		limits.low = limit;
	if (strategy <= BTEqualStrategyNumber)
		limits.high = limit;
	limits.type = constant->consttype;
	return limits;
}

/* A function that makes one kind of date or time of another, or InvalidOid. */
static Oid
time_conversion(Oid from, Oid to)
{
	if (from == DATEOID && to == TIMESTAMPOID)
		return F_TIMESTAMP_DATE;
	if (from == DATEOID && to == TIMESTAMPTZOID)
		return F_TIMESTAMPTZ_DATE;
	if (from == TIMESTAMPOID && to == TIMESTAMPTZOID)
		return F_TIMESTAMPTZ_TIMESTAMP;
	return InvalidOid;
}

/* Convert a constant, unless it lies at the ends of time. */
static bool
convert_constant(Const *constant, Oid function, Oid type)
{
	int64		number = rf_discrete_number(constant->consttype, constant->constvalue);
	int64		first;
	int64		last;

	rf_discrete_usual(constant->consttype, &first, &last);
	if (number < first || number > last)
		return false;
	*constant = *makeConst(type, -1, InvalidOid, sizeof(int64),
						   OidFunctionCall1(function, constant->constvalue), false,
						   FLOAT8PASSBYVAL);
	return true;
}

/*
 * Dates and times of different kinds are compared as the more general one; then
 * the conversion is a step like others.  False when they cannot be.
 */
static bool
make_same_kind(Node **value, Const *constant)
{
	Oid			type = getBaseType(exprType(*value));
	Oid			widening = time_conversion(type, constant->consttype);
	Oid			narrowing = time_conversion(constant->consttype, type);

	if (OidIsValid(widening))
	{
		*value = (Node *) makeFuncExpr(widening, constant->consttype, list_make1(*value),
									   InvalidOid, InvalidOid, COERCE_IMPLICIT_CAST);
		return true;
	}
	return !OidIsValid(narrowing) || convert_constant(constant, narrowing, type);
}

/* The numbers between limits of the column. */
static RfHull
hull_between(const RfLimits *limits, bool through_function)
{
	RfHull		hull = everything;

	if (limits->low.given)
		hull.low = rf_limit_number(limits, &limits->low, 1);
	if (limits->high.given)
		hull.high = rf_limit_number(limits, &limits->high, -1);
	hull.through_function = through_function;
	return hull;
}

/* The hull of "value operator constant", by the operator's btree strategy. */
static RfHull
hull_of_values(Node *value, int strategy, Const constant, Oid family, const Var *var)
{
	List	   *steps = NIL;
	RfLimits	limits;
	Oid			compare;

	if (constant.constisnull)
		return nothing;
	if (!make_same_kind(&value, &constant) || !rf_steps_from(value, var, &steps))
		return everything;
	if (steps == NIL && !rf_discrete_is(constant.consttype))
		return everything;
	compare = get_opfamily_proc(family, getBaseType(exprType(value)), constant.consttype,
								BTORDER_PROC);
	if (!OidIsValid(compare))
		return everything;
	limits = limits_of(strategy, &constant);
	fmgr_info(compare, &limits.compare);
	rf_steps_back(steps, &limits);
	return hull_between(&limits, steps != NIL);
}

/* The btree strategy of an operator for its left argument, or 0. */
static int
strategy_of(Oid operator, Node *value, Oid *family)
{
	Oid			type = getBaseType(exprType(value));

	*family = lookup_type_cache(type, TYPECACHE_BTREE_OPFAMILY)->btree_opf;
	return OidIsValid(*family) ? get_op_opfamily_strategy(operator, *family) : 0;
}

static RfHull
hull_of_comparison(OpExpr *comparison, const Var *var)
{
	Node	   *left = linitial(comparison->args);
	Node	   *right;
	Oid			family;
	int			strategy;

	if (list_length(comparison->args) != 2)
		return everything;
	right = lsecond(comparison->args);
	strategy = strategy_of(comparison->opno, left, &family);
	if (strategy == 0)
		return everything;
	if (IsA(right, Const))
		return hull_of_values(left, strategy, *(Const *) right, family, var);
	if (IsA(left, Const))
		return hull_of_values(right, commuted(strategy), *(Const *) left, family, var);
	return everything;
}

/* The elements of an array, as constants. */
static List *
elements_of(const Const *constant)
{
	ArrayType  *array = DatumGetArrayTypeP(constant->constvalue);
	Oid			type = ARR_ELEMTYPE(array);
	List	   *constants = NIL;
	int16		length;
	bool		by_value;
	char		alignment;
	Datum	   *elements;
	bool	   *nulls;
	int			nelements;

	get_typlenbyvalalign(type, &length, &by_value, &alignment);
	deconstruct_array(array, type, length, by_value, alignment, &elements, &nulls,
					  &nelements);
	for (int i = 0; i < nelements; i++)
		constants = lappend(constants, makeConst(type, -1, InvalidOid, length, elements[i],
												 nulls[i], by_value));
	return constants;
}

/* The hull of "value operator ANY (array)", and of ALL. */
static RfHull
hull_of_array_comparison(ScalarArrayOpExpr *comparison, const Var *var)
{
	Node	   *value = linitial(comparison->args);
	Const	   *array = lsecond(comparison->args);
	RfHull		hull = comparison->useOr ? nothing : everything;
	Oid			family;
	int			strategy = strategy_of(comparison->opno, value, &family);
	ListCell   *cell;

	if (strategy == 0 || !IsA(array, Const))
		return everything;
	if (array->constisnull)
		return nothing;
	foreach(cell, elements_of(array))
	{
		RfHull		one;

		CHECK_FOR_INTERRUPTS();
		one = hull_of_values(value, strategy, *lfirst_node(Const, cell), family, var);
		hull = comparison->useOr ? hull_of_both(hull, one) : intersection(hull, one);
	}
	return hull;
}

static RfHull
hull_of_junction(BoolExpr *junction, const Var *var)
{
	RfHull		hull = junction->boolop == AND_EXPR ? everything : nothing;
	ListCell   *cell;

	if (junction->boolop == NOT_EXPR)
		return everything;
	foreach(cell, junction->args)
	{
		RfHull		one = hull_of(lfirst(cell), var);

		hull = junction->boolop == AND_EXPR ? intersection(hull, one) :
			hull_of_both(hull, one);
	}
	return hull;
}

/* The numbers outside of which a condition is not true. */
static RfHull
hull_of(Node *condition, const Var *var)
{
	check_stack_depth();
	switch (nodeTag(condition))
	{
		case T_OpExpr:
			return hull_of_comparison((OpExpr *) condition, var);
		case T_ScalarArrayOpExpr:
			return hull_of_array_comparison((ScalarArrayOpExpr *) condition, var);
		case T_BoolExpr:
			return hull_of_junction((BoolExpr *) condition, var);
		case T_BooleanTest:
			if (((BooleanTest *) condition)->booltesttype == IS_TRUE)
				return hull_of((Node *) ((BooleanTest *) condition)->arg, var);
			return everything;
		case T_Const:
			return ((Const *) condition)->constisnull ||
				!DatumGetBool(((Const *) condition)->constvalue) ? nothing : everything;
		default:
			return everything;
	}
}

/*
 * Comparisons of a column with constants, NIL to two, that are true wherever a
 * condition is.  Bounds that the condition itself states as a comparison of the
 * column are left out: they need no help.
 */
List *
rf_monotone_bounds(Node *condition, const Var *var)
{
	Oid			type = getBaseType(var->vartype);
	bool		is_timestamp = type == TIMESTAMPOID || type == TIMESTAMPTZOID;
	List	   *bounds = NIL;
	int64		first;
	int64		last;
	RfHull		hull;

	if (!rf_discrete_is(type))
		return NIL;
	hull = hull_of(eval_const_expressions(NULL, copyObject(condition)), var);
	if (!hull.through_function)
		return NIL;
	rf_discrete_usual(type, &first, &last);
	if (hull.low > first)
		bounds = lappend(bounds, rf_discrete_comparison(var, type, BTGreaterEqualStrategyNumber,
														Min(hull.low, last)));
	/* "before midnight", rather than "up to a microsecond before midnight" */
	if (hull.high < last && is_timestamp)
		bounds = lappend(bounds, rf_discrete_comparison(var, type, BTLessStrategyNumber,
														Max(hull.high, first) + 1));
	else if (hull.high < last)
		bounds = lappend(bounds, rf_discrete_comparison(var, type, BTLessEqualStrategyNumber,
														Max(hull.high, first)));
	return bounds;
}

/*
 * Whether an expression is computed from a column in steps that can be gone back.
 */
bool
rf_monotone_is(Node *value, const Var *var)
{
	List	   *steps = NIL;
	Oid			family;
	TypeCacheEntry *entry = lookup_type_cache(exprType(value), TYPECACHE_EQ_OPR);

	return rf_discrete_is(var->vartype) && rf_steps_from(value, var, &steps) &&
		steps != NIL && strategy_of(entry->eq_opr, value, &family) == BTEqualStrategyNumber;
}

/* The value with a number, or the last one on its side of the type. */
static Datum
value_or_end(Oid type, int64 number)
{
	if (type == INT2OID)
		number = Min(Max(number, PG_INT16_MIN), PG_INT16_MAX);
	else if (type == INT4OID || type == DATEOID)
		number = Min(Max(number, PG_INT32_MIN), PG_INT32_MAX);
	return rf_discrete_value(type, number);
}

/*
 * Between which values the column lies where such an expression has the value of
 * a constant; more, if need be.  Whether it is known to have this value wherever the
 * column lies between them.
 */
bool
rf_monotone_range(Node *value, const Var *var, Const *constant, Datum *low, Datum *high)
{
	List	   *steps = NIL;
	Oid			family;
	RfHull		hull;

	(void) strategy_of(lookup_type_cache(exprType(value), TYPECACHE_EQ_OPR)->eq_opr, value,
					   &family);
	hull = hull_of_values(value, BTEqualStrategyNumber, *constant, family, var);
	*low = value_or_end(var->vartype, hull.low);
	*high = value_or_end(var->vartype, hull.high);
	return rf_steps_from(value, var, &steps) &&
		rf_steps_are_constant(steps, rf_discrete_number(var->vartype, *low),
							  rf_discrete_number(var->vartype, *high), constant->constvalue);
}
