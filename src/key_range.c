/*-------------------------------------------------------------------------
 *
 * key_range.c
 *	  A part of a using flow's stream: rows of some keys.
 *
 * A run can be bounded to the keys whose hash lies in a range.  All rows of a
 * key go together, so nothing that belongs together is cut (B17), and runs over
 * ranges that cover all keys do what one run would do.
 *
 * For that the key must be known of a row of the stream, before the query has
 * made anything of it, and the query must make of the rows of each range, alone,
 * what it would make of them among all others.  So each key column is followed
 * from the query's output down to a column of the stream; on the way nothing may
 * compute it, and nothing may look at rows of several keys.  Joins, filters,
 * rows that become several (unnest), groups and partitions by the key are no
 * obstacle; see trace().  When unsure, the stream cannot be cut.
 *
 * Then one condition, on a row of the stream, says whether the row is in the
 * range.  The deletion that consumes rows has it, and the query that reads them
 * has it too, at the place where the stream is read, before all else.  So what
 * is read is what was consumed, and a row that fails, in whatever part of the
 * query, fails no other range.
 *
 * Values are hashed as the target compares them (A7), though of a row that is
 * still in the stream.  The conversion to the target's type must not be able to
 * fail there, and equal values must stay equal; that is known of few.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/tlist.h"
#include "parser/parse_node.h"
#include "parser/parse_relation.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteManip.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "conversion.h"
#include "equal_values.h"
#include "flow_query.h"
#include "flow_view.h"
#include "key_range.h"
#include "query.h"
#include "query_level.h"
#include "sql_text.h"

/* Where the stream is read, and where its rows have the key. */
struct RfKeyCut
{
	const RfFlow *flow;
	Query	   *query;			/* what a run reads, rewritten */
	RangeTblEntry *stream;		/* somewhere in it */
	Index		number;			/* the stream's, among its neighbours */
	RfStreamKey *keys;
	const char *obstacle;		/* why the stream cannot be cut, or NULL */
};

/* Conversions that cannot fail and keep equal what is equal. */
static const Oid harmless_casts[] = {
	F_INT4_INT2, F_INT8_INT2, F_INT8_INT4,
	F_NUMERIC_INT2, F_NUMERIC_INT4, F_NUMERIC_INT8,
	F_FLOAT8_FLOAT4, F_TEXT_BPCHAR, F_TEXT_NAME
};

static bool
refuse(RfKeyCut *cut, const char *obstacle)
{
	cut->obstacle = obstacle;
	return false;
}

/* What a domain is made of. */
static RfType
base_of(RfType type)
{
	type.type = getBaseTypeAndTypmod(type.type, &type.typmod);
	return type;
}

/* A type whose values have any length and precision. */
static RfType
without_length(RfType type)
{
	type.typmod = -1;
	return type;
}

static Node *
without_relabeling(Node *node)
{
	for (;;)
	{
		if (IsA(node, RelabelType))
			node = (Node *) ((RelabelType *) node)->arg;
		else if (IsA(node, CollateExpr))
			node = (Node *) ((CollateExpr *) node)->arg;
		else
			return node;
	}
}

static bool
is_harmless_cast(RfType from, RfType to)
{
	Node	   *value = (Node *) makeVar(1, 1, from.type, from.typmod, from.collation, 0);
	FuncExpr   *cast = (FuncExpr *) without_relabeling(rf_conversion_cast(value, from, to));

	if (equal(cast, value))
		return true;
	if (!IsA(cast, FuncExpr) || !equal(without_relabeling(linitial(cast->args)), value))
		return false;
	for (size_t i = 0; i < lengthof(harmless_casts); i++)
	{
		if (harmless_casts[i] == cast->funcid)
			return true;
	}
	return false;
}

/*
 * A column that limits length or precision can make different values equal: it
 * rounds, or cuts off blanks.  To see that of a value in the stream, it is cut
 * off there too, which must be the same for values that are equal.  In character
 * columns blanks at the end count for nothing.
 */
static bool
settle_length(RfType given, RfType *stored)
{
	if (stored->typmod >= 0 && !(stored->type == given.type && stored->typmod == given.typmod) &&
		stored->type != BPCHAROID)
		return stored->type == VARCHAROID && get_collation_isdeterministic(stored->collation);
	stored->typmod = -1;
	return true;
}

