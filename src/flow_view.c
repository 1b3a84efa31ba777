/*-------------------------------------------------------------------------
 *
 * flow_view.c
 *	  The views that hold what a flow's creator wrote.
 *
 * The flow's view selects all columns of the flow's query, as a subquery named q, and
 * after them what is computed over these: the sequence where it is more than a
 * column, the tombstone mark, and a truth value per expectation.
 *
 *		SELECT q.a, q.b, (expression) AS sequence, ... FROM (query) q
 *
 * A where flow has another one for its predicate, which is about rows of the
 * target.  It must not depend on the target, which can be dropped and changed
 * without it.  So it is an expression over a row of the same types:
 *
 *		SELECT t.a, t.b, (predicate) AS predicate
 *		FROM (SELECT NULL::integer AS a, NULL::date AS b) t
 *
 * Views live in the extension's schema and belong to the flow's owner.  They are
 * put together, stored and taken up again as parse trees; so what names and
 * operators mean was settled when each text was first read.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/sysattr.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "commands/tablecmds.h"
#include "commands/view.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parse_node.h"
#include "parser/parse_relation.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteHandler.h"
#include "rewrite/rewriteManip.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "compat.h"
#include "flow_view.h"
#include "query.h"
#include "query_reads.h"
#include "role.h"
#include "sql_text.h"

struct RfView
{
	const char *flow_name;
	ParseState *pstate;			/* its only relation is the query */
	List	   *targets;		/* of TargetEntry: the view's columns */
	int			noutputs;		/* how many of them the query gives */
	const RfView *same_query;	/* another view over the same query, or NULL */
};

static RfView *
begin(const char *flow_name, Query *query, const char *alias)
{
	RfView	   *view = palloc0(sizeof(RfView));
	ParseNamespaceItem *item;

	view->flow_name = flow_name;
	view->pstate = make_parsestate(NULL);
	item = addRangeTableEntryForSubquery(view->pstate, query, makeAlias(alias, NIL),
										 false, true);
	addNSItemToQuery(view->pstate, item, true, true, true);
	view->targets = expandNSItemAttrs(view->pstate, item, 0, true, -1);
	view->noutputs = list_length(view->targets);
	return view;
}

/*
 * The query that the view selects from.
 */
Query *
rf_view_inner_query(const RfView *view)
{
	return linitial_node(RangeTblEntry, view->pstate->p_rtable)->subquery;
}

static TargetEntry *
find(const RfView *view, const char *name)
{
	ListCell   *cell;

	foreach(cell, view->targets)
	{
		TargetEntry *target = lfirst(cell);

		if (strcmp(target->resname, name) == 0)
			return target;
	}
	return NULL;
}

/*
 * Begin a view over a query.
 */
RfView *
rf_view_begin(const char *flow_name, Query *query)
{
	RfView	   *view = begin(flow_name, query, "q");
	ListCell   *cell;

	foreach(cell, view->targets)
	{
		TargetEntry *target = lfirst(cell);

		if (find(view, target->resname) != target)
			ereport(ERROR,
					(errcode(ERRCODE_DUPLICATE_COLUMN),
					 errmsg("the query of flow \"%s\" gives column \"%s\" twice",
							flow_name, target->resname),
					 errdetail("Columns are matched to those of the target by name."),
					 errhint("Give one of them another name with AS.")));
	}
	return view;
}

/*
 * Begin a view over a row that has these columns.
 */
RfView *
rf_view_begin_row(const char *flow_name, const char *alias, TupleDesc columns)
{
	Query	   *query = makeNode(Query);

	query->commandType = CMD_SELECT;
	query->canSetTag = true;
	query->jointree = makeFromExpr(NIL, NULL);
	for (int i = 0; i < columns->natts; i++)
	{
		Form_pg_attribute column = TupleDescAttr(columns, i);
		Const	   *value = makeConst(column->atttypid, column->atttypmod,
									  column->attcollation, column->attlen, (Datum) 0,
									  true, column->attbyval);

		query->targetList = lappend(query->targetList,
									makeTargetEntry((Expr *) value, i + 1,
													pstrdup(NameStr(column->attname)), false));
	}
	return begin(flow_name, query, alias);
}

