/*-------------------------------------------------------------------------
 *
 * flow_sources.c
 *	  The tables that a where flow reads, and what of their changes it needs.
 *
 * For each table the flow's columns are found that can be told from a row of it
 * wherever the query reads it (source_trace.c), and that the query does not
 * tell apart more finely than it groups (push_down.c).  Of these the *group
 * columns* are chosen: those of the predicate and of a unique index of the
 * target first, since they tell rows best; and not many, since more would only
 * make the log of changes longer.  Groups are looked for among all rows of a table,
 * also those that the query never computes its columns for.  So they are columns that
 * can be computed for any row (total.c), or that the predicate is computed for anyway.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "catalog/catalog.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/relcache.h"
#include "utils/typcache.h"

#include "compat.h"
#include "conversion.h"
#include "flow_sources.h"
#include "flow_view.h"
#include "push_down.h"
#include "query.h"
#include "query_level.h"
#include "repeatable.h"
#include "source_trace.h"
#include "table_family.h"
#include "total.h"
#include "where_predicate.h"

/* Group columns that are taken where no index says which. */
#define SOME_COLUMNS 4

/* And at most: which of them are NULL has to fit into an integer (group_join.c). */
#define MOST_COLUMNS 16

/* Whether groups can be made by a column, as far as its type says. */
static bool
type_fits(RfType type)
{
	TypeCacheEntry *entry = lookup_type_cache(type.type, TYPECACHE_LT_OPR | TYPECACHE_EQ_OPR);

	return OidIsValid(entry->lt_opr) && OidIsValid(entry->eq_opr) &&
		getBaseType(type.type) == type.type;
}

/* Whether a comparison of an output value would take groups apart. */
static bool
cuts_groups(Query *query, Node *expression, RfType type)
{
	Oid			equality = lookup_type_cache(type.type, TYPECACHE_EQ_OPR)->eq_opr;
	Node	   *condition = (Node *) make_opclause(equality, BOOLOID, false, (Expr *) expression,
												   (Expr *) makeNullConst(type.type, type.typmod,
																		  type.collation),
												   InvalidOid, type.collation);

	return rf_push_down_cuts_groups(query, condition);
}

/* The flow's columns as expressions over the query's output; NULL if not of use. */
static Node **
column_expressions(const RfFlow *flow, Query *query)
{
	Node	  **expressions = palloc0(flow->columns->natts * sizeof(Node *));

	for (int i = 0; i < flow->columns->natts; i++)
	{
		RfType		type = rf_flow_column_type(flow, i);
		Node	   *expression = rf_conversion_column(flow, i);

		if (type_fits(type) && rf_repeatable_culprit(expression) == NULL &&
			!cuts_groups(query, expression, type))
			expressions[i] = expression;
	}
	return expressions;
}

static RfSource *
find_source(RfSources *sources, Oid relid)
{
	ListCell   *cell;
	RfSource   *source;

	foreach(cell, sources->sources)
	{
		source = lfirst(cell);
		if (source->relid == relid)
			return source;
	}
	source = palloc0(sizeof(RfSource));
	source->relid = relid;
	sources->sources = lappend(sources->sources, source);
	return source;
}

/* Columns that each place where the table is read can tell. */
static Bitmapset *
common_columns(const RfFlow *flow, const RfSource *source)
{
	Bitmapset  *columns = NULL;

	for (int i = 0; i < flow->columns->natts; i++)
	{
		bool		everywhere = true;
		ListCell   *cell;

		foreach(cell, source->occurrences)
			everywhere &= ((RfOccurrence *) lfirst(cell))->traces[i] != NULL;
		if (everywhere)
			columns = bms_add_member(columns, i);
	}
	return columns;
}

/* The columns of the target that tell its rows apart, by position. */
static Bitmapset *
unique_columns(const RfFlow *flow)
{
	Relation	target = table_open(flow->target, NoLock);
	Bitmapset  *attnums = RelationGetIndexAttrBitmap(target, INDEX_ATTR_BITMAP_KEY);
	Bitmapset  *columns = NULL;

	for (int i = 0; i < flow->columns->natts; i++)
	{
		AttrNumber	attnum = rf_flow_column_attnum(flow, i);

		if (bms_is_member(attnum - FirstLowInvalidHeapAttributeNumber, attnums))
			columns = bms_add_member(columns, i);
	}
	table_close(target, NoLock);
	return columns;
}

/* Add columns, from the first on, until there are so many. */
static Bitmapset *
fill_up(Bitmapset *chosen, const Bitmapset *columns, int most)
{
	int			column = -1;

	while ((column = bms_next_member(columns, column)) >= 0 && bms_num_members(chosen) < most)
		chosen = bms_add_member(chosen, column);
	return chosen;
}

