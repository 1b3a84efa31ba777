/*-------------------------------------------------------------------------
 *
 * query_reads.c
 *	  The relations that a flow's query reads.
 *
 * Which they may be depends on the flow's kind: a using flow reads its stream
 * once, since each of its rows is consumed once; a where flow reads nothing
 * whose rows vanish.  A run looks again, since views in between may have been
 * replaced, and locks all of them before it takes its snapshot.  An update asks
 * the catalog only, to find the order of its flows.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "rewrite/rewriteHandler.h"
#include "storage/lmgr.h"
#include "utils/array.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "flow_catalog.h"
#include "query.h"
#include "query_reads.h"
#include "sql_text.h"
#include "target.h"

/* What a query was found to read. */
typedef struct RfReads
{
	const RfTextOrigin *origin;
	Oid			view;			/* the view being looked into */
	List	   *relids;			/* all that it reads, views too */
	Oid			stream;			/* the one to look for, or InvalidOid */
	List	   *family;			/* its partitions, children and ancestors */
	int			count;			/* how often the stream is read */
} RfReads;

static bool look_at_reads(Node *node, void *context);

static void
refuse_reads(const RfReads *reads, const char *detail)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
			 errmsg("the query of flow \"%s\" must read the stream \"%s\" exactly once",
					reads->origin->flow_name, get_rel_name(reads->stream)),
			 errdetail_internal("%s", detail),
			 errhint("Name the stream once in FROM; join other tables to it as needed.")));
}

static void
look_into_view(RfReads *reads, Oid view)
{
	Oid			outer_view = reads->view;
	Relation	relation = table_open(view, AccessShareLock);

	reads->view = view;
	(void) look_at_reads((Node *) get_view_query(relation), reads);
	table_close(relation, NoLock);
	reads->view = outer_view;
}

/* One reading of the stream, or of a part or a parent of it. */
static void
look_at_stream(RfReads *reads, const RangeTblEntry *rte)
{
	if (rte->relid != reads->stream)
	{
		if (list_member_oid(reads->family, rte->relid))
			refuse_reads(reads, psprintf("\"%s\" is a part or a parent of the stream.",
										 get_rel_name(rte->relid)));
		return;
	}
	reads->count++;
	if (!rte->inh && find_inheritance_children(rte->relid, AccessShareLock) != NIL)
		refuse_reads(reads, "ONLY leaves out rows that are consumed all the same.");
	if (rte->tablesample != NULL)
		refuse_reads(reads, "TABLESAMPLE leaves out rows that are consumed all the same.");
}

static void
look_at_relation(RfReads *reads, RangeTblEntry *rte)
{
	/* a view's own entries stand for OLD and NEW */
	if (rte->relid == reads->view)
		return;
	if (get_rel_persistence(rte->relid) == RELPERSISTENCE_TEMP)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
				 errmsg("the query of flow \"%s\" reads temporary table \"%s\"",
						reads->origin->flow_name, get_rel_name(rte->relid)),
				 errdetail("Other sessions cannot see it."),
				 errhint("Use a permanent table.")));
	if (get_rel_namespace(rte->relid) == rf_flow_namespace())
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
				 errmsg("the query of flow \"%s\" reads \"%s\"",
						reads->origin->flow_name, get_rel_name(rte->relid)),
				 errdetail("It is the extension's own, and comes and goes with flows."),
				 errhint("Read tables of your own.")));
	reads->relids = list_append_unique_oid(reads->relids, rte->relid);
	if (OidIsValid(reads->stream))
		look_at_stream(reads, rte);
	if (rte->relkind == RELKIND_VIEW)
		look_into_view(reads, rte->relid);
}

/* A WITH query is run if it is used, and once if it is used once. */
static bool
look_into_cte(CommonTableExpr *cte, RfReads *reads)
{
	int			count = reads->count;

	(void) look_at_reads(cte->ctequery, reads);
	if (reads->count > count && cte->cterefcount != 1)
		refuse_reads(reads, psprintf("WITH query \"%s\" reads it and is used %d times.",
									 cte->ctename, cte->cterefcount));
	return false;
}

static bool
look_at_reads(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, RangeTblEntry))
	{
		RangeTblEntry *rte = (RangeTblEntry *) node;

		if (rte->rtekind == RTE_RELATION)
			look_at_relation(context, rte);
		return false;
	}
	if (IsA(node, CommonTableExpr))
		return look_into_cte((CommonTableExpr *) node, context);
	if (IsA(node, Query) && ((Query *) node)->rowMarks != NIL)
		rf_query_refuse(((RfReads *) context)->origin, "It locks rows.");
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, look_at_reads, context,
								 QTW_EXAMINE_RTES_BEFORE);
	return expression_tree_walker(node, look_at_reads, context);
}

/*
 * The relations that a query reads, views and what they read among them.
 */
List *
rf_reads_of_query(const RfTextOrigin *origin, Query *query)
{
	RfReads		reads = {.origin = origin};
	RfTextContext context;

	rf_query_push_context(&context, origin, NULL);
	(void) look_at_reads((Node *) query, &reads);
	error_context_stack = context.callback.previous;
	return reads.relids;
}

/*
 * The query of a using flow reads its stream exactly once, directly or through
 * views: all of its rows are consumed, so all of them must have been read.
 */
void
rf_reads_check_stream(const RfTextOrigin *origin, Query *query, Oid stream)
{
	RfReads		reads = {.origin = origin, .stream = stream};
	RfTextContext context;

	rf_query_push_context(&context, origin, NULL);
	reads.family = rf_table_family(stream);
	(void) look_at_reads((Node *) query, &reads);
	if (reads.count != 1)
		refuse_reads(&reads, psprintf("It reads it %d times.", reads.count));
	error_context_stack = context.callback.previous;
}

