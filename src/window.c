/*-------------------------------------------------------------------------
 *
 * window.c
 *	  The window of a where flow, as queries.
 *
 * Two queries tell what a run replaces: the target's rows for which the
 * predicate is true, and the rows of the flow's query for which it is.  The
 * predicate is about values as the target stores them.  So for the query's rows
 * each column in it is cast as it would be on its way into the target.
 *
 * Both are parse trees, made of what was stored as such: no text is read again.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/sysattr.h"
#include "access/table.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/prep.h"
#include "parser/parse_node.h"
#include "parser/parse_relation.h"

#include "compat.h"
#include "conversion.h"
#include "flow_view.h"
#include "push_down.h"
#include "query.h"
#include "where_predicate.h"
#include "window.h"

static void
add_target(Query *query, Node *expression, char *name)
{
	query->targetList = lappend(query->targetList,
								makeTargetEntry((Expr *) expression,
												list_length(query->targetList) + 1,
												name, false));
}

/*
 * Rows of the target that are in the window; or all of its rows.
 */
Query *
rf_window_old_rows(const RfFlow *flow, Node *predicate, bool all)
{
	Relation	target = table_open(flow->target, AccessShareLock);
	ParseState *pstate = make_parsestate(NULL);
	ParseNamespaceItem *item = addRangeTableEntryForRelation(pstate, target, AccessShareLock,
															 NULL, true, true);
	Node	   *in_window = rf_predicate_on_target(flow, predicate);
	Query	   *query = makeNode(Query);

	addNSItemToQuery(pstate, item, true, true, true);
	query->commandType = CMD_SELECT;
	query->canSetTag = true;
	query->rtable = pstate->p_rtable;
	rf_query_take_permissions(query, pstate);
	query->jointree = makeFromExpr(pstate->p_joinlist, all ? NULL : in_window);
	add_target(query, (Node *) makeVar(1, TableOidAttributeNumber, OIDOID, -1, InvalidOid, 0),
			   "row_tableoid");
	add_target(query, (Node *) makeVar(1, SelfItemPointerAttributeNumber, TIDOID, -1,
									   InvalidOid, 0), "row_ctid");
	add_target(query, all ? in_window : makeBoolConst(true, false), "in_window");
	for (int i = 0; i < flow->columns->natts; i++)
		add_target(query, rf_flow_column_var(flow, i),
				   NameStr(TupleDescAttr(flow->columns, i)->attname));
	table_close(target, NoLock);
	return rf_query_rewrite(query);
}

/*
 * The predicate over the flow's view, as conditions that are all to be true.
 *
 * They get the form in which the server's planner uses them, so that what is
 * concluded of them here is about the same conditions.
 */
static List *
over_outputs(const RfFlow *flow, Node *predicate)
{
	Node	  **by = palloc(flow->columns->natts * sizeof(Node *));
	Node	   *condition;

	for (int i = 0; i < flow->columns->natts; i++)
		by[i] = rf_conversion_column(flow, i);
	condition = rf_predicate_replace(predicate, by);
	rf_predicate_check_casts(flow->name, condition);
	condition = eval_const_expressions(NULL, condition);
	return make_ands_implicit(canonicalize_qual((Expr *) condition, false));
}

/*
 * Rows of the flow's query that are in the window, as far as the server can tell
 * before they are finished; where it cannot, the last column says whether they
 * are.
 */
Query *
rf_window_new_rows(const RfFlow *flow, Node *predicate, List **pushed)
{
	Query	   *query = rf_query_rewrite(rf_view_query(rf_view_load(flow), flow->extras));
	List	   *residual;

	rf_push_down(query, over_outputs(flow, predicate), &residual, pushed);
	add_target(query, (Node *) make_ands_explicit(residual), "in_window");
	return query;
}

/*
 * The position of that column.
 */
int
rf_window_verdict(const RfFlow *flow)
{
	return flow->noutputs + list_length(flow->extras);
}

/*
 * The types of these rows.
 */
Oid *
rf_window_new_types(const RfFlow *flow)
{
	int			verdict = rf_window_verdict(flow);
	Oid		   *types = palloc((verdict + 1) * sizeof(Oid));

	memcpy(types, flow->read_types, verdict * sizeof(Oid));
	types[verdict] = BOOLOID;
	return types;
}