/*
 * The subquery of a stored view, and its place in the range table; NULL when
 * the view is more than a target list over a subquery.
 */
static Query *
find_subquery(Query *stored, int *varno)
{
	FromExpr   *from = stored->jointree;
	RangeTblEntry *rte;

	if (list_length(from->fromlist) != 1 || from->quals != NULL ||
		!IsA(linitial(from->fromlist), RangeTblRef) ||
		stored->cteList != NIL || stored->groupClause != NIL || stored->groupingSets != NIL ||
		stored->havingQual != NULL || stored->distinctClause != NIL ||
		stored->sortClause != NIL || stored->limitOffset != NULL ||
		stored->limitCount != NULL || stored->setOperations != NULL ||
		stored->hasAggs || stored->hasWindowFuncs || stored->hasTargetSRFs ||
		stored->hasSubLinks)
		return NULL;
	*varno = linitial_node(RangeTblRef, from->fromlist)->rtindex;
	rte = rt_fetch(*varno, stored->rtable);
	return rte->rtekind == RTE_SUBQUERY ? rte->subquery : NULL;
}

/* Whether a stored view begins with all columns of its subquery. */
static bool
begins_with_columns(int ncolumns, List *targets, int varno)
{
	if (list_length(targets) < ncolumns)
		return false;
	for (int i = 0; i < ncolumns; i++)
	{
		Var		   *var = (Var *) list_nth_node(TargetEntry, targets, i)->expr;

		if (!IsA(var, Var) || var->varno != varno || var->varattno != i + 1)
			return false;
	}
	return true;
}

/* Whether a flow's view gives the query's columns, as the catalog has them. */
static bool
gives_outputs(const RfFlow *flow, const RfView *view)
{
	if (view->noutputs != flow->noutputs)
		return false;
	for (int i = 0; i < view->noutputs; i++)
	{
		if (strcmp(list_nth_node(TargetEntry, view->targets, i)->resname,
				   flow->outputs[i]) != 0)
			return false;
	}
	return true;
}

static void
check_verdict(const RfFlow *flow, const RfView *view, const char *column)
{
	if (find(view, column) == NULL || rf_view_column_type(view, column).type != BOOLOID)
		rf_flow_report_changed_view(flow, flow->view);
}

/* Whether the view still has what was computed over the outputs. */
static void
check_computed(const RfFlow *flow, const RfView *view)
{
	ListCell   *cell;

	if (flow->sequence_view_column != NULL && find(view, flow->sequence_view_column) == NULL)
		rf_flow_report_changed_view(flow, flow->view);
	if (flow->tombstone_view_column != NULL)
		check_verdict(flow, view, flow->tombstone_view_column);
	foreach(cell, flow->expectations)
		check_verdict(flow, view, ((RfExpectation *) lfirst(cell))->view_column);
}

/*
 * Take up a view as it was stored, and see that it has the form of one of ours:
 * it belongs to the flow's owner, who could have put something else in its
 * place.
 */
static RfView *
take_up(const RfFlow *flow, Oid relid)
{
	Relation	relation = table_open(relid, AccessShareLock);
	Query	   *stored;
	Query	   *query;
	int			varno = 0;
	RfView	   *view;

	if (relation->rd_rel->relkind != RELKIND_VIEW)
		rf_flow_report_changed_view(flow, relid);
	stored = copyObject(get_view_query(relation));
	query = find_subquery(stored, &varno);
	if (query == NULL)
		rf_flow_report_changed_view(flow, relid);
	view = begin(flow->name, query, rt_fetch(varno, stored->rtable)->eref->aliasname);
	if (!begins_with_columns(view->noutputs, stored->targetList, varno))
		rf_flow_report_changed_view(flow, relid);
	ChangeVarNodes((Node *) stored->targetList, varno, 1, 0);
	view->targets = stored->targetList;
	table_close(relation, NoLock);
	return view;
}

/*
 * Take up a flow's view, which must be what was made of the definition.
 */
RfView *
rf_view_load(const RfFlow *flow)
{
	RfView	   *view = take_up(flow, flow->view);

	if (!gives_outputs(flow, view))
		rf_flow_report_changed_view(flow, flow->view);
	check_computed(flow, view);
	return view;
}

