/*-------------------------------------------------------------------------
 *
 * row_sort.h
 *	  Rows in the order of their hashes.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RF_ROW_SORT_H
#define RF_ROW_SORT_H

#include "access/tupdesc.h"

typedef struct RfRowSort RfRowSort;

/* A row; it points into the sort until the next call. */
typedef struct RfSortedRow
{
	int64		hash;
	Datum	   *values;
	bool	   *nulls;
} RfSortedRow;

extern RfRowSort *rf_sort_begin(TupleDesc columns);
extern void rf_sort_add(RfRowSort *sort, int64 hash, const Datum *values, const bool *nulls);
extern void rf_sort_complete(RfRowSort *sort);
extern bool rf_sort_next(RfRowSort *sort, RfSortedRow *row);
extern void rf_sort_end(RfRowSort *sort);

#endif							/* RF_ROW_SORT_H */
