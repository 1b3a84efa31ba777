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
 * Some of those listed make a text of any value: concat(), to_jsonb() and the like.
 * Then it matters how the value's type does that.  An enum's label, a table's name
 * and the names of a composite type's attributes can be changed, and no row is.
 *
 * Who locks a row, or fails to change it, leaves a trace in some of its system columns.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/relation.h"
#include "access/sysattr.h"
#include "access/transam.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_proc.h"
#include "nodes/nodeFuncs.h"
#include "nodes/parsenodes.h"
#include "parser/parsetree.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "compat.h"
#include "function_list.h"
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

/* Those among them that make texts of values of any type. */
static const Oid functions_of_any[] = {
	F_ARRAY_OUT,
	F_ARRAY_TO_JSON_ANYARRAY,
	F_ARRAY_TO_JSON_ANYARRAY_BOOL,
	F_ARRAY_TO_STRING_ANYARRAY_TEXT,
	F_ARRAY_TO_STRING_ANYARRAY_TEXT_TEXT,
	F_CONCAT,
	F_CONCAT_WS,
	F_FORMAT_TEXT_ANY,
	F_JSONB_BUILD_ARRAY_ANY,
	F_JSONB_BUILD_OBJECT_ANY,
	F_JSON_BUILD_ARRAY_ANY,
	F_JSON_BUILD_OBJECT_ANY,
	F_RECORD_OUT,
	F_ROW_TO_JSON_RECORD,
	F_ROW_TO_JSON_RECORD_BOOL,
	F_TO_JSON,
	F_TO_JSONB
};

static bool
changes(Oid function)
{
	return OidIsValid(function) && func_volatile(function) != PROVOLATILE_IMMUTABLE &&
		!RF_IS_LISTED(function, settled_functions);
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
	List	   *queries;		/* around the place that is looked at, the
								 * innermost first */
} RfCulprit;

/* Whether the text of a type's values depends on nothing but them. */
static bool
has_settled_text(Oid type)
{
	Oid			output;
	bool		is_varlena;

	type = getBaseType(type);
	if (OidIsValid(get_element_type(type)))
		return has_settled_text(get_element_type(type));
	if (type_is_range(type))
		return has_settled_text(get_range_subtype(type));
	if (type_is_multirange(type))
		return has_settled_text(get_multirange_range(type));
	if (type_is_rowtype(type))
		return false;
	getTypeOutputInfo(type, &output, &is_varlena);
	return !changes(output);
}

static bool
all_have_settled_texts(List *types)
{
	ListCell   *cell;

	foreach(cell, types)
	{
		if (!has_settled_text(lfirst_oid(cell)))
			return false;
	}
	return true;
}

static List *
types_of(List *expressions)
{
	List	   *types = NIL;
	ListCell   *cell;

	foreach(cell, expressions)
		types = lappend_oid(types, exprType(lfirst(cell)));
	return types;
}

static List *
types_of_targets(Query *query)
{
	List	   *types = NIL;
	ListCell   *cell;

	foreach(cell, query->targetList)
		types = lappend_oid(types, exprType((Node *) lfirst_node(TargetEntry, cell)->expr));
	return types;
}

static List *
types_of_columns(Oid relid)
{
	Relation	relation = relation_open(relid, AccessShareLock);
	TupleDesc	desc = RelationGetDescr(relation);
	List	   *types = NIL;

	for (int i = 0; i < desc->natts; i++)
	{
		if (!TupleDescAttr(desc, i)->attisdropped)
			types = lappend_oid(types, TupleDescAttr(desc, i)->atttypid);
	}
	relation_close(relation, NoLock);
	return types;
}

/* Whether that is so of the columns of a whole row; their names are the query's. */
static bool
is_settled_row(const RfCulprit *culprit, const Var *row)
{
	Query	   *query;
	RangeTblEntry *rte;

	if ((int) row->varlevelsup >= list_length(culprit->queries))
		return false;
	query = list_nth_node(Query, culprit->queries, row->varlevelsup);
	rte = rt_fetch(row->varno, query->rtable);
	switch (rte->rtekind)
	{
		case RTE_RELATION:
			return all_have_settled_texts(types_of_columns(rte->relid));
		case RTE_SUBQUERY:
			return all_have_settled_texts(types_of_targets(rte->subquery));
		case RTE_CTE:
		case RTE_VALUES:
			return all_have_settled_texts(rte->coltypes);
		default:
			return false;
	}
}

/* The same of a value. */
static bool
is_settled_value(const RfCulprit *culprit, Node *value)
{
	if (IsA(value, Var) && ((Var *) value)->varattno == InvalidAttrNumber)
		return is_settled_row(culprit, (Var *) value);
	if (IsA(value, RowExpr) && ((RowExpr *) value)->row_typeid == RECORDOID)
		return all_have_settled_texts(types_of(((RowExpr *) value)->args));
	if (IsA(value, ConvertRowtypeExpr))
		return is_settled_value(culprit, (Node *) ((ConvertRowtypeExpr *) value)->arg);
	return has_settled_text(exprType(value));
}

/* The values that a node makes texts of, whatever their types are. */
static List *
values_written(Node *node)
{
	if (IsA(node, FuncExpr) && RF_IS_LISTED(((FuncExpr *) node)->funcid, functions_of_any))
		return ((FuncExpr *) node)->args;
	if (IsA(node, CoerceViaIO))
		return list_make1(((CoerceViaIO *) node)->arg);
	if (IsA(node, XmlExpr))
		return list_concat_copy(((XmlExpr *) node)->named_args, ((XmlExpr *) node)->args);
	return rf_json_arguments(node);
}

static bool
writes_names(const RfCulprit *culprit, Node *node)
{
	ListCell   *cell;

	foreach(cell, values_written(node))
	{
		if (!is_settled_value(culprit, lfirst(cell)))
			return true;
	}
	return false;
}

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

/* The name of a column that changes while its row does not; or NULL. */
static const char *
name_of_unsettled_column(const Var *var)
{
	switch (var->varattno)
	{
		case MinCommandIdAttributeNumber:
			return "cmin";
		case MaxTransactionIdAttributeNumber:
			return "xmax";
		case MaxCommandIdAttributeNumber:
			return "cmax";
		default:
			return NULL;
	}
}

static bool find_culprit(Node *node, void *context);

static bool
find_in_query(Query *query, RfCulprit *culprit)
{
	bool		found;

	culprit->queries = lcons(query, culprit->queries);
	found = query_tree_walker(query, find_culprit, culprit, QTW_EXAMINE_RTES_BEFORE);
	culprit->queries = list_delete_first(culprit->queries);
	return found;
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
	else if (IsA(node, Var) && name_of_unsettled_column((Var *) node) != NULL)
		culprit->name = psprintf("system column %s", name_of_unsettled_column((Var *) node));
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
	if (writes_names(culprit, node))
	{
		culprit->name = pstrdup("the text of a value whose type may get other names");
		return true;
	}
	if (IsA(node, Query))
		return find_in_query((Query *) node, culprit);
	return expression_tree_walker(node, find_culprit, context);
}

/*
 * What makes an expression or a query give something else the next time, though
 * no table has changed, for people; NULL if nothing does.
 */
char *
rf_repeatable_culprit(Node *node)
{
	RfCulprit	culprit = {NULL, NIL};

	(void) find_culprit(node, &culprit);
	return culprit.name;
}
