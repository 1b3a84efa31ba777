/*-------------------------------------------------------------------------
 *
 * query.h
 *	  SQL: statements, arguments, results.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RF_QUERY_H
#define RF_QUERY_H

#include "executor/tuptable.h"
#include "nodes/parsenodes.h"
#include "utils/snapshot.h"
#include "utils/tuplestore.h"

/* Arguments of a statement, $1 and up, in the order in which they are added. */
#define RF_MAX_ARGS 32

typedef struct RfArgs
{
	int			count;
	Oid			types[RF_MAX_ARGS];
	Datum		values[RF_MAX_ARGS];
	char		nulls[RF_MAX_ARGS];
} RfArgs;

extern void rf_arg(RfArgs *args, Oid type, Datum value);
extern void rf_arg_or_null(RfArgs *args, Oid type, Datum value, bool isnull);
extern void rf_arg_text(RfArgs *args, const char *value);
extern void rf_arg_oids(RfArgs *args, const List *oids);

/* One result row, copied into the caller's memory. */
typedef struct RfRow
{
	TupleDesc	desc;
	HeapTuple	tuple;
} RfRow;

extern Datum rf_row_datum(const RfRow *row, const char *column, bool *isnull);
extern char *rf_row_text(const RfRow *row, const char *column);
extern Oid	rf_row_oid(const RfRow *row, const char *column);
extern int64 rf_row_int64(const RfRow *row, const char *column);
extern bool rf_row_bool(const RfRow *row, const char *column);

/* How the planner is to join a table with rows that we hand in. */
typedef enum RfPlan
{
	RF_PLAN_FREE,				/* as it likes */
	RF_PLAN_PROBE,				/* one probe of the table for each of our rows */
	RF_PLAN_CACHED,				/* as if tables were in memory */
	RF_PLAN_PROBE_CACHED,		/* and probes of them are what is wanted */
	RF_PLAN_SCAN				/* no probes: the table is read, and ours
								 * looked up */
} RfPlan;

/* Rows that a statement found, and those of them that it wrote. */
typedef struct RfWritten
{
	uint64		found;
	uint64		written;
} RfWritten;

/* Rows that a query finds under a name. */
typedef struct RfGivenRows
{
	const char *name;
	TupleDesc	desc;
	Tuplestorestate *rows;
	double		nrows;
} RfGivenRows;

typedef void (*RfRowCallback) (TupleTableSlot *slot, void *arg);

extern MemoryContext rf_query_begin(void);
extern void rf_query_begin_transactions(void);
extern void rf_query_commit(void);
extern void rf_query_end(void);
extern void rf_query_register(const char *name, TupleDesc desc,
							  Tuplestorestate *rows, double nrows);
extern void rf_query_unregister(const char *name);
extern uint64 rf_query_execute(const char *sql, const RfArgs *args);
extern bool rf_query_first(const char *sql, const RfArgs *args, RfRow *row);
extern int	rf_query_all(const char *sql, const RfArgs *args, RfRow **rows);
extern void rf_query_each(const char *sql, RfPlan plan, const Oid *types,
						  RfRowCallback callback, void *arg);
extern Query *rf_query_rewrite(Query *query);
extern void rf_query_each_of(Query *query, RfPlan plan, const RfGivenRows *given,
							 const Oid *types, RfRowCallback callback, void *arg);
extern double rf_query_cost(Query *query, RfPlan plan, double *nrows);
extern char *rf_query_plan(Query *query);
extern void rf_query_begin_writes(void);
extern void rf_query_end_writes(void);
extern uint64 rf_query_write(const char *sql, RfPlan plan, const Oid *types,
							 RfRowCallback callback, void *arg);
extern RfWritten rf_query_write_as_of(const char *sql, Snapshot snapshot);

#endif							/* RF_QUERY_H */