/*
 * Take up a view over a row, with one condition on columns of it.
 */
RfView *
rf_view_load_row(const RfFlow *flow, Oid relid)
{
	RfView	   *view = take_up(flow, relid);
	Bitmapset  *used = NULL;

	if (list_length(view->targets) != view->noutputs + 1 ||
		exprType(rf_view_added(view)) != BOOLOID)
		rf_flow_report_changed_view(flow, relid);
	/* numbers of system columns and of the whole row are not above zero */
	pull_varattnos(rf_view_added(view), 1, &used);
	if (bms_next_member(used, -1) >= 0 &&
		bms_next_member(used, -1) <= -FirstLowInvalidHeapAttributeNumber)
		rf_flow_report_changed_view(flow, relid);
	return view;
}

/*
 * See, before a run, that the view is as it should be, and that the query still
 * reads what it may: views in between may have been replaced.
 */
void
rf_view_check(const RfFlow *flow)
{
	RfTextOrigin origin = {.flow_name = flow->name, .parameter = "query"};
	Query	   *query = rf_view_inner_query(rf_view_load(flow));

	if (flow->kind == RF_USING)
		rf_reads_check_stream(&origin, query, flow->source);
	else
		rf_reads_check_sources(&origin, query, flow->id, flow->target);
}

/*
 * Begin a view over the same query as another's.
 */
RfView *
rf_view_again(const RfView *view)
{
	RfView	   *again = begin(view->flow_name, copyObject(rf_view_inner_query(view)), "q");

	again->same_query = view;
	return again;
}

/*
 * What the query gives: names and types; the result is their number.
 */
int
rf_view_outputs(const RfView *view, char ***names, RfType **types)
{
	*names = palloc(view->noutputs * sizeof(char *));
	*types = palloc(view->noutputs * sizeof(RfType));
	for (int i = 0; i < view->noutputs; i++)
	{
		TargetEntry *target = list_nth(view->targets, i);

		(*names)[i] = target->resname;
		(*types)[i] = rf_view_column_type(view, target->resname);
	}
	return view->noutputs;
}

static void
report_unknown_column(const RfView *view, const char *parameter, const char *column)
{
	char	  **names;
	RfType	   *types;
	int			nnames = rf_view_outputs(view, &names, &types);
	char	   *closest = rf_closest_name(column, nnames, names);

	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_COLUMN),
			 errmsg("column \"%s\" in \"%s\" of flow \"%s\" does not exist",
					column, parameter, view->flow_name),
			 errdetail("The query gives the columns %s.", rf_sql_names(nnames, names)),
			 closest != NULL ? errhint("Perhaps you meant the column \"%s\".", closest) :
			 errhint("Name one of these columns, or give it in the query.")));
}

/* A name for a column that no other column has. */
static char *
unused_name(const RfView *view, const char *name)
{
	char	   *unused = pstrdup(name);

	for (int i = 1; find(view, unused) != NULL; i++)
		unused = psprintf("%s_%d", name, i);
	return unused;
}

static char *
add(RfView *view, Node *expression, const char *name)
{
	char	   *unused = unused_name(view, name);

	view->targets = lappend(view->targets,
							makeTargetEntry((Expr *) expression,
											list_length(view->targets) + 1,
											unused, false));
	return pstrdup(unused);
}

/*
 * Add an expression as a column; give the column's name.  An expression that
 * is a column of the query is not added again.
 */
char *
rf_view_add(RfView *view, const char *parameter, const char *text,
			Oid required_type, const char *name)
{
	RfTextOrigin origin = {.flow_name = view->flow_name, .parameter = parameter};

	return rf_view_add_parsed(view, &origin, rf_expression_parse(&origin, text), text,
							  required_type, name);
}

/*
 * The same for a text that is parsed already.
 */
