/*-------------------------------------------------------------------------
 *
 * query.c
 *	  SQL: statements, arguments, results.
 *
 * This is the only file that talks to SPI.  A caller brackets its work with
 * rf_query_begin() and rf_query_end(); as whom, is for role.c to say.
 *
 * An error needs no clean-up here: transaction abort, also that of a
 * subtransaction, restores the SPI stack.
 *
 * Rows come and go in bulk: rf_query_each() hands rows out one by one as the
 * executor makes them, and rows go in as ephemeral named relations over
 * tuplestores (rf_query_register()).  Neither is ever held in memory whole.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "catalog/pg_type.h"
#include "commands/explain.h"
#include "commands/trigger.h"
#include "executor/executor.h"
#include "executor/instrument.h"
#include "executor/spi.h"
#include "nodes/nodeFuncs.h"
#include "rewrite/rewriteHandler.h"
#include "tcop/dest.h"
#include "tcop/tcopprot.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "compat.h"
#include "query.h"
#include "role.h"

/* What the log shows for a query that has no text. */
static const char *const tree_source = "/* query of a flow */";

/* A receiver that passes each row to a callback. */
typedef struct RfReceiver
{
	DestReceiver pub;
	RfRowCallback callback;
	void	   *arg;
	const Oid  *types;			/* what the callback relies on, or NULL */
	MemoryContext row_context;	/* what the callback uses for one row */
} RfReceiver;

void
rf_arg(RfArgs *args, Oid type, Datum value)
{
	Assert(args->count < RF_MAX_ARGS);
	args->types[args->count] = type;
	args->values[args->count] = value;
	args->nulls[args->count++] = ' ';
}

void
rf_arg_or_null(RfArgs *args, Oid type, Datum value, bool isnull)
{
	rf_arg(args, type, value);
	if (isnull)
		args->nulls[args->count - 1] = 'n';
}

/*
 * Add a text argument; NULL stands for an SQL NULL.
 */
void
rf_arg_text(RfArgs *args, const char *value)
{
	rf_arg_or_null(args, TEXTOID, value == NULL ? (Datum) 0 : CStringGetTextDatum(value),
				   value == NULL);
}

/*
 * Add an argument that is an array of OIDs.
 */
void
rf_arg_oids(RfArgs *args, const List *oids)
{
	Datum	   *values = palloc(list_length(oids) * sizeof(Datum));
	ListCell   *cell;

	foreach(cell, oids)
		values[foreach_current_index(cell)] = ObjectIdGetDatum(lfirst_oid(cell));
	rf_arg(args, OIDARRAYOID,
		   PointerGetDatum(construct_array(values, list_length(oids), OIDOID, sizeof(Oid), true,
										   TYPALIGN_INT)));
}

Datum
rf_row_datum(const RfRow *row, const char *column, bool *isnull)
{
	int			attno = SPI_fnumber(row->desc, column);

	if (attno <= 0)
		elog(ERROR, "unexpected result: no column \"%s\"", column);
	return heap_getattr(row->tuple, attno, row->desc, isnull);
}

/*
 * A column's value as text, or NULL.
 */
char *
rf_row_text(const RfRow *row, const char *column)
{
	bool		isnull;

	/* the other one knows what to do about a column that is not there */
	(void) rf_row_datum(row, column, &isnull);
	return SPI_getvalue(row->tuple, row->desc, SPI_fnumber(row->desc, column));
}

Oid
rf_row_oid(const RfRow *row, const char *column)
{
	bool		isnull;
	Datum		value = rf_row_datum(row, column, &isnull);

	return isnull ? InvalidOid : DatumGetObjectId(value);
}

/*
 * A column of type integer or bigint; NULL reads as zero.
 */
int64
rf_row_int64(const RfRow *row, const char *column)
{
	bool		isnull;
	Datum		value = rf_row_datum(row, column, &isnull);

	if (isnull)
		return 0;
	if (SPI_gettypeid(row->desc, SPI_fnumber(row->desc, column)) == INT4OID)
		return DatumGetInt32(value);
	return DatumGetInt64(value);
}

bool
rf_row_bool(const RfRow *row, const char *column)
{
	bool		isnull;
	Datum		value = rf_row_datum(row, column, &isnull);

	return !isnull && DatumGetBool(value);
}

