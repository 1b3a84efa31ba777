/*-------------------------------------------------------------------------
 *
 * compat.h
 *	  The only place that knows server versions.
 *
 * Supported are PostgreSQL 15 to 18.  Code elsewhere is written against the
 * newest of them; what older ones spell differently gets the new spelling
 * here.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RF_COMPAT_H
#define RF_COMPAT_H

#include "access/htup_details.h"
#include "catalog/pg_class.h"
#include "catalog/pg_database.h"
#if PG_VERSION_NUM >= 180000
#include "commands/explain_format.h"
#include "commands/explain_state.h"
#endif
#include "commands/tablecmds.h"
#include "executor/executor.h"
#include "nodes/parsenodes.h"
#include "optimizer/optimizer.h"
#include "parser/parse_node.h"
#include "parser/parse_relation.h"
#include "pgstat.h"
#if PG_VERSION_NUM >= 180000
#include "replication/worker_internal.h"
#endif
#if PG_VERSION_NUM < 170000
#include "storage/backendid.h"
#else
#include "storage/procnumber.h"
#endif
#include "storage/itemptr.h"
#include "utils/acl.h"
#include "utils/fmgroids.h"
#include "utils/relcache.h"
#include "utils/wait_event.h"

#if PG_VERSION_NUM < 150000
#error "replace_flow needs PostgreSQL 15 or later"
#endif

#if PG_VERSION_NUM < 160000

/* Ownership checks became generic in 16. */
static inline bool
rf_class_ownercheck(Oid relid, Oid role)
{
	return pg_class_ownercheck(relid, role);
}

static inline bool
rf_database_ownercheck(Oid database, Oid role)
{
	return pg_database_ownercheck(database, role);
}

/* These were private to tid.c before 16. */
static inline Datum
ItemPointerGetDatum(const ItemPointerData *pointer)
{
	return PointerGetDatum(pointer);
}

static inline ItemPointer
DatumGetItemPointer(Datum value)
{
	return (ItemPointer) DatumGetPointer(value);
}

/* BRIN indexes stopped to block HOT updates in 16. */
#define RF_INDEX_ATTRS_BLOCKING_HOT INDEX_ATTR_BITMAP_ALL

/* Permissions moved out of the range table in 16. */
static inline void
rf_query_take_permissions(Query *query, ParseState *pstate)
{
	(void) query;
	(void) pstate;
}

#else

static inline bool
rf_class_ownercheck(Oid relid, Oid role)
{
	return object_ownercheck(RelationRelationId, relid, role);
}

static inline bool
rf_database_ownercheck(Oid database, Oid role)
{
	return object_ownercheck(DatabaseRelationId, database, role);
}

#define RF_INDEX_ATTRS_BLOCKING_HOT INDEX_ATTR_BITMAP_HOT_BLOCKING

static inline void
rf_query_take_permissions(Query *query, ParseState *pstate)
{
	query->rteperminfos = pstate->p_rteperminfos;
}

#endif

/* Counters of tables lost their prefixes in 16. */
static inline PgStat_Counter
rf_stats_live_rows(const PgStat_StatTabEntry *stats)
{
#if PG_VERSION_NUM < 160000
	return stats->n_live_tuples;
#else
	return stats->live_tuples;
#endif
}

static inline PgStat_Counter
rf_stats_dead_rows(const PgStat_StatTabEntry *stats)
{
#if PG_VERSION_NUM < 160000
	return stats->n_dead_tuples;
#else
	return stats->dead_tuples;
#endif
}

static inline PgStat_Counter
rf_stats_new_rows(const PgStat_StatTabEntry *stats)
{
#if PG_VERSION_NUM < 160000
	return stats->inserts_since_vacuum;
#else
	return stats->ins_since_vacuum;
#endif
}

/* What the parser makes of the columns of a relation of FROM: Vars. */
static inline List *
rf_relation_columns(RangeTblEntry *rte, int varno)
{
	List	   *vars;

#if PG_VERSION_NUM < 180000
	expandRTE(rte, varno, 0, -1, true, NULL, &vars);
#else
	expandRTE(rte, varno, 0, VAR_RETURNING_DEFAULT, -1, true, NULL, &vars);
#endif
	return vars;
}

/* Whether an outer join can put NULL in the place of a Var; before 16 it does not say. */
static inline bool
rf_var_is_nulled(const Var *var)
{
#if PG_VERSION_NUM < 160000
	(void) var;
	return false;
#else
	return !bms_is_empty(var->varnullingrels);
#endif
}

/* An expression over a query's tables, whatever joins and groups lie between. */
static inline Node *
rf_flatten_joins(Query *query, Node *node)
{
#if PG_VERSION_NUM < 160000
	return flatten_join_alias_vars(query, node);
#elif PG_VERSION_NUM < 180000
	return flatten_join_alias_vars(NULL, query, node);
#else
	if (query->hasGroupRTE)
		node = flatten_group_exprs(NULL, query, node);
	return flatten_join_alias_vars(NULL, query, node);
#endif
}