char *
rf_view_add_parsed(RfView *view, const RfTextOrigin *origin, Node *raw, const char *text,
				   Oid required_type, const char *name)
{
	const char *column = rf_expression_column(raw);
	Node	   *expression;

	if (column != NULL && find(view, column) == NULL)
		report_unknown_column(view, origin->parameter, column);
	expression = rf_expression_analyze(origin, view->pstate, raw, text, required_type);
	if (column != NULL && required_type == InvalidOid)
		return pstrdup(column);

	return add(view, expression, name);
}

/*
 * The expression that was added first, over columns by position.
 */
Node *
rf_view_added(const RfView *view)
{
	return (Node *) list_nth_node(TargetEntry, view->targets, view->noutputs)->expr;
}

/* How an expression moves from one view to another. */
typedef struct RfMove
{
	const RfView *from;
	const RfView *to;
	const char *parameter;
} RfMove;

static void
refuse_move(const RfMove *move, const char *detail)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
			 errmsg("%s of flow \"%s\" does not fit the new query",
					move->parameter, move->to->flow_name),
			 errdetail_internal("%s", detail),
			 errhint("Give the column in the query as before, or the expression anew.")));
}

/* Let references to columns of the query find them in another query. */
static Node *
move_columns(Node *node, void *context)
{
	const RfMove *move = context;

	if (node == NULL)
		return NULL;
	if (IsA(node, Var))
	{
		Var		   *var = (Var *) copyObject(node);
		RfType		type = {var->vartype, var->vartypmod, var->varcollid};
		char	   *name;
		TargetEntry *column;

		if (var->varattno == 0)
			refuse_move(move, "It uses the whole row.");
		name = list_nth_node(TargetEntry, move->from->targets, var->varattno - 1)->resname;
		if (name[0] == '\0')
			refuse_move(move, "It uses a column that the target has lost.");
		column = find(move->to, name);
		if (column == NULL || column->resno > move->to->noutputs)
			refuse_move(move, psprintf("It uses column \"%s\", which the query no longer gives.",
									   name));
		if (!rf_type_is_same(rf_view_column_type(move->to, name), type))
			refuse_move(move, psprintf("It uses column \"%s\", whose type has changed.", name));
		var->varattno = column->resno;
		var->varattnosyn = column->resno;
		return (Node *) var;
	}
	return expression_tree_mutator(node, move_columns, context);
}

/*
 * Take a column over from another view of the flow: a column of its query, by
 * name, or an expression that was added there.  Give the column's name here.
 */
char *
rf_view_carry(RfView *view, const RfView *from, const char *column,
			  const char *parameter, const char *name)
{
	RfMove		move = {from, view, parameter};
	TargetEntry *target = find(from, column);

	if (target->resno <= from->noutputs)
	{
		if (find(view, column) == NULL)
			refuse_move(&move, psprintf("It is column \"%s\", which the query no longer gives.",
										column));
		return pstrdup(column);
	}
	if (view->same_query == from)
		return add(view, copyObject((Node *) target->expr), name);
	return add(view, move_columns((Node *) target->expr, &move), name);
}

/*
 * Take over the expression that was added first.
 */
void
rf_view_carry_added(RfView *view, const RfView *from, const char *parameter, const char *name)
{
	RfMove		move = {from, view, parameter};

	(void) add(view, move_columns(rf_view_added(from), &move), name);
}

/*
 * A column of the query is known by another name now.
 */
void
rf_view_rename(RfView *view, int column, const char *name)
{
	list_nth_node(TargetEntry, view->targets, column)->resname = pstrdup(name);
}

/*
 * Whether an added expression uses a column of the query.
 */
bool
rf_view_uses(const RfView *view, const char *column)
{
	AttrNumber	attnum = find(view, column)->resno;
	Bitmapset  *used = NULL;
	ListCell   *cell;

	for_each_from(cell, view->targets, view->noutputs)
		pull_varattnos((Node *) lfirst_node(TargetEntry, cell)->expr, 1, &used);
	return bms_is_member(attnum - FirstLowInvalidHeapAttributeNumber, used) ||
	/* the whole row */
		bms_is_member(0 - FirstLowInvalidHeapAttributeNumber, used);
}

/*
 * Take out a column that was added.
 */