/*
 * Open a connection; give the memory context that goes with it, also when it
 * is an error that ends it.
 */
MemoryContext
rf_query_begin(void)
{
	MemoryContext caller = CurrentMemoryContext;

	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "unexpected failure of SPI_connect");
	/* What callers allocate outlives the connection. */
	return MemoryContextSwitchTo(caller);
}

/*
 * Open a connection that can commit, as a procedure can.
 */
void
rf_query_begin_transactions(void)
{
	MemoryContext caller = CurrentMemoryContext;

	if (SPI_connect_ext(SPI_OPT_NONATOMIC) != SPI_OK_CONNECT)
		elog(ERROR, "unexpected failure of SPI_connect_ext");
	MemoryContextSwitchTo(caller);
}

/*
 * Commit, and go on in a new transaction.
 */
void
rf_query_commit(void)
{
	MemoryContext caller = CurrentMemoryContext;

	SPI_commit();
	MemoryContextSwitchTo(caller);
}

void
rf_query_end(void)
{
	MemoryContext caller = CurrentMemoryContext;

	if (SPI_finish() != SPI_OK_FINISH)
		elog(ERROR, "unexpected failure of SPI_finish");
	MemoryContextSwitchTo(caller);
}

static EphemeralNamedRelation
name_rows(const char *name, TupleDesc desc, Tuplestorestate *rows, double nrows)
{
	EphemeralNamedRelation enr = palloc0(sizeof(EphemeralNamedRelationData));

	enr->md.name = pstrdup(name);
	enr->md.reliddesc = InvalidOid;
	enr->md.tupdesc = desc;
	enr->md.enrtype = ENR_NAMED_TUPLESTORE;
	enr->md.enrtuples = nrows;
	enr->reldata = rows;
	return enr;
}

/*
 * Let statements read a tuplestore under a name.  The number of rows goes to
 * the planner.
 */
void
rf_query_register(const char *name, TupleDesc desc, Tuplestorestate *rows,
				  double nrows)
{
	/* SPI keeps its list of names in the current context */
	MemoryContext caller = MemoryContextSwitchTo(CurTransactionContext);

	if (SPI_register_relation(name_rows(name, desc, rows, nrows)) != SPI_OK_REL_REGISTER)
		elog(ERROR, "unexpected failure to register \"%s\"", name);
	MemoryContextSwitchTo(caller);
}

void
rf_query_unregister(const char *name)
{
	MemoryContext caller = CurrentMemoryContext;

	if (SPI_unregister_relation(name) != SPI_OK_REL_UNREGISTER)
		elog(ERROR, "unexpected failure to unregister \"%s\"", name);
	MemoryContextSwitchTo(caller);
}

/*
 * Run one statement with arguments and leave its result, if any, to the
 * caller as SPI_tuptable.
 */
static uint64
execute(const char *sql, const RfArgs *args)
{
	int			result;

	if (args == NULL)
		result = SPI_execute(sql, false, 0);
	else
		result = SPI_execute_with_args(sql, args->count,
									   (Oid *) args->types,
									   (Datum *) args->values,
									   args->nulls, false, 0);
	if (result < 0)
		elog(ERROR, "unexpected result %s of statement: %s",
			 SPI_result_code_string(result), sql);
	return SPI_processed;
}

static void
take_row(RfRow *row, uint64 index)
{
	row->desc = CreateTupleDescCopy(SPI_tuptable->tupdesc);
	row->tuple = heap_copytuple(SPI_tuptable->vals[index]);
}

/*
 * Run a statement; give the number of rows that it wrote or returned.
 */
uint64
rf_query_execute(const char *sql, const RfArgs *args)
{
	MemoryContext caller = CurrentMemoryContext;
	uint64		processed = execute(sql, args);

	SPI_freetuptable(SPI_tuptable);
	MemoryContextSwitchTo(caller);
	return processed;
}

/*
 * Run a statement and take its first row; false when there is none.
 */
bool
rf_query_first(const char *sql, const RfArgs *args, RfRow *row)
{
	MemoryContext caller = CurrentMemoryContext;
	bool		found = execute(sql, args) > 0;

	MemoryContextSwitchTo(caller);
	if (found)
		take_row(row, 0);
	SPI_freetuptable(SPI_tuptable);
	MemoryContextSwitchTo(caller);
	return found;
}

