/*-------------------------------------------------------------------------
 *
 * fingerprint.c
 *	  Whether definitions that a flow depends on have changed.
 *
 * Triggers see rows that change.  They do not see that a partition is attached,
 * or that they were disabled for a while, nor that a view or a function was
 * replaced.  But each of these writes a row of the system catalog anew, and a
 * row version is told from all others by the transaction that made it and
 * its place: so does the server itself know whether a function that it has
 * compiled is still the same.
 *
 * A fingerprint is a hash of these, for
 *
 *	- the relations that the query reads, down to the tables below views, with
 *	  their partitions and children, and what they are a part of: pg_class, which
 *	  also changes when a table is emptied or rewritten;
 *	- their columns, whose names can be values (to_jsonb(t)), and which tell that a
 *	  table was a child of another one for a while; partitions have those of the
 *	  whole, and pg_class tells what became of them;
 *	- their triggers that capture changes, and the rules of views;
 *	- the functions that the query calls, that convert its values, and that the
 *	  predicate calls.  What a function in SQL or another language calls in turn
 *	  cannot be known; with one of these, all functions that are not the server's
 *	  own count;
 *	- the configurations and dictionaries of text search, where a function may use them;
 *	- the settings of the flow, those of the session that values as text and names of
 *	  time zones depend on, though the server says that they do not, and for the target
 *	  the types of its columns.
 *
 * What is not a change, such as a privilege that is granted, may look like one,
 * and then costs a complete run.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/transam.h"
#include "catalog/pg_class.h"
#include "catalog/pg_language.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_rewrite.h"
#include "catalog/pg_trigger.h"
#include "catalog/pg_ts_config.h"
#include "catalog/pg_ts_config_map.h"
#include "catalog/pg_ts_dict.h"
#include "catalog/pg_type.h"
#include "common/hashfn.h"
#include "nodes/nodeFuncs.h"
#include "rewrite/rewriteSupport.h"
#include "storage/lockdefs.h"
#include "utils/bytea.h"
#include "utils/float.h"
#include "utils/fmgroids.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "conversion.h"
#include "fingerprint.h"
#include "table_family.h"
#include "table_trigger.h"
#include "where_predicate.h"

static void
add_bytes(uint64 *print, const void *bytes, Size length)
{
	*print = hash_combine64(*print, hash_bytes_extended(bytes, (int) length, *print));
}

static void
add_string(uint64 *print, const char *string)
{
	add_bytes(print, string, strlen(string) + 1);
}

/* A row of the system catalog: which version of it this is. */
static void
add_version(uint64 *print, HeapTuple tuple)
{
	TransactionId made_by = HeapTupleHeaderGetRawXmin(tuple->t_data);

	add_bytes(print, &made_by, sizeof(made_by));
	add_bytes(print, &tuple->t_self, sizeof(tuple->t_self));
}

static void
add_cached(uint64 *print, HeapTuple tuple)
{
	if (!HeapTupleIsValid(tuple))
		return;
	add_version(print, tuple);
	ReleaseSysCache(tuple);
}

static void
add_capture_triggers(uint64 *print, Oid relid)
{
	Relation	catalog = table_open(TriggerRelationId, AccessShareLock);
	Oid			function = rf_triggers_capture_function();
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;

	ScanKeyInit(&key, Anum_pg_trigger_tgrelid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(relid));
	scan = systable_beginscan(catalog, TriggerRelidNameIndexId, true, NULL, 1, &key);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		if (((Form_pg_trigger) GETSTRUCT(tuple))->tgfoid == function)
			add_version(print, tuple);
	}
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
}

/* A table, and its columns unless it has those of another one. */
static void
add_table(uint64 *print, Oid relid)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
	Form_pg_class form;

	if (!HeapTupleIsValid(tuple))
		return;
	form = (Form_pg_class) GETSTRUCT(tuple);
	add_version(print, tuple);
	for (AttrNumber attnum = 1; !form->relispartition && attnum <= form->relnatts; attnum++)
		add_cached(print, SearchSysCache2(ATTNUM, ObjectIdGetDatum(relid),
										  Int16GetDatum(attnum)));
	ReleaseSysCache(tuple);
}

static void
add_relation(uint64 *print, Oid relid)
{
	char		relkind = get_rel_relkind(relid);

	add_bytes(print, &relid, sizeof(relid));
	add_table(print, relid);
	if (relkind == RELKIND_VIEW)
		add_cached(print, SearchSysCache2(RULERELNAME, ObjectIdGetDatum(relid),
										  CStringGetDatum(ViewSelectRuleName)));
	else if (relkind == RELKIND_RELATION || relkind == RELKIND_PARTITIONED_TABLE)
		add_capture_triggers(print, relid);
}

static void
add_relations(uint64 *print, List *relids)
{
	List	   *all = NIL;
	ListCell   *cell;

	/* partitions may have come since the relations were locked */
	foreach(cell, relids)
		all = list_concat_unique_oid(all, rf_table_relatives(lfirst_oid(cell)));
	list_sort(all, list_oid_cmp);
	foreach(cell, all)
		add_relation(print, lfirst_oid(cell));
}

/* The functions that a flow calls. */
typedef struct RfCalled
{
	List	   *functions;		/* that are not the server's own */
	bool		search_texts;	/* some are given a configuration of text
								 * search */
} RfCalled;