/*
 * The view that a subquery stands for, or InvalidOid.  Since 16 its entry keeps
 * the view; before, the view's own query has it, as the relation called "old".
 */
static inline Oid
rf_view_of_subquery(const RangeTblEntry *rte)
{
#if PG_VERSION_NUM < 160000
	RangeTblEntry *old = rte->subquery->rtable == NIL ? NULL :
		linitial_node(RangeTblEntry, rte->subquery->rtable);

	if (old == NULL || old->rtekind != RTE_RELATION || old->relkind != RELKIND_VIEW)
		return InvalidOid;
	return old->relid;
#else
	return rte->relid;
#endif
}

/* Since 18 what a query groups by is in an entry of its range table. */
static inline void
rf_replace_group_expressions(Query *query, Node *(*mutator) (Node *node, void *context),
							 void *context)
{
#if PG_VERSION_NUM < 180000
	(void) query;
	(void) mutator;
	(void) context;
#else
	ListCell   *cell;

	foreach(cell, query->rtable)
	{
		RangeTblEntry *rte = lfirst_node(RangeTblEntry, cell);

		if (rte->rtekind == RTE_GROUP)
			rte->groupexprs = (List *) mutator((Node *) rte->groupexprs, context);
	}
#endif
}

/* Empty tables, which the caller has locked, as TRUNCATE does. */
static inline void
rf_truncate(List *relations, List *relids, List *logged)
{
#if PG_VERSION_NUM < 160000
	ExecuteTruncateGuts(relations, relids, logged, DROP_RESTRICT, false);
#else
	ExecuteTruncateGuts(relations, relids, logged, DROP_RESTRICT, false, false);
#endif
}

/* Columns that are computed when they are read came with 18. */
static inline bool
rf_has_virtual_columns(TupleDesc desc)
{
#if PG_VERSION_NUM < 180000
	(void) desc;
	return false;
#else
	return desc->constr != NULL && desc->constr->has_generated_virtual;
#endif
}

/* The type that values are read as from JSON; there are such expressions since 17. */
static inline Oid
rf_type_read_from_json(Node *node)
{
#if PG_VERSION_NUM < 170000
	(void) node;
	return InvalidOid;
#else
	if (!IsA(node, JsonExpr) || ((JsonExpr *) node)->returning == NULL)
		return InvalidOid;
	return ((JsonExpr *) node)->returning->typid;
#endif
}

/* The number of this backend, from 0 up, below MaxBackends. */
static inline int
rf_backend_number(void)
{
#if PG_VERSION_NUM < 170000
	return MyBackendId - 1;
#else
	return MyProcNumber;
#endif
}

/* AT LOCAL came with 17. */
#if PG_VERSION_NUM < 170000
#define RF_TIMEZONE_TIMESTAMPTZ InvalidOid
#define RF_TIMEZONE_TIMESTAMP InvalidOid
#else
#define RF_TIMEZONE_TIMESTAMPTZ F_TIMEZONE_TIMESTAMPTZ
#define RF_TIMEZONE_TIMESTAMP F_TIMEZONE_TIMESTAMP
#endif

/* What JSON_OBJECT and the like, which came with 16, make texts of. */
static inline List *
rf_json_arguments(Node *node)
{
#if PG_VERSION_NUM >= 160000
	if (IsA(node, JsonConstructorExpr))
		return ((JsonConstructorExpr *) node)->args;
#endif
	(void) node;
	return NIL;
}

/* What pg_stat_activity shows of who waits; extensions can name it since 17. */
static inline uint32
rf_wait_event(const char *name)
{
#if PG_VERSION_NUM < 170000
	(void) name;
	return PG_WAIT_EXTENSION;
#else
	return WaitEventExtensionNew(name);
#endif
}

/* Since 18 there may be room before a tuple. */
static inline MinimalTuple
rf_form_minimal_tuple(TupleDesc desc, const Datum *values, const bool *nulls)
{
#if PG_VERSION_NUM < 180000
	return heap_form_minimal_tuple(desc, (Datum *) values, (bool *) nulls);
#else
	return heap_form_minimal_tuple(desc, values, nulls, 0);
#endif
}

/*
 * What an apply worker keeps while it works off a message, or NULL in other processes;
 * since 18 it leaves partitions open then.
 */
static inline MemoryContext
rf_leaky_apply_context(void)
{
#if PG_VERSION_NUM < 180000
	return NULL;
#else
	return ApplyMessageContext;
#endif
}

/* Run a plan to its end. */
static inline void
rf_executor_run(QueryDesc *desc)
{
#if PG_VERSION_NUM < 180000
	ExecutorRun(desc, ForwardScanDirection, 0, true);
#else
	ExecutorRun(desc, ForwardScanDirection, 0);
#endif
}

#endif							/* RF_COMPAT_H */