static void
refuse_source(const RfTextOrigin *origin, Oid relid, const char *detail, const char *hint)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
			 errmsg("the query of flow \"%s\" must not read \"%s\"",
					origin->flow_name, get_rel_name(relid)),
			 errdetail_internal("%s", detail),
			 errhint("%s", hint)));
}

/*
 * The query of a where flow reads tables that keep their rows: no stream, and
 * not what the flow itself writes.
 */
void
rf_reads_check_sources(const RfTextOrigin *origin, Query *query, int32 flow_id, Oid target)
{
	List	   *own_family = rf_table_family(target);
	List	   *relids = rf_reads_of_query(origin, query);
	RfTextContext context;
	ListCell   *cell;

	rf_query_push_context(&context, origin, NULL);
	foreach(cell, relids)
	{
		Oid			relid = lfirst_oid(cell);
		char	   *flow_of_stream;

		if (list_member_oid(own_family, relid))
			refuse_source(origin, relid,
						  "It is the flow's own target, or a part or a parent of it.",
						  "Read the tables that the rows come from.");
		flow_of_stream = rf_catalog_flow_of_source(rf_table_family(relid), flow_id);
		if (flow_of_stream != NULL)
			refuse_source(origin, relid,
						  psprintf("It is the stream of flow \"%s\", which consumes its rows.",
								   flow_of_stream),
						  "Read the target of that flow.");
	}
	error_context_stack = context.callback.previous;
}

/* Locks for the relations that a view reads, as LOCK TABLE on the view takes them. */
typedef struct RfViewLocks
{
	bool		wait;
	bool		refused;		/* a lock was not free */
	List	   *relids;			/* what is locked */
} RfViewLocks;

static bool lock_read_relations(Node *node, void *context);

static bool
lock_relation(Oid relid, RfViewLocks *locks)
{
	if (locks->wait)
		LockRelationOid(relid, AccessShareLock);
	else if (!ConditionalLockRelationOid(relid, AccessShareLock))
		locks->refused = true;
	/* it may have been dropped meanwhile, and the view with it */
	if (locks->refused || get_rel_name(relid) == NULL)
		return false;
	locks->relids = list_append_unique_oid(locks->relids, relid);
	return true;
}

/* Lock a relation, its partitions and children, and what it reads if it is a view. */
static void
lock_with_parts(Oid relid, RfViewLocks *locks)
{
	Relation	relation;
	ListCell   *cell;

	if (!lock_relation(relid, locks))
		return;
	foreach(cell, find_all_inheritors(relid, NoLock, NULL))
		(void) lock_relation(lfirst_oid(cell), locks);
	relation = table_open(relid, NoLock);
	if (relation->rd_rel->relkind == RELKIND_VIEW)
		(void) lock_read_relations((Node *) get_view_query(relation), locks);
	table_close(relation, NoLock);
}

static bool
lock_read_relations(Node *node, void *context)
{
	RfViewLocks *locks = context;

	if (node == NULL || locks->refused)
		return locks->refused;
	if (IsA(node, RangeTblEntry))
	{
		RangeTblEntry *rte = (RangeTblEntry *) node;

		/* entries of a view itself stand for OLD and NEW */
		if (rte->rtekind == RTE_RELATION && rte->inFromCl)
			lock_with_parts(rte->relid, locks);
		return locks->refused;
	}
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, lock_read_relations, context,
								 QTW_EXAMINE_RTES_BEFORE);
	return expression_tree_walker(node, lock_read_relations, context);
}

/*
 * Lock what a flow's view reads, as reading does, down to the tables below
 * other views; false when it would have to wait and must not.
 *
 * The server itself would lock these tables only when it plans the query.  If
 * it had to wait there, for somebody who empties and refills one of them, the
 * run's snapshot would see neither the old rows nor the new ones.
 */
bool
rf_reads_lock(RfFlow *flow, bool wait)
{
	RfViewLocks locks = {.wait = wait};
	Oid			view;

	/* another view may have come to its place while a lock was waited for */
	do
	{
		view = rf_flow_find_view(flow->id);
		locks.relids = NIL;
		if (OidIsValid(view))
			lock_with_parts(view, &locks);
	} while (!locks.refused && rf_flow_find_view(flow->id) != view);
	flow->read_relids = locks.relids;
	return !locks.refused;
}

/*
 * The relations that the queries of flows name, by flow, down to the tables below
 * views, none of them locked; NIL where a flow has lost its view.
 */
List **
rf_reads_of_flows(int nflows, const int32 *flow_ids)
{
	List	  **reads = palloc0(nflows * sizeof(List *));
	List	   *views = NIL;
	RfArgs		args = {0};
	RfRow	   *rows;
	int			nrows;

	if (nflows == 0)
		return reads;
	for (int i = 0; i < nflows; i++)
		views = lappend_oid(views, rf_flow_find_view(flow_ids[i]));
	rf_arg_oids(&args, views);
	nrows = rf_query_all(rf_sql_read_relations(), &args, &rows);
	for (int i = 0; i < nrows; i++)
	{
		int			flow = (int) rf_row_int64(&rows[i], "place") - 1;

		reads[flow] = lappend_oid(reads[flow], rf_row_oid(&rows[i], "relid"));
	}
	return reads;
}

/*
 * Those of one flow.
 */
List *
rf_reads_of_flow(int32 flow_id)
{
	return rf_reads_of_flows(1, &flow_id)[0];
}
