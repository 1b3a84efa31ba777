/*-------------------------------------------------------------------------
 *
 * total.c
 *	  Whether an expression can be computed for each row there may be.
 *
 * A query computes 100 / x for the rows that it joins and filters, and these may
 * have no zero.  Who computes it for other rows, too, makes the query fail.  So
 * does a conversion: 'a long text' does not fit into varchar(8).
 *
 * The server marks few functions as such that never fail (LEAKPROOF).  More that
 * are used to group rows are listed here; what they do at the ends of a type, such
 * as in the year 294276, does not count.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

#include "compat.h"
#include "function_list.h"
#include "total.h"

/* Functions that fail for no value of the one argument that is not a constant. */
static const Oid total_functions[] = {
	F_ABS_FLOAT8,
	F_BTRIM_TEXT,
	F_CEIL_FLOAT8,
	F_CEIL_NUMERIC,
	F_DATE_BIN_INTERVAL_TIMESTAMPTZ_TIMESTAMPTZ,
	F_DATE_BIN_INTERVAL_TIMESTAMP_TIMESTAMP,
	F_DATE_MII,
	F_DATE_MI_INTERVAL,
	F_DATE_PART_TEXT_DATE,
	F_DATE_PART_TEXT_TIMESTAMP,
	F_DATE_PART_TEXT_TIMESTAMPTZ,
	F_DATE_PLI,
	F_DATE_PL_INTERVAL,
	F_DATE_TIMESTAMP,
	F_DATE_TIMESTAMPTZ,
	F_DATE_TRUNC_TEXT_TIMESTAMP,
	F_DATE_TRUNC_TEXT_TIMESTAMPTZ,
	F_DATE_TRUNC_TEXT_TIMESTAMPTZ_TEXT,
	F_EXTRACT_TEXT_DATE,
	F_EXTRACT_TEXT_TIMESTAMP,
	F_EXTRACT_TEXT_TIMESTAMPTZ,
	F_FLOOR_FLOAT8,
	F_FLOOR_NUMERIC,
	F_INITCAP,
	F_INT2DIV,
	F_INT2MOD,
	F_INT48MI,
	F_INT48PL,
	F_INT4DIV,
	F_INT4MI,
	F_INT4MOD,
	F_INT4PL,
	F_INT4_BOOL,
	F_INT84MI,
	F_INT84PL,
	F_INT8DIV,
	F_INT8MI,
	F_INT8MOD,
	F_INT8PL,
	F_JSONB_OBJECT_FIELD,
	F_JSONB_OBJECT_FIELD_TEXT,
	F_JSON_OBJECT_FIELD_TEXT,
	F_LEFT,
	F_LENGTH_TEXT,
	F_LOWER_TEXT,
	F_LTRIM_TEXT,
	F_MD5_TEXT,
	F_NUMERIC_ADD,
	F_NUMERIC_FLOAT4,
	F_NUMERIC_FLOAT8,
	F_NUMERIC_INT2,
	F_NUMERIC_INT4,
	F_NUMERIC_INT8,
	F_NUMERIC_MUL,
	F_NUMERIC_SUB,
	F_REPLACE,
	F_RTRIM_TEXT,
	F_SPLIT_PART,
	F_TEXTCAT,
	F_TEXT_BOOL,
	F_TEXT_BPCHAR,
	F_TIMESTAMPTZ_DATE,
	F_TIMESTAMPTZ_MI_INTERVAL,
	F_TIMESTAMPTZ_PL_INTERVAL,
	F_TIMESTAMPTZ_TIMESTAMP,
	F_TIMESTAMPTZ_TIMESTAMPTZ_INT4,
	F_TIMESTAMP_DATE,
	F_TIMESTAMP_MI_INTERVAL,
	F_TIMESTAMP_PL_INTERVAL,
	F_TIMESTAMP_TIMESTAMPTZ,
	F_TIMESTAMP_TIMESTAMP_INT4,
	F_TIMEZONE_INTERVAL_TIMESTAMP,
	F_TIMEZONE_INTERVAL_TIMESTAMPTZ,
	F_TIMEZONE_TEXT_TIMESTAMP,
	F_TIMEZONE_TEXT_TIMESTAMPTZ,
	RF_TIMEZONE_TIMESTAMP,
	RF_TIMEZONE_TIMESTAMPTZ,
	F_TO_CHAR_TIMESTAMPTZ_TEXT,
	F_TO_CHAR_TIMESTAMP_TEXT,
	F_TRUNC_NUMERIC,
	F_UPPER_TEXT
};

