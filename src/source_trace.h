/*-------------------------------------------------------------------------
 *
 * source_trace.h
 *	  What a row of a source table tells of the output rows that it can make.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RF_SOURCE_TRACE_H
#define RF_SOURCE_TRACE_H

#include "access/tupdesc.h"
#include "nodes/parsenodes.h"

/* A table, at one of the places where a query reads it. */
typedef struct RfOccurrence
{
	Oid			relid;

	/*
	 * For each of the expressions over the query's output, what gives the
	 * same for a row of the table as for all output rows that it has a part
	 * in: an expression over columns of relation 1, or NULL.
	 */
	Node	  **traces;
} RfOccurrence;

extern List *rf_source_trace(Query *query, TupleDesc columns, Node **expressions);

#endif							/* RF_SOURCE_TRACE_H */