/* Settle how a key column's value is found in a row of the stream. */
static bool
settle_key(RfKeyCut *cut, int key, AttrNumber attnum)
{
	const RfFlow *flow = cut->flow;
	int			column = flow->keys[key];
	RfType		staged = base_of(rf_type_of_column(flow->source, attnum));
	RfType		given = base_of(flow->output_types[flow->column_outputs[column]]);
	RfType		stored = base_of(rf_flow_column_type(flow, column));
	TypeCacheEntry *type = lookup_type_cache(stored.type, TYPECACHE_EQ_OPR |
											 TYPECACHE_HASH_EXTENDED_PROC);

	if (!OidIsValid(type->hash_extended_proc))
		return refuse(cut, psprintf("Key column \"%s\" has type %s, which has no extended"
									" hash function.", flow->key_outputs[key],
									rf_type_name(stored)));
	if (rf_conversion_is_needed(without_length(staged), without_length(given)) ||
		!is_harmless_cast(without_length(given), without_length(stored)) ||
		!settle_length(given, &stored))
		return refuse(cut, psprintf("Key column \"%s\" is converted from type %s to type %s,"
									" which can fail or make different values equal.",
									flow->key_outputs[key], rf_type_name(staged),
									rf_type_name(stored)));
	cut->keys[key].column = get_attname(flow->source, attnum, false);
	cut->keys[key].given = without_length(given);
	cut->keys[key].stored = stored;
	return true;
}

/*
 * Whether a clause such as GROUP BY takes values of a key column for equal that
 * the target may not.
 */
static bool
merges_keys(const RfKeyCut *cut, const RfLevel *level, List *clause, int key, Var *var)
{
	RfType		stored = rf_flow_column_type(cut->flow, cut->flow->keys[key]);
	Oid			equality = lookup_type_cache(stored.type, TYPECACHE_EQ_OPR)->eq_opr;
	ListCell   *cell;

	foreach(cell, clause)
	{
		SortGroupClause *item = lfirst_node(SortGroupClause, cell);
		Node	   *value = get_sortgroupclause_expr(item, level->query->targetList);

		value = rf_level_flatten(level->query, copyObject(value));
		if (!equal(without_relabeling(value), var))
			continue;
		if (item->eqop == equality && exprCollation(value) == stored.collation)
			continue;
		/* a hash looks at the value as it is */
		if (rf_tells_equals_apart(value, value, item->eqop, exprCollation(value)))
			return true;
	}
	return false;
}

/* Whether a level puts rows of different keys together by clauses on a key column. */
static bool
level_merges_keys(const RfKeyCut *cut, const RfLevel *level, int key, Var *var)
{
	Query	   *query = level->query;
	ListCell   *cell;

	foreach(cell, query->windowClause)
	{
		if (merges_keys(cut, level, lfirst_node(WindowClause, cell)->partitionClause, key, var))
			return true;
	}
	return merges_keys(cut, level, query->groupClause, key, var) ||
		merges_keys(cut, level, query->distinctClause, key, var);
}

/* Whether a level makes the same of the rows of a key, whatever others there are. */
static bool
check_level(RfKeyCut *cut, const RfLevel *level, List *outputs)
{
	Query	   *query = level->query;

	if (query->setOperations != NULL)
		return refuse(cut, "The query puts rows together with UNION, INTERSECT or EXCEPT.");
	if (query->limitCount != NULL || query->limitOffset != NULL)
		return refuse(cut, "The query counts rows, for LIMIT or OFFSET.");
	if (rf_level_holds_back(level, (Node *) outputs))
		return refuse(cut, "The query has an aggregate, a window function or DISTINCT ON"
					  " that looks at rows of several keys.");
	return true;
}

/* Take the key columns inside a level as columns of one relation of it. */
static bool
find_columns(RfKeyCut *cut, const RfLevel *level, List **columns)
{
	List	   *found = NIL;
	int			key = 0;
	ListCell   *cell;

	foreach(cell, *columns)
	{
		Var		   *var = (Var *) without_relabeling(lfirst(cell));
		const char *name = cut->flow->key_outputs[key];

		if (!IsA(var, Var) || var->varlevelsup > 0 || var->varattno <= 0 ||
			(found != NIL && var->varno != linitial_node(Var, found)->varno))
			return refuse(cut, psprintf("Key column \"%s\" is not a column of the stream as it is.",
										name));
		if (level_merges_keys(cut, level, key++, var))
			return refuse(cut, psprintf("The query takes values of key column \"%s\" for equal"
										" that the target may not.", name));
		found = lappend(found, var);
	}
	*columns = found;
	return true;
}

/* The key columns are columns of the stream itself. */
static bool
settle_keys(RfKeyCut *cut, List *columns)
{
	int			key = 0;
	ListCell   *cell;

	foreach(cell, columns)
	{
		if (!settle_key(cut, key++, lfirst_node(Var, cell)->varattno))
			return false;
	}
	return true;
}

