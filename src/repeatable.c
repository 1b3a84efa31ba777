/*-------------------------------------------------------------------------
 *
 * repeatable.c
 *	  Whether an expression or a query gives the same as long as nothing changes.
 *
 * A run that is to recompute only what changed has to know that all the rest
 * would come out as before.  Immutable functions say so themselves.  Stable ones
 * need not: now() moves on, and a user's function may read any table.  But many
 * of the server's own are stable only because they depend on settings such as
 * TimeZone, and these are the flow's, the same in every run.  They are listed
 * here.
 *
 * What reads texts as dates and times is not among them: 'today' is another day
 * tomorrow.  Such texts also come from JSON and XML.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/transam.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_proc.h"
#include "nodes/nodeFuncs.h"
#include "nodes/parsenodes.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "compat.h"
#include "repeatable.h"

/* Stable functions that depend on nothing but settings of the flow. */
static const Oid settled_functions[] = {
	F_ARRAY_OUT,
	F_ARRAY_TO_JSON_ANYARRAY,
	F_ARRAY_TO_JSON_ANYARRAY_BOOL,
	F_ARRAY_TO_STRING_ANYARRAY_TEXT,
	F_ARRAY_TO_STRING_ANYARRAY_TEXT_TEXT,
	F_CONCAT,
	F_CONCAT_WS,
	F_DATE_CMP_TIMESTAMPTZ,
	F_DATE_EQ_TIMESTAMPTZ,
	F_DATE_GE_TIMESTAMPTZ,
	F_DATE_GT_TIMESTAMPTZ,
	F_DATE_LE_TIMESTAMPTZ,
	F_DATE_LT_TIMESTAMPTZ,
	F_DATE_NE_TIMESTAMPTZ,
	F_DATE_OUT,
	F_DATE_PART_TEXT_TIMESTAMPTZ,
	F_DATE_TIMESTAMPTZ,
	F_DATE_TRUNC_TEXT_TIMESTAMPTZ,
	F_DATE_TRUNC_TEXT_TIMESTAMPTZ_TEXT,
	F_EXTRACT_TEXT_TIMESTAMPTZ,
	F_FORMAT_TEXT,
	F_FORMAT_TEXT_ANY,
	F_GENERATE_SERIES_TIMESTAMPTZ_TIMESTAMPTZ_INTERVAL,
	F_INTERVAL_OUT,
	F_JSONB_BUILD_ARRAY_,
	F_JSONB_BUILD_ARRAY_ANY,
	F_JSONB_BUILD_OBJECT_,
	F_JSONB_BUILD_OBJECT_ANY,
	F_JSON_BUILD_ARRAY_,
	F_JSON_BUILD_ARRAY_ANY,
	F_JSON_BUILD_OBJECT_,
	F_JSON_BUILD_OBJECT_ANY,
	F_MAKE_TIMESTAMPTZ_INT4_INT4_INT4_INT4_INT4_FLOAT8,
	F_MAKE_TIMESTAMPTZ_INT4_INT4_INT4_INT4_INT4_FLOAT8_TEXT,
	F_RECORD_OUT,
	F_ROW_TO_JSON_RECORD,
	F_ROW_TO_JSON_RECORD_BOOL,
	F_TIMESTAMPTZ_CMP_DATE,
	F_TIMESTAMPTZ_CMP_TIMESTAMP,
	F_TIMESTAMPTZ_DATE,
	F_TIMESTAMPTZ_EQ_DATE,
	F_TIMESTAMPTZ_EQ_TIMESTAMP,
	F_TIMESTAMPTZ_GE_DATE,
	F_TIMESTAMPTZ_GE_TIMESTAMP,
	F_TIMESTAMPTZ_GT_DATE,
	F_TIMESTAMPTZ_GT_TIMESTAMP,
	F_TIMESTAMPTZ_LE_DATE,
	F_TIMESTAMPTZ_LE_TIMESTAMP,
	F_TIMESTAMPTZ_LT_DATE,
	F_TIMESTAMPTZ_LT_TIMESTAMP,
	F_TIMESTAMPTZ_MI_INTERVAL,
	F_TIMESTAMPTZ_NE_DATE,
	F_TIMESTAMPTZ_NE_TIMESTAMP,
	F_TIMESTAMPTZ_OUT,
	F_TIMESTAMPTZ_PL_INTERVAL,
	F_TIMESTAMPTZ_TIMESTAMP,
	F_TIMESTAMP_CMP_TIMESTAMPTZ,
	F_TIMESTAMP_EQ_TIMESTAMPTZ,
	F_TIMESTAMP_GE_TIMESTAMPTZ,
	F_TIMESTAMP_GT_TIMESTAMPTZ,
	F_TIMESTAMP_LE_TIMESTAMPTZ,
	F_TIMESTAMP_LT_TIMESTAMPTZ,
	F_TIMESTAMP_NE_TIMESTAMPTZ,
	F_TIMESTAMP_OUT,
	F_TIMESTAMP_TIMESTAMPTZ,
	F_TIMETZ_TIMESTAMPTZ,
	F_TIME_TIMESTAMPTZ,
	F_TO_CHAR_FLOAT4_TEXT,
	F_TO_CHAR_FLOAT8_TEXT,
	F_TO_CHAR_INT4_TEXT,
	F_TO_CHAR_INT8_TEXT,
	F_TO_CHAR_INTERVAL_TEXT,
	F_TO_CHAR_NUMERIC_TEXT,
	F_TO_CHAR_TIMESTAMPTZ_TEXT,
	F_TO_CHAR_TIMESTAMP_TEXT,
	F_TO_DATE,
	F_TO_JSON,
	F_TO_JSONB,
	F_TO_NUMBER,
	F_TO_TIMESTAMP_TEXT_TEXT,
	RF_TIMEZONE_TIMESTAMP,
	RF_TIMEZONE_TIMESTAMPTZ
};

