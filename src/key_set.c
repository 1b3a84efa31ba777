/*-------------------------------------------------------------------------
 *
 * key_set.c
 *	  The distinct keys of a batch, for statements to join with.
 *
 * NULL is a key value of its own and equals NULL.  A join condition that says
 * so for all keys at once could not be served by an index, so the keys are
 * kept apart by which of their columns are NULL: each pattern has its own
 * tuplestore, registered under its own name with its exact number of rows, and
 * its own branch in the queries that find rows (see sql_text.c).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/typcache.h"

#include "key_set.h"
#include "query.h"
#include "sql_text.h"

/* The keys with one pattern of NULLs. */
typedef struct RfKeyPattern
{
	uint32		pattern;		/* bit i set: key column i is NULL */
	Tuplestorestate *rows;
	int64		nrows;
} RfKeyPattern;

struct RfKeySet
{
	const RfFlow *flow;
	MemoryContext context;
	TupleDesc	desc;			/* group, then the key columns */
	List	   *patterns;		/* of RfKeyPattern */
	Datum	   *values;
	bool	   *nulls;
	RfKeyJoin	join;
};

static TupleDesc
describe(const RfFlow *flow)
{
	TupleDesc	desc = CreateTemplateTupleDesc(1 + flow->nkeys);

	TupleDescInitEntry(desc, 1, RF_KEYS_GROUP, INT8OID, -1, 0);
	for (int i = 0; i < flow->nkeys; i++)
		TupleDescCopyEntry(desc, i + 2, flow->columns, flow->keys[i] + 1);
	rf_sql_number_columns(desc, 1);
	return desc;
}

static void
describe_join(RfKeySet *keys)
{
	int			nkeys = keys->flow->nkeys;
	RfType	   *types = palloc(nkeys * sizeof(RfType));
	Oid		   *equal = palloc(nkeys * sizeof(Oid));

	for (int i = 0; i < nkeys; i++)
	{
		types[i] = rf_flow_column_type(keys->flow, keys->flow->keys[i]);
		equal[i] = lookup_type_cache(types[i].type, TYPECACHE_BTREE_OPFAMILY |
									 TYPECACHE_EQ_OPR)->eq_opr;
	}
	keys->join.nkeys = nkeys;
	keys->join.types = types;
	keys->join.equal = equal;
}

RfKeySet *
rf_keys_begin(const RfFlow *flow)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "replace_flow keys",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext caller = MemoryContextSwitchTo(context);
	RfKeySet   *keys = palloc0(sizeof(RfKeySet));

	keys->flow = flow;
	keys->context = context;
	keys->desc = describe(flow);
	keys->values = palloc(keys->desc->natts * sizeof(Datum));
	keys->nulls = palloc0(keys->desc->natts * sizeof(bool));
	describe_join(keys);
	MemoryContextSwitchTo(caller);
	return keys;
}

static RfKeyPattern *
find_pattern(RfKeySet *keys, uint32 pattern)
{
	ListCell   *cell;
	RfKeyPattern *found;

	foreach(cell, keys->patterns)
	{
		found = lfirst(cell);
		if (found->pattern == pattern)
			return found;
	}
	found = palloc0(sizeof(RfKeyPattern));
	found->pattern = pattern;
	found->rows = tuplestore_begin_heap(true, false, work_mem);
	keys->patterns = lappend(keys->patterns, found);
	keys->join.patterns = lappend_int(keys->join.patterns, (int) pattern);
	return found;
}

/*
 * Add a key, given a row that has it.  A key is added once; its group numbers
 * it.
 */
void
rf_keys_add(RfKeySet *keys, int64 group, const Datum *values, const bool *nulls)
{
	MemoryContext caller = MemoryContextSwitchTo(keys->context);
	uint32		pattern = 0;
	RfKeyPattern *store;

	keys->values[0] = Int64GetDatum(group);
	for (int i = 0; i < keys->flow->nkeys; i++)
	{
		int			column = keys->flow->keys[i];

		keys->values[i + 1] = values[column];
		keys->nulls[i + 1] = nulls[column];
		if (nulls[column])
			pattern |= 1U << i;
	}
	store = find_pattern(keys, pattern);
	tuplestore_putvalues(store->rows, keys->desc, keys->values, keys->nulls);
	store->nrows++;
	MemoryContextSwitchTo(caller);
}

/*
 * All keys are there: let statements see them.
 */
void
rf_keys_register(RfKeySet *keys)
{
	ListCell   *cell;

	foreach(cell, keys->patterns)
	{
		RfKeyPattern *store = lfirst(cell);

		rf_query_register(rf_sql_keys_name(store->pattern), keys->desc,
						  store->rows, store->nrows);
	}
}

static char *
find_rows(RfKeySet *keys, Oid relid, TupleDesc columns, const bool *needed,
		  const char **key_columns)
{
	RfKeyJoin	join = keys->join;

	join.columns = key_columns;
	return rf_sql_find_rows(relid, columns, needed, &join);
}

/*
 * A query for the target's rows that have these keys; columns that are not
 * needed come as NULL.
 */
char *
rf_keys_find_in_target(RfKeySet *keys, const bool *needed)
{
	const RfFlow *flow = keys->flow;
	const char **columns = palloc(flow->nkeys * sizeof(char *));

	for (int i = 0; i < flow->nkeys; i++)
		columns[i] = NameStr(TupleDescAttr(flow->columns, flow->keys[i])->attname);
	return find_rows(keys, flow->target, flow->columns, needed, columns);
}

/*
 * The same for the ledger's rows, of which one column is wanted.
 */
char *
rf_keys_find_in_ledger(RfKeySet *keys, TupleDesc columns)
{
	const RfFlow *flow = keys->flow;
	const char **key_columns = palloc(flow->nkeys * sizeof(char *));
	static const bool needed = true;

	for (int i = 0; i < flow->nkeys; i++)
		key_columns[i] = rf_sql_ledger_key(i);
	Assert(columns->natts == 1);
	return find_rows(keys, flow->ledger, columns, &needed, key_columns);
}

void
rf_keys_end(RfKeySet *keys)
{
	ListCell   *cell;

	foreach(cell, keys->patterns)
	{
		RfKeyPattern *store = lfirst(cell);

		rf_query_unregister(rf_sql_keys_name(store->pattern));
		tuplestore_end(store->rows);
	}
	MemoryContextDelete(keys->context);
}