static bool
searches_texts(Oid function)
{
	Oid		   *types;
	int			ntypes;

	(void) get_func_signature(function, &types, &ntypes);
	for (int i = 0; i < ntypes; i++)
	{
		if (types[i] == REGCONFIGOID || types[i] == REGDICTIONARYOID)
			return true;
	}
	return false;
}

static bool
collect_function(Oid function, void *context)
{
	RfCalled   *called = context;

	if (function >= FirstNormalObjectId)
		called->functions = list_append_unique_oid(called->functions, function);
	called->search_texts |= searches_texts(function);
	return false;
}

static bool
collect_functions(Node *node, void *context)
{
	if (node == NULL)
		return false;
	(void) check_functions_in_node(node, collect_function, context);
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, collect_functions, context, 0);
	return expression_tree_walker(node, collect_functions, context);
}

/* Whether a function may call others that nothing is known of. */
static bool
calls_others(Oid function)
{
	HeapTuple	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	Oid			language;

	if (!HeapTupleIsValid(tuple))
		return false;
	language = ((Form_pg_proc) GETSTRUCT(tuple))->prolang;
	ReleaseSysCache(tuple);
	return language != INTERNALlanguageId && language != ClanguageId;
}

/* All rows of a system catalog that count, or just all. */
static void
add_catalog(uint64 *print, Oid relid, bool (*counts) (HeapTuple tuple))
{
	Relation	catalog = table_open(relid, AccessShareLock);
	SysScanDesc scan = systable_beginscan(catalog, InvalidOid, false, NULL, 0, NULL);
	HeapTuple	tuple;

	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		if (counts == NULL || counts(tuple))
			add_version(print, tuple);
	}
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
}

/* Whether a function is not one of the server's own. */
static bool
is_added(HeapTuple function)
{
	return ((Form_pg_proc) GETSTRUCT(function))->pronamespace != PG_CATALOG_NAMESPACE;
}

/* What decides which words a text has. */
static void
add_text_search(uint64 *print)
{
	add_catalog(print, TSConfigRelationId, NULL);
	add_catalog(print, TSConfigMapRelationId, NULL);
	add_catalog(print, TSDictionaryRelationId, NULL);
}

static RfCalled
called_by(const RfFlow *flow, Query *query)
{
	RfCalled	called = {NIL, false};

	(void) collect_functions((Node *) query, &called);
	for (int i = 0; i < flow->columns->natts; i++)
		(void) collect_functions(rf_conversion_column(flow, i), &called);
	(void) collect_functions(rf_predicate_own(flow), &called);
	return called;
}

static void
add_functions(uint64 *print, RfCalled called)
{
	bool		all = false;
	ListCell   *cell;

	foreach(cell, called.functions)
	{
		add_cached(print, SearchSysCache1(PROCOID, ObjectIdGetDatum(lfirst_oid(cell))));
		/* an aggregate is in the internal language */
		all |= calls_others(lfirst_oid(cell)) || get_func_prokind(lfirst_oid(cell)) ==
			PROKIND_AGGREGATE;
	}
	if (all)
		add_catalog(print, ProcedureRelationId, is_added);
	if (all || called.search_texts)
		add_text_search(print);
}

/*
 * What the texts of numbers, bytes and names look like, and which zone EST is.  All
 * positive values of the first setting mean the same.
 */
static void
add_settings_of_session(uint64 *print)
{
	int			digits = Min(extra_float_digits, 1);

	add_bytes(print, &digits, sizeof(digits));
	add_bytes(print, &bytea_output, sizeof(bytea_output));
	add_string(print, GetConfigOption("lc_monetary", false, false));
	add_string(print, GetConfigOption("lc_numeric", false, false));
	add_string(print, GetConfigOption("lc_time", false, false));
	add_string(print, GetConfigOption("xmlbinary", false, false));
	add_string(print, GetConfigOption("quote_all_identifiers", false, false));
	add_string(print, GetConfigOption("timezone_abbreviations", false, false));
}

static void
add_settings(uint64 *print, const RfFlow *flow)
{
	ListCell   *cell;

	add_settings_of_session(print);
	foreach(cell, flow->settings)
	{
		RfSetting  *setting = lfirst(cell);

		add_string(print, setting->name);
		add_string(print, setting->value);
	}
}

/*
 * The fingerprint of all that decides what a flow's query gives, but for rows of
 * tables.
 */
uint64
rf_fingerprint_of_sources(const RfFlow *flow, Query *query)
{
	uint64		print = 0;

	add_relations(&print, flow->read_relids);
	add_functions(&print, called_by(flow, query));
	add_settings(&print, flow);
	return print;
}

/*
 * The fingerprint of the table that it is stored in.
 */
uint64
rf_fingerprint_of_target(const RfFlow *flow)
{
	uint64		print = 0;

	add_relations(&print, list_make1_oid(flow->target));
	for (int i = 0; i < flow->columns->natts; i++)
	{
		RfType		type = rf_flow_column_type(flow, i);

		add_bytes(&print, &type.type, sizeof(type.type));
		add_bytes(&print, &type.typmod, sizeof(type.typmod));
		add_bytes(&print, &type.collation, sizeof(type.collation));
	}
	return print;
}
