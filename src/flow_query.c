/*-------------------------------------------------------------------------
 *
 * flow_query.c
 *	  The texts that define a flow: its query, and expressions over what the
 *	  query gives.
 *
 * A text is parsed on its own and must be exactly one SELECT, or exactly one
 * expression: it is never put between other words, so nothing in it can leak
 * into a statement around it.  Names are looked up here, once, with the
 * creator's search path; from then on the parsed tree counts.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/analyze.h"
#include "parser/parse_coerce.h"
#include "parser/parse_collate.h"
#include "parser/parse_expr.h"
#include "parser/parser.h"
#include "rewrite/rewriteHandler.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/varlena.h"

#include "flow.h"
#include "flow_catalog.h"
#include "flow_query.h"
#include "target.h"

static void
add_context(void *arg)
{
	RfTextOrigin *origin = arg;

	errcontext("parameter \"%s\" of flow \"%s\"", origin->parameter, origin->flow_name);
}

static void
push_context(ErrorContextCallback *callback, const RfTextOrigin *origin)
{
	callback->previous = error_context_stack;
	callback->callback = add_context;
	callback->arg = unconstify(RfTextOrigin *, origin);
	error_context_stack = callback;
}

static void
refuse_query(const RfTextOrigin *origin, const char *detail)
{
	ereport(ERROR,
			(errcode(ERRCODE_SYNTAX_ERROR),
			 errmsg("the query of flow \"%s\" is not a plain SELECT", origin->flow_name),
			 errdetail_internal("%s", detail),
			 errhint("Give one SELECT that only reads.")));
}

/*
 * Parse and analyze a query, under the caller's search path.
 */
Query *
rf_query_parse(const RfTextOrigin *origin, const char *text)
{
	ErrorContextCallback callback;
	List	   *statements;
	RawStmt    *statement;
	Query	   *query;

	push_context(&callback, origin);
	statements = raw_parser(text, RAW_PARSE_DEFAULT);
	if (list_length(statements) != 1)
		refuse_query(origin, psprintf("The text has %d statements.", list_length(statements)));
	statement = linitial_node(RawStmt, statements);
	if (!IsA(statement->stmt, SelectStmt))
		refuse_query(origin, "The statement is of another kind.");
	if (((SelectStmt *) statement->stmt)->intoClause != NULL)
		refuse_query(origin, "SELECT INTO creates a table.");
	query = parse_analyze_fixedparams(statement, text, NULL, 0, NULL);
	if (query->commandType != CMD_SELECT)
		refuse_query(origin, "The statement is of another kind.");
	if (query->hasModifyingCTE)
		refuse_query(origin, "A WITH clause changes data.");
	error_context_stack = callback.previous;
	return query;
}

/* What a query reads. */
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
		refuse_query(((RfReads *) context)->origin, "It locks rows.");
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, look_at_reads, context,
								 QTW_EXAMINE_RTES_BEFORE);
	return expression_tree_walker(node, look_at_reads, context);
}

/*
 * The query of a using flow reads its stream exactly once, directly or through
 * views: all of its rows are consumed, so all of them must have been read.
 */