void
rf_view_remove(RfView *view, const char *name)
{
	AttrNumber	number = 0;
	ListCell   *cell;

	view->targets = list_delete_ptr(view->targets, find(view, name));
	foreach(cell, view->targets)
		((TargetEntry *) lfirst(cell))->resno = ++number;
}

RfType
rf_view_column_type(const RfView *view, const char *name)
{
	Node	   *expression = (Node *) find(view, name)->expr;
	RfType		type = {exprType(expression), exprTypmod(expression), exprCollation(expression)};

	return type;
}

/* The view as a query of its own. */
static Query *
build_query(const RfView *view)
{
	Query	   *query = makeNode(Query);
	RangeTblRef *reference = makeNode(RangeTblRef);

	reference->rtindex = 1;
	query->commandType = CMD_SELECT;
	query->canSetTag = true;
	query->rtable = view->pstate->p_rtable;
	query->jointree = makeFromExpr(list_make1(reference), NULL);
	query->targetList = view->targets;
	rf_query_take_permissions(query, view->pstate);
	return query;
}

/*
 * A query for the outputs and, after them, for those of the columns that were
 * added that are named.
 */
Query *
rf_view_query(const RfView *view, List *added)
{
	Query	   *query = build_query(view);
	ListCell   *cell;

	query->targetList = list_truncate(list_copy(view->targets), view->noutputs);
	foreach(cell, added)
		query->targetList = lappend(query->targetList,
									makeTargetEntry(find(view, lfirst(cell))->expr,
													list_length(query->targetList) + 1,
													lfirst(cell), false));
	return query;
}

/* A column of the view's relation. */
static ColumnDef *
build_column(const RfView *view, const TargetEntry *target)
{
	RfType		type = rf_view_column_type(view, target->resname);

	if (type_is_collatable(type.type) && !OidIsValid(type.collation))
		ereport(ERROR,
				(errcode(ERRCODE_INDETERMINATE_COLLATION),
				 errmsg("column \"%s\" of flow \"%s\" has no collation",
						target->resname, view->flow_name),
				 errdetail("Its value comes from values of different collations."),
				 errhint("Use the COLLATE clause to choose one.")));
	return makeColumnDef(target->resname, type.type, type.typmod, type.collation);
}

static CreateStmt *
build_relation(const RfView *view, const char *name)
{
	CreateStmt *create = makeNode(CreateStmt);
	ListCell   *cell;

	create->relation = makeRangeVar("replace_flow", pstrdup(name), -1);
	create->oncommit = ONCOMMIT_NOOP;
	foreach(cell, view->targets)
		create->tableElts = lappend(create->tableElts, build_column(view, lfirst(cell)));
	return create;
}

/* What lives in a session's temporary schema goes with the session. */
static void
refuse_temporary(const RfView *view, Oid relid)
{
	RfArgs		args = {0};
	RfRow		row;

	rf_arg(&args, OIDOID, ObjectIdGetDatum(relid));
	if (rf_query_first(rf_sql_temporary_references(), &args, &row))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
				 errmsg("flow \"%s\" uses a temporary object", view->flow_name),
				 errdetail("It is %s.", rf_row_text(&row, "object")),
				 errhint("Use what other sessions can see too.")));
}

/*
 * Create the view, or put it in the place of the one of this name.
 *
 * The relation is made by the catalog's owner, and filled with the parse tree
 * as it is: its text is not read again, under whatever role, so that no input
 * function of a type runs here and no name can change its meaning.
 */
void
rf_view_store(RfView *view, const char *name, Oid owner)
{
	Oid			before = get_relname_relid(name, rf_flow_namespace());
	Query	   *query = build_query(view);
	ObjectAddress address;
	RfRoleGuard guard;

	rf_role_assume_catalog(&guard);
	if (OidIsValid(before))
		(void) rf_query_execute(rf_sql_drop_own_view(before), NULL);
	address = DefineRelation(build_relation(view, name), RELKIND_VIEW, owner, NULL, NULL);
	CommandCounterIncrement();
	StoreViewQuery(address.objectId, query, false);
	rf_flow_depend_on_extension(RelationRelationId, address.objectId);
	CommandCounterIncrement();
	refuse_temporary(view, address.objectId);
	rf_role_restore(&guard);
}