/* Follow the key columns, given as columns of a level's output, to the stream. */
static bool
trace(RfKeyCut *cut, RfLevel *level, List *outputs)
{
	List	   *columns = (List *) rf_level_condition(level, (Node *) outputs);
	Index		table;
	RangeTblEntry *rte;
	RfLevel		inner;

	check_stack_depth();
	if (!find_columns(cut, level, &columns) || !check_level(cut, level, outputs))
		return false;
	table = linitial_node(Var, columns)->varno;
	if (rf_level_is_nullable(level, table))
		return refuse(cut, "The stream is on the side of an outer join that NULLs can stand for.");
	rte = rt_fetch(table, level->query->rtable);
	if (rte->rtekind == RTE_RELATION && rte->relid == cut->flow->source)
	{
		cut->stream = rte;
		cut->number = table;
		return settle_keys(cut, columns);
	}
	if (!rf_level_enter(level, table, &inner))
		return refuse(cut, psprintf("Key column \"%s\" is not a column of the stream as it is.",
									cut->flow->key_outputs[0]));
	return trace(cut, &inner, (List *) rf_condition_on_output((Node *) columns, table, 0));
}

/*
 * Find out how a flow's stream is cut by key; NULL, and why, when it cannot be.
 * The flow is open, and its view and what it reads are locked.
 */
RfKeyCut *
rf_key_cut_find(const RfFlow *flow, const char **obstacle)
{
	RfKeyCut   *cut = palloc0(sizeof(RfKeyCut));
	RfLevel		level = {0};
	List	   *outputs = NIL;

	cut->flow = flow;
	cut->query = rf_query_rewrite(rf_view_query(rf_view_load(flow), flow->extras));
	cut->keys = palloc0(flow->nkeys * sizeof(RfStreamKey));
	level.query = cut->query;
	for (int i = 0; i < flow->nkeys; i++)
	{
		int			position = flow->column_outputs[flow->keys[i]];
		RfType		type = flow->output_types[position];

		outputs = lappend(outputs, makeVar(1, position + 1, type.type, type.typmod,
										   type.collation, 0));
	}
	if (trace(cut, &level, outputs))
		return cut;
	*obstacle = cut->obstacle;
	return NULL;
}

/*
 * The same where it must be possible.
 */
RfKeyCut *
rf_key_cut_require(const RfFlow *flow)
{
	const char *obstacle;
	RfKeyCut   *cut = rf_key_cut_find(flow, &obstacle);

	if (cut == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("the stream of flow \"%s\" cannot be cut by key", flow->name),
				 errdetail_internal("%s", obstacle),
				 errhint("Let the query give the key columns as the stream has them and treat each key on its own, or do without \"quarantine\".")));
	return cut;
}

static char *
hash_of(const RfKeyCut *cut)
{
	return rf_sql_key_hash(cut->flow->nkeys, cut->keys);
}

/*
 * Whether row s of the stream is in a range, in SQL.
 */
char *
rf_key_cut_condition(const RfKeyCut *cut, const RfKeyRange *range)
{
	return rf_sql_hash_in_range(hash_of(cut), range->first, range->last);
}

/* The same as a tree over a relation with a number. */
static Node *
parse_condition(const RfFlow *flow, const char *condition, Index number)
{
	RfTextOrigin origin = {.flow_name = flow->name, .parameter = "range of keys"};
	ParseState *pstate = make_parsestate(NULL);
	Relation	stream = table_open(flow->source, AccessShareLock);
	ParseNamespaceItem *item = addRangeTableEntryForRelation(pstate, stream, AccessShareLock,
															 makeAlias("s", NIL), true, true);
	Node	   *node;

	addNSItemToQuery(pstate, item, true, true, true);
	node = rf_expression_analyze(&origin, pstate, rf_expression_parse(&origin, condition),
								 condition, BOOLOID);
	table_close(stream, NoLock);
	ChangeVarNodes(node, 1, number, 0);
	return node;
}

/*
 * What a run reads, of rows of the stream for which a condition is true: outputs
 * and extras.
 *
 * The condition has the place that conditions of row-level security have.  So
 * the server looks at it before it does anything else with a row that could
 * fail.
 */
Query *
rf_key_cut_query(const RfKeyCut *cut, const char *condition)
{
	cut->stream->securityQuals = lcons(parse_condition(cut->flow, condition, cut->number),
									   cut->stream->securityQuals);
	return cut->query;
}

/*
 * Make a range as narrow as the hashes are that the stream has in it; false when
 * there are none.
 */
bool
rf_key_cut_narrow(const RfKeyCut *cut, RfKeyRange *range)
{
	RfRow		row;

	(void) rf_query_first(rf_sql_hash_limits(cut->flow->source, hash_of(cut),
											 rf_key_cut_condition(cut, range)), NULL, &row);
	if (!rf_row_bool(&row, "found"))
		return false;
	range->first = rf_row_int64(&row, "first");
	range->last = rf_row_int64(&row, "last");
	return true;
}
