/*-------------------------------------------------------------------------
 *
 * grouping.h
 *	  The group that a row of a source has a part in.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RF_GROUPING_H
#define RF_GROUPING_H

#include "change_set.h"
#include "source_trace.h"

typedef struct RfGrouping RfGrouping;

extern RfGrouping *rf_grouping_begin(const RfOccurrence *occurrence, int ncolumns,
									 const int *columns);
extern TupleTableSlot *rf_grouping_slot(const RfGrouping *grouping);
extern void rf_grouping_compute(RfGrouping *grouping, Datum *values, bool *nulls);
extern RfChangedRange rf_grouping_range(RfGrouping *grouping, int column,
										const RfChangeSet *changes);
extern void rf_grouping_end(RfGrouping *grouping);

#endif							/* RF_GROUPING_H */