/*
 * Run a statement and take all its rows.  For results known to be small.
 */
int
rf_query_all(const char *sql, const RfArgs *args, RfRow **rows)
{
	MemoryContext caller = CurrentMemoryContext;
	int			nrows = (int) execute(sql, args);

	MemoryContextSwitchTo(caller);
	*rows = palloc0(nrows * sizeof(RfRow));
	for (int i = 0; i < nrows; i++)
		take_row(&(*rows)[i], i);
	SPI_freetuptable(SPI_tuptable);
	MemoryContextSwitchTo(caller);
	return nrows;
}

static bool
receive_row(TupleTableSlot *slot, DestReceiver *self)
{
	RfReceiver *receiver = (RfReceiver *) self;
	MemoryContext caller = MemoryContextSwitchTo(receiver->row_context);

	receiver->callback(slot, receiver->arg);
	MemoryContextSwitchTo(caller);
	MemoryContextReset(receiver->row_context);
	return true;
}

/*
 * The callback takes values for what they were when the flow was opened.  Code
 * of users has run since, and may have changed a table or a view.
 */
static void
receive_startup(DestReceiver *self, int operation, TupleDesc desc)
{
	const RfReceiver *receiver = (RfReceiver *) self;

	(void) operation;
	for (int i = 0; receiver->types != NULL && i < desc->natts; i++)
	{
		Oid			type = TupleDescAttr(desc, i)->atttypid;

		if (OidIsValid(receiver->types[i]) && receiver->types[i] != type)
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_IN_USE),
					 errmsg("a table of the flow was changed during the run"),
					 errdetail("Column \"%s\" had type %s and now has type %s.",
							   NameStr(TupleDescAttr(desc, i)->attname),
							   format_type_be(receiver->types[i]), format_type_be(type)),
					 errhint("Do not change tables in triggers and functions that the run calls.")));
	}
}

static void
receive_nothing(DestReceiver *self)
{
	(void) self;
}

static RfReceiver
begin_receiver(const Oid *types, RfRowCallback callback, void *arg)
{
	RfReceiver	receiver = {
		{receive_row, receive_startup, receive_nothing, receive_nothing, DestNone},
		callback, arg, types,
		AllocSetContextCreate(CurrentMemoryContext, "replace_flow row", ALLOCSET_DEFAULT_SIZES)
	};

	return receiver;
}

/*
 * Settings for a statement over rows that we hand in; give the nest level to
 * undo them.
 *
 * The planner knows the number of our rows, but not that they are distinct and
 * in order, and it prices each probe as a random read of the disk.  So it
 * turns to scans and hashes of the whole table where probes are many times
 * cheaper.  The price also makes it compile what is simple.
 */
static int
begin_plan(RfPlan plan)
{
	int			guc_level = NewGUCNestLevel();

	if (plan == RF_PLAN_CACHED || plan == RF_PLAN_PROBE_CACHED)
		rf_role_set("random_page_cost", "0.1");
	if (plan == RF_PLAN_PROBE_CACHED)
		rf_role_set("enable_memoize", "off");
	if (plan == RF_PLAN_SCAN)
		rf_role_set("enable_nestloop", "off");
	if (plan == RF_PLAN_PROBE)
	{
		rf_role_set("jit", "off");
		rf_role_set("enable_hashjoin", "off");
		rf_role_set("enable_mergejoin", "off");
		rf_role_set("enable_nestloop", "on");
		rf_role_set("enable_indexscan", "on");
		rf_role_set("enable_tidscan", "on");
	}
	return guc_level;
}

/*
 * Prepare a statement and plan it; the plan is kept with it.  The settings hold
 * while it is planned and not while it runs, since they are not meant for
 * triggers that it fires.
 */
static SPIPlanPtr
prepare(const char *sql, RfPlan plan)
{
	int			guc_level = begin_plan(plan);
	SPIPlanPtr	statement = SPI_prepare(sql, 0, NULL);
	CachedPlan *cached;

	if (statement == NULL)
		elog(ERROR, "unexpected failure to prepare: %s", sql);
	/* a statement that rules made into several has no single plan */
	cached = SPI_plan_get_cached_plan(statement);
	if (cached != NULL)
		ReleaseCachedPlan(cached, NULL);
	AtEOXact_GUC(false, guc_level);
	return statement;
}