void
rf_query_check_stream(const RfTextOrigin *origin, Query *query, Oid stream)
{
	RfReads		reads = {.origin = origin, .stream = stream};
	ErrorContextCallback callback;

	push_context(&callback, origin);
	reads.family = rf_table_family(stream);
	(void) look_at_reads((Node *) query, &reads);
	if (reads.count != 1)
		refuse_reads(&reads, psprintf("It reads it %d times.", reads.count));
	error_context_stack = callback.previous;
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
rf_query_check_sources(const RfTextOrigin *origin, Query *query, int32 flow_id, Oid target)
{
	RfReads		reads = {.origin = origin};
	List	   *own_family = rf_table_family(target);
	ErrorContextCallback callback;
	ListCell   *cell;

	push_context(&callback, origin);
	(void) look_at_reads((Node *) query, &reads);
	foreach(cell, reads.relids)
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
	error_context_stack = callback.previous;
}

static void
refuse_expression(const RfTextOrigin *origin, const char *detail)
{
	ereport(ERROR,
			(errcode(ERRCODE_SYNTAX_ERROR),
			 errmsg("parameter \"%s\" of flow \"%s\" is not a single expression",
					origin->parameter, origin->flow_name),
			 errdetail_internal("%s", detail),
			 errhint("Give one expression over the columns that the query gives.")));
}

/*
 * Parse a text that must be one expression.
 */
Node *
rf_expression_parse(const RfTextOrigin *origin, const char *text)
{
	ErrorContextCallback callback;
	List	   *statements;
	SelectStmt *select;
	ResTarget  *target;

	push_context(&callback, origin);
	statements = raw_parser(text, RAW_PARSE_PLPGSQL_EXPR);
	select = castNode(SelectStmt, linitial_node(RawStmt, statements)->stmt);
	error_context_stack = callback.previous;

	if (list_length(select->targetList) != 1)
		refuse_expression(origin, psprintf("The text has %d expressions.",
										   list_length(select->targetList)));
	target = linitial_node(ResTarget, select->targetList);
	if (target->name != NULL)
		refuse_expression(origin, "The text names its result with AS.");
	if (select->distinctClause != NIL || select->fromClause != NIL ||
		select->whereClause != NULL || select->groupClause != NIL ||
		select->havingClause != NULL || select->windowClause != NIL ||
		select->sortClause != NIL || select->limitCount != NULL ||
		select->limitOffset != NULL || select->lockingClause != NIL ||
		select->op != SETOP_NONE)
		refuse_expression(origin, "The text has clauses of a query.");
	if (IsA(target->val, ColumnRef) &&
		IsA(llast(((ColumnRef *) target->val)->fields), A_Star))
		refuse_expression(origin, "The text stands for several columns.");
	return target->val;
}

/*
 * The name of the column, if the expression is no more than that; else NULL.
 */
const char *
rf_expression_column(Node *raw)
{
	ColumnRef  *column = (ColumnRef *) raw;

	if (!IsA(raw, ColumnRef) || list_length(column->fields) != 1 ||
		!IsA(linitial(column->fields), String))
		return NULL;
	return strVal(linitial(column->fields));
}

/*
 * Give an expression its meaning.  required_type is boolean or nothing.
 */
Node *
rf_expression_analyze(const RfTextOrigin *origin, ParseState *pstate,
					  Node *raw, const char *text, Oid required_type)
{
	ErrorContextCallback callback;
	Node	   *expression;

	push_context(&callback, origin);
	pstate->p_sourcetext = text;
	expression = transformExpr(pstate, raw, EXPR_KIND_WHERE);
	if (required_type == BOOLOID)
		expression = coerce_to_boolean(pstate, expression, origin->parameter);
	else if (exprType(expression) == UNKNOWNOID)
		expression = coerce_type(pstate, expression, UNKNOWNOID, TEXTOID, -1,
								 COERCION_IMPLICIT, COERCE_IMPLICIT_CAST, -1);
	assign_expr_collations(pstate, expression);
	error_context_stack = callback.previous;

	if (pstate->p_hasSubLinks)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("parameter \"%s\" of flow \"%s\" has a subquery",
						origin->parameter, origin->flow_name),
				 errdetail("It is an expression over one row that the query gives."),
				 errhint("Join in the query what the expression needs.")));
	if (contain_volatile_functions(expression))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
				 errmsg("%sparameter \"%s\" of flow \"%s\" calls a volatile function",
						origin->is_predicate ? "REPLACE_WHERE_NOT_DETERMINISTIC: " : "",
						origin->parameter, origin->flow_name),
				 errdetail("Its value for a row could differ from run to run."),
				 errhint("Use columns, and functions that are immutable or stable.")));
	return expression;
}

/*
 * The position of a name among others, or -1.
 */
int
rf_name_position(const char *name, int nnames, char **names)
{
	for (int i = 0; i < nnames; i++)
	{
		if (strcmp(names[i], name) == 0)
			return i;
	}
	return -1;
}

/*
 * The name that a mistyped one most likely stands for, or NULL.
 */
char *
rf_closest_name(const char *name, int nnames, char **names)
{
	int			length = strlen(name);
	int			best_distance = length / 2 + 1;
	char	   *best = NULL;

	/* no column has so long a name */
	if (length >= NAMEDATALEN)
		return NULL;
	for (int i = 0; i < nnames; i++)
	{
		int			distance;

		if (pg_strcasecmp(name, names[i]) == 0)
			return names[i];
		distance = varstr_levenshtein_less_equal(name, length, names[i], strlen(names[i]),
												 1, 1, 1, best_distance - 1, true);
		if (distance < best_distance)
		{
			best_distance = distance;
			best = names[i];
		}
	}
	return best;
}