static bool
is_settled(Oid function)
{
	for (size_t i = 0; i < lengthof(settled_functions); i++)
	{
		if (settled_functions[i] == function)
			return true;
	}
	return false;
}

static bool
changes(Oid function)
{
	return OidIsValid(function) && func_volatile(function) != PROVOLATILE_IMMUTABLE &&
		!is_settled(function);
}

/* An aggregate itself counts as immutable, whatever it is made of. */
static bool
aggregate_changes(Oid function, Oid *part)
{
	HeapTuple	tuple;
	Form_pg_aggregate aggregate;
	Oid			parts[5];

	if (function < FirstNormalObjectId)
		return false;
	tuple = SearchSysCache1(AGGFNOID, ObjectIdGetDatum(function));
	if (!HeapTupleIsValid(tuple))
		return false;
	aggregate = (Form_pg_aggregate) GETSTRUCT(tuple);
	parts[0] = aggregate->aggtransfn;
	parts[1] = aggregate->aggfinalfn;
	parts[2] = aggregate->aggcombinefn;
	parts[3] = aggregate->aggmtransfn;
	parts[4] = aggregate->aggmfinalfn;
	ReleaseSysCache(tuple);
	for (size_t i = 0; i < lengthof(parts); i++)
	{
		*part = parts[i];
		if (changes(parts[i]))
			return true;
	}
	return false;
}

/* What was found, for people. */
typedef struct RfCulprit
{
	char	   *name;
} RfCulprit;

static bool
check_function(Oid function, void *context)
{
	RfCulprit  *culprit = context;
	Oid			part = function;

	if (!changes(function) && !aggregate_changes(function, &part))
		return false;
	culprit->name = psprintf("function %s()", get_func_name(part));
	return true;
}

/* Whether values that are read as this type need not be the same again. */
static bool
check_type_read(Oid type, void *context)
{
	Oid			input;
	Oid			parameter;

	if (!OidIsValid(type))
		return false;
	getTypeInputInfo(type, &input, &parameter);
	return check_function(input, context);
}

/* The same for the columns of a table that XML or JSON is read as. */
static bool
check_table_read(const TableFunc *table, void *context)
{
	ListCell   *cell;

	foreach(cell, table->coltypes)
	{
		if (check_type_read(lfirst_oid(cell), context))
			return true;
	}
	return false;
}

static const char *
name_of_value_function(const SQLValueFunction *function)
{
	switch (function->op)
	{
		case SVFOP_CURRENT_DATE:
			return "CURRENT_DATE";
		case SVFOP_CURRENT_TIME:
		case SVFOP_CURRENT_TIME_N:
			return "CURRENT_TIME";
		case SVFOP_CURRENT_TIMESTAMP:
		case SVFOP_CURRENT_TIMESTAMP_N:
			return "CURRENT_TIMESTAMP";
		case SVFOP_LOCALTIME:
		case SVFOP_LOCALTIME_N:
			return "LOCALTIME";
		case SVFOP_LOCALTIMESTAMP:
		case SVFOP_LOCALTIMESTAMP_N:
			return "LOCALTIMESTAMP";
		default:
			return "CURRENT_USER";
	}
}

static bool
find_culprit(Node *node, void *context)
{
	RfCulprit  *culprit = context;

	if (node == NULL)
		return false;
	if (IsA(node, SQLValueFunction))
		culprit->name = pstrdup(name_of_value_function((SQLValueFunction *) node));
	else if (IsA(node, NextValueExpr))
		culprit->name = pstrdup("a sequence");
	else if (IsA(node, RangeTblEntry))
	{
		/* its expressions are walked by who walks the query */
		if (((RangeTblEntry *) node)->tablesample != NULL)
			culprit->name = pstrdup("TABLESAMPLE");
		return culprit->name != NULL;
	}
	if (culprit->name != NULL || check_functions_in_node(node, check_function, context) ||
		check_type_read(rf_type_read_from_json(node), context) ||
		(IsA(node, TableFunc) && check_table_read((TableFunc *) node, context)))
		return true;
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, find_culprit, context,
								 QTW_EXAMINE_RTES_BEFORE);
	return expression_tree_walker(node, find_culprit, context);
}

/*
 * What makes an expression or a query give something else the next time, though
 * no table has changed, for people; NULL if nothing does.
 */
char *
rf_repeatable_culprit(Node *node)
{
	RfCulprit	culprit = {NULL};

	(void) find_culprit(node, &culprit);
	return culprit.name;
}