static Bitmapset *
choose(const Bitmapset *possible, const Bitmapset *of_predicate, const Bitmapset *unique)
{
	Bitmapset  *chosen = fill_up(NULL, bms_intersect(possible, of_predicate), MOST_COLUMNS);

	chosen = fill_up(chosen, bms_intersect(possible, unique), MOST_COLUMNS);
	return fill_up(chosen, possible, SOME_COLUMNS);
}

static void
add_partial_columns(const RfFlow *flow, const RfSource *source, Bitmapset **columns)
{
	ListCell   *cell;

	foreach(cell, source->occurrences)
	{
		RfOccurrence *occurrence = lfirst(cell);

		for (int i = 0; i < flow->columns->natts; i++)
		{
			if (occurrence->traces[i] != NULL && !rf_is_total(occurrence->traces[i]))
				*columns = bms_add_member(*columns, i);
		}
	}
}

static void
choose_groups(const RfFlow *flow, RfSources *sources)
{
	Bitmapset  *of_predicate = rf_predicate_columns(rf_predicate_own(flow));
	Bitmapset  *unique = unique_columns(flow);
	Bitmapset  *partial = NULL;
	ListCell   *cell;

	foreach(cell, sources->sources)
		add_partial_columns(flow, lfirst(cell), &partial);
	partial = bms_difference(partial, of_predicate);
	foreach(cell, sources->sources)
	{
		RfSource   *source = lfirst(cell);

		source->groups = choose(bms_difference(common_columns(flow, source), partial),
								of_predicate, unique);
	}
}

/* What makes stored rows others though nothing has changed: also on their way there. */
static char *
find_culprit(const RfFlow *flow, Query *query)
{
	char	   *culprit = rf_repeatable_culprit((Node *) query);

	for (int i = 0; culprit == NULL && i < flow->columns->natts; i++)
		culprit = rf_repeatable_culprit(rf_conversion_column(flow, i));
	return culprit;
}

/*
 * The tables that an open where flow reads.
 */
RfSources *
rf_sources_of_flow(const RfFlow *flow)
{
	RfSources  *sources = palloc0(sizeof(RfSources));
	ListCell   *cell;

	sources->query = rf_query_rewrite(rf_view_query(rf_view_load(flow), flow->extras));
	sources->culprit = find_culprit(flow, sources->query);
	foreach(cell, rf_source_trace(sources->query, flow->columns,
								  column_expressions(flow, sources->query)))
	{
		RfOccurrence *occurrence = lfirst(cell);
		RfSource   *source = find_source(sources, occurrence->relid);

		source->occurrences = lappend(source->occurrences, occurrence);
	}
	choose_groups(flow, sources);
	return sources;
}

/*
 * The columns of a table from which its group columns are computed.
 */
Bitmapset *
rf_source_columns(const RfSource *source)
{
	Bitmapset  *columns = NULL;
	ListCell   *cell;
	ListCell   *var;
	int			group = -1;

	while ((group = bms_next_member(source->groups, group)) >= 0)
	{
		foreach(cell, source->occurrences)
		{
			RfOccurrence *occurrence = lfirst(cell);

			foreach(var, rf_condition_columns(occurrence->traces[group]))
				columns = bms_add_member(columns, lfirst_node(Var, var)->varattno);
		}
	}
	return columns;
}

static bool
has_virtual_columns(Oid relid)
{
	Relation	relation = table_open(relid, AccessShareLock);
	bool		result = rf_has_virtual_columns(RelationGetDescr(relation));

	table_close(relation, NoLock);
	return result;
}

/*
 * Why changes of a table cannot be seen, for people; NULL if they can.
 */
char *
rf_source_obstacle(const RfSource *source)
{
	const char *name = get_rel_name(source->relid);

	if (IsCatalogRelationOid(source->relid))
		return psprintf("\"%s\" is a system catalog", name);
	if (get_rel_persistence(source->relid) == RELPERSISTENCE_TEMP)
		return psprintf("\"%s\" is a temporary table", name);
	switch (get_rel_relkind(source->relid))
	{
		case RELKIND_RELATION:
		case RELKIND_PARTITIONED_TABLE:
			break;
		case RELKIND_MATVIEW:
			return psprintf("\"%s\" is a materialized view", name);
		case RELKIND_FOREIGN_TABLE:
			return psprintf("\"%s\" is a foreign table", name);
		default:
			return psprintf("\"%s\" is no table", name);
	}
	if (has_virtual_columns(source->relid))
		return psprintf("\"%s\" has virtual generated columns", name);
	if (rf_table_is_unlogged(source->relid))
		return psprintf("\"%s\" or a part of it is unlogged, and a crash empties it", name);
	return NULL;
}