/*
 * Run a statement and hand each row that it gives to a callback, which runs in
 * a memory context that is reset after each row.  The result is the number of
 * rows.
 */
static uint64
execute_each(const char *sql, RfPlan plan, bool read_only, const Oid *types,
			 RfRowCallback callback, void *arg)
{
	MemoryContext caller = CurrentMemoryContext;
	SPIExecuteOptions options = {0};
	RfReceiver	receiver = begin_receiver(types, callback, arg);
	SPIPlanPtr	statement = prepare(sql, plan);
	int			result;
	uint64		processed;

	options.read_only = read_only;
	options.dest = &receiver.pub;
	result = SPI_execute_plan_extended(statement, &options);
	processed = SPI_processed;
	if (result < 0)
		elog(ERROR, "unexpected result %s of statement: %s",
			 SPI_result_code_string(result), sql);
	SPI_freeplan(statement);
	MemoryContextSwitchTo(caller);
	MemoryContextDelete(receiver.row_context);
	return processed;
}

/*
 * Run a query under the active snapshot as it is, and hand each row to a
 * callback, which relies on these types (InvalidOid: on none; NULL: on any).
 */
void
rf_query_each(const char *sql, RfPlan plan, const Oid *types,
			  RfRowCallback callback, void *arg)
{
	/* read_only is what makes SPI keep to the active snapshot */
	(void) execute_each(sql, plan, true, types, callback, arg);
}

/*
 * Put queries in the place of the views that a query reads.
 */
Query *
rf_query_rewrite(Query *query)
{
	AcquireRewriteLocks(query, true, false);
	return linitial_node(Query, QueryRewrite(query));
}

static QueryEnvironment *
environment_of(const RfGivenRows *given)
{
	QueryEnvironment *environment;

	if (given == NULL)
		return NULL;
	environment = create_queryEnv();
	register_ENR(environment, name_rows(given->name, given->desc, given->rows, given->nrows));
	return environment;
}

/* Whether a query needs rows in an order, as far as its clauses say. */
static bool
orders_rows(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Query))
	{
		Query	   *query = (Query *) node;

		return query->sortClause != NIL || query->windowClause != NIL || query->hasDistinctOn ||
			query_tree_walker(query, orders_rows, context, 0);
	}
	return expression_tree_walker(node, orders_rows, context);
}

/*
 * Plan a query that is a parse tree.  The planner expects few rows of a join with
 * rows that it knows nothing of, and would sort them all the same, to group them.
 */
static PlannedStmt *
plan_query(Query *query, RfPlan plan)
{
	int			guc_level = begin_plan(plan);
	PlannedStmt *planned;

	if ((plan == RF_PLAN_SCAN || plan == RF_PLAN_PROBE_CACHED) &&
		!orders_rows((Node *) query, NULL))
		rf_role_set("enable_sort", "off");
	planned = pg_plan_query(query, tree_source, 0, NULL);
	AtEOXact_GUC(false, guc_level);
	return planned;
}

/*
 * Like rf_query_each(), for a query that is a parse tree, already rewritten, and
 * reads rows that are given, or none (NULL).
 */
void
rf_query_each_of(Query *query, RfPlan plan, const RfGivenRows *given, const Oid *types,
				 RfRowCallback callback, void *arg)
{
	MemoryContext caller = CurrentMemoryContext;
	RfReceiver	receiver = begin_receiver(types, callback, arg);
	PlannedStmt *planned = plan_query(query, plan);
	QueryDesc  *desc = CreateQueryDesc(planned, tree_source, GetActiveSnapshot(),
									   InvalidSnapshot, &receiver.pub, NULL,
									   environment_of(given), 0);

	ExecutorStart(desc, 0);
	rf_executor_run(desc);
	ExecutorFinish(desc);
	ExecutorEnd(desc);
	FreeQueryDesc(desc);
	MemoryContextSwitchTo(caller);
	MemoryContextDelete(receiver.row_context);
}

/*
 * What the planner expects such a query to cost, and how many rows to give.
 */
