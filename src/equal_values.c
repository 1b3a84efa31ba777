/*-------------------------------------------------------------------------
 *
 * equal_values.c
 *	  Whether values that count as equal can be told apart.
 *
 * GROUP BY, DISTINCT and the like put rows together whose values are equal, as
 * an operator says.  Equal values need not be the same: 1.0 and 1.00, -0 and 0,
 * 'a' and 'A' in citext or under some collation, '1 day' and '24 hours'.  A
 * condition such as value::text = '1.0' is true for one and false for the
 * other.  A comparison by the same operator family is not: it orders equal
 * values in the same place.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/nbtree.h"
#include "access/stratnum.h"
#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "equal_values.h"

/* Values that count as equal, and the order in which they stand in one place. */
typedef struct RfGrouped
{
	Node	   *value;
	Oid			family;			/* of btree operators, or InvalidOid */
	Oid			collation;
} RfGrouped;

/*
 * The default btree operator family of an equality operator's type, if it has
 * the operator; other families may make finer differences.
 */
static Oid
family_of(Oid equality, Oid *type)
{
	Oid			right;
	Oid			family;

	op_input_types(equality, type, &right);
	if (*type != right)
		return InvalidOid;
	family = lookup_type_cache(*type, TYPECACHE_BTREE_OPFAMILY)->btree_opf;
	if (!OidIsValid(family) ||
		get_op_opfamily_strategy(equality, family) != BTEqualStrategyNumber)
		return InvalidOid;
	return family;
}

/*
 * Whether equal values are the same, byte for byte: what btree asks before it
 * stores them once.  It says so for two types of which it is not true: intervals
 * (before 17), and character, when the padding differs.
 */
static bool
is_identity(Oid family, Oid type, Oid collation)
{
	Oid			function = get_opfamily_proc(family, type, type, BTEQUALIMAGE_PROC);

	if (!OidIsValid(function) || type == INTERVALOID || type == BPCHAROID ||
		(OidIsValid(get_typcollation(type)) && !OidIsValid(collation)))
		return false;
	return DatumGetBool(OidFunctionCall1Coll(function, collation, ObjectIdGetDatum(type)));
}

static bool
is_grouped_value(const RfGrouped *grouped, Node *node)
{
	while (!equal(node, grouped->value))
	{
		if (!IsA(node, RelabelType))
			return false;
		node = (Node *) ((RelabelType *) node)->arg;
	}
	return true;
}

/* The arguments of a comparison that has the same result for equal values, or NIL. */
static List *
harmless_arguments(const RfGrouped *grouped, Node *node)
{
	Oid			operator;
	Oid			collation;
	List	   *arguments;

	if (IsA(node, NullTest) && !((NullTest *) node)->argisrow)
		return list_make1(((NullTest *) node)->arg);
	if (IsA(node, OpExpr))
	{
		operator = ((OpExpr *) node)->opno;
		collation = ((OpExpr *) node)->inputcollid;
		arguments = ((OpExpr *) node)->args;
	}
	else if (IsA(node, ScalarArrayOpExpr))
	{
		operator = ((ScalarArrayOpExpr *) node)->opno;
		collation = ((ScalarArrayOpExpr *) node)->inputcollid;
		arguments = ((ScalarArrayOpExpr *) node)->args;
	}
	else
		return NIL;
	if (!OidIsValid(grouped->family) || collation != grouped->collation ||
		get_op_opfamily_strategy(operator, grouped->family) == 0)
		return NIL;
	return arguments;
}

/* Whether the value is used in another way than in harmless comparisons. */
static bool
looks_closer(Node *node, void *context)
{
	RfGrouped  *grouped = context;
	List	   *harmless;
	ListCell   *cell;

	if (node == NULL || IsA(node, Query))
		return false;
	if (equal(node, grouped->value))
		return true;
	harmless = harmless_arguments(grouped, node);
	foreach(cell, harmless)
	{
		if (!is_grouped_value(grouped, lfirst(cell)) && looks_closer(lfirst(cell), context))
			return true;
	}
	return harmless == NIL && expression_tree_walker(node, looks_closer, context);
}

/*
 * Whether a condition can be true for one value and false for another that
 * counts as equal; true when that is not known.
 */
bool
rf_tells_equals_apart(Node *condition, Node *value, Oid equality, Oid collation)
{
	RfGrouped	grouped = {value, InvalidOid, collation};
	Oid			type;

	grouped.family = family_of(equality, &type);
	if (OidIsValid(grouped.family) && is_identity(grouped.family, type, collation))
		return false;
	return looks_closer(condition, &grouped);
}

/*
 * Whether values that an operator takes for equal are known to be the same.
 */
bool
rf_equals_are_same(Oid equality, Oid collation)
{
	Oid			type;
	Oid			family = family_of(equality, &type);

	return OidIsValid(family) && is_identity(family, type, collation);
}