static bool
is_constant(Node *node)
{
	return IsA(node, Const) && !((Const *) node)->constisnull;
}

/* Whether a division's divisor is a constant that is not zero. */
static bool
divides_by_constant(Oid function, List *arguments)
{
	Const	   *divisor = lsecond(arguments);
	int			size = function == F_INT2DIV || function == F_INT2MOD ? 2 :
		function == F_INT4DIV || function == F_INT4MOD ? 4 : 8;

	if (!is_constant((Node *) divisor))
		return false;
	return (size == 2 ? DatumGetInt16(divisor->constvalue) :
			size == 4 ? DatumGetInt32(divisor->constvalue) :
			DatumGetInt64(divisor->constvalue)) > 0;
}

static bool
is_division(Oid function)
{
	return function == F_INT2DIV || function == F_INT2MOD || function == F_INT4DIV ||
		function == F_INT4MOD || function == F_INT8DIV || function == F_INT8MOD;
}

/* Functions of texts take any arguments; and numeric has room for what comes out. */
static bool
takes_any(Oid function)
{
	return function == F_TEXTCAT || function == F_NUMERIC_ADD || function == F_NUMERIC_SUB ||
		function == F_NUMERIC_MUL || function == F_JSONB_OBJECT_FIELD ||
		function == F_JSONB_OBJECT_FIELD_TEXT || function == F_JSON_OBJECT_FIELD_TEXT;
}

static bool
is_total_call(Oid function, List *arguments)
{
	int			variable = 0;
	ListCell   *cell;

	if (get_func_leakproof(function))
		return true;
	if (!RF_IS_LISTED(function, total_functions) ||
		(is_division(function) && !divides_by_constant(function, arguments)))
		return false;
	foreach(cell, arguments)
		variable += !is_constant(lfirst(cell));
	return variable <= 1 || takes_any(function);
}

/* Values of the server's own types become text. */
static bool
is_total_output(CoerceViaIO *conversion)
{
	Oid			source = getBaseType(exprType((Node *) conversion->arg));

	return conversion->resulttype == TEXTOID &&
		(source == INT2OID || source == INT4OID || source == INT8OID || source == NUMERICOID ||
		 source == FLOAT4OID || source == FLOAT8OID || source == DATEOID ||
		 source == TIMESTAMPOID || source == TIMESTAMPTZOID || source == UUIDOID ||
		 source == JSONBOID || source == BOOLOID);
}

static bool
find_partial(Node *node, void *context)
{
	if (node == NULL)
		return false;
	switch (nodeTag(node))
	{
		case T_List:
		case T_Var:
		case T_Const:
		case T_RelabelType:
		case T_CoalesceExpr:
		case T_CaseExpr:
		case T_CaseWhen:
		case T_CaseTestExpr:
		case T_BoolExpr:
		case T_NullTest:
		case T_BooleanTest:
		case T_FieldSelect:
			break;
		case T_FuncExpr:
			if (!is_total_call(((FuncExpr *) node)->funcid, ((FuncExpr *) node)->args))
				return true;
			break;
		case T_OpExpr:
			if (!is_total_call(get_opcode(((OpExpr *) node)->opno), ((OpExpr *) node)->args))
				return true;
			break;
		case T_CoerceViaIO:
			if (!is_total_output((CoerceViaIO *) node))
				return true;
			break;
		default:
			return true;
	}
	return expression_tree_walker(node, find_partial, context);
}

/*
 * Whether an expression fails for no row; false when that is not known.
 */
bool
rf_is_total(Node *expression)
{
	return !find_partial(expression, NULL);
}