double
rf_query_cost(Query *query, RfPlan plan, double *nrows)
{
	Plan	   *tree = plan_query(query, plan)->planTree;

	*nrows = tree->plan_rows;
	return tree->total_cost;
}

/*
 * The plan of such a query, as EXPLAIN shows it.
 */
char *
rf_query_plan(Query *query)
{
	PlannedStmt *plan = pg_plan_query(query, tree_source, 0, NULL);
	QueryDesc  *desc = CreateQueryDesc(plan, tree_source, GetActiveSnapshot(),
									   InvalidSnapshot, None_Receiver, NULL, NULL, 0);
	ExplainState *explain = NewExplainState();

	ExecutorStart(desc, EXEC_FLAG_EXPLAIN_ONLY);
	ExplainBeginOutput(explain);
	explain->costs = true;
	ExplainPrintPlan(explain, desc);
	ExplainEndOutput(explain);
	ExecutorEnd(desc);
	FreeQueryDesc(desc);
	return explain->str->data;
}

/*
 * Begin statements that are one change: their AFTER triggers, and with them
 * the checks of foreign keys, wait until rf_query_end_writes().
 */
void
rf_query_begin_writes(void)
{
	AfterTriggerBeginQuery();
}

void
rf_query_end_writes(void)
{
	CommandCounterIncrement();
	PushActiveSnapshot(GetTransactionSnapshot());
	AfterTriggerEndQuery(NULL);
	PopActiveSnapshot();
}

static uint64
write_without_firing(const char *sql, RfPlan plan)
{
	MemoryContext caller = CurrentMemoryContext;
	SPIPlanPtr	statement = prepare(sql, plan);
	int			result = SPI_execute_snapshot(statement, NULL, NULL, InvalidSnapshot,
											  InvalidSnapshot, false, false, 0);
	uint64		processed = SPI_processed;

	if (result < 0)
		elog(ERROR, "unexpected result %s of statement: %s",
			 SPI_result_code_string(result), sql);
	SPI_freeplan(statement);
	MemoryContextSwitchTo(caller);
	return processed;
}

/*
 * Run one of the statements of a change; give the number of rows written.  If
 * it returns rows, each is handed to a callback, and its AFTER triggers fire at
 * its own end: SPI can do only one of the two.
 */
uint64
rf_query_write(const char *sql, RfPlan plan, const Oid *types,
			   RfRowCallback callback, void *arg)
{
	if (callback == NULL)
		return write_without_firing(sql, plan);
	return execute_each(sql, plan, false, types, callback, arg);
}

/*
 * Run a statement that writes the rows that a snapshot sees, as the command
 * that the snapshot's command id stands for.  Gives the number of rows that it
 * found and the number that it wrote: fewer when another session has changed
 * one since, or when the same command has written it already.
 *
 * SPI would move the snapshot's command id on, and with it see rows that this
 * transaction wrote after the snapshot was taken.
 */
RfWritten
rf_query_write_as_of(const char *sql, Snapshot snapshot)
{
	MemoryContext caller = CurrentMemoryContext;
	SPIPlanPtr	plan = prepare(sql, RF_PLAN_FREE);
	CachedPlan *cached;
	QueryDesc  *desc;
	Instrumentation *found;
	RfWritten	result;

	cached = SPI_plan_get_cached_plan(plan);
	if (cached == NULL || list_length(cached->stmt_list) != 1)
		elog(ERROR, "unexpected plan of statement: %s", sql);

	desc = CreateQueryDesc(linitial_node(PlannedStmt, cached->stmt_list), sql,
						   snapshot, InvalidSnapshot, None_Receiver,
						   NULL, NULL, INSTRUMENT_ROWS);
	ExecutorStart(desc, 0);
	desc->estate->es_output_cid = snapshot->curcid;
	rf_executor_run(desc);
	found = outerPlanState(desc->planstate)->instrument;
	InstrEndLoop(found);
	result.found = (uint64) found->ntuples;
	result.written = desc->estate->es_processed;
	ExecutorFinish(desc);
	ExecutorEnd(desc);
	FreeQueryDesc(desc);

	ReleaseCachedPlan(cached, NULL);
	SPI_freeplan(plan);
	CommandCounterIncrement();
	MemoryContextSwitchTo(caller);
	return result;
}
