/*-------------------------------------------------------------------------
 *
 * conversion.h
 *	  A query's values as the target's columns store them.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RF_CONVERSION_H
#define RF_CONVERSION_H

#include "executor/tuptable.h"

#include "flow.h"

typedef struct RfConversion RfConversion;

extern Node *rf_conversion_cast(Node *value, RfType from, RfType to);
extern bool rf_conversion_exists(RfType from, RfType to);
extern bool rf_conversion_is_needed(RfType from, RfType to);
extern Node *rf_conversion_column(const RfFlow *flow, int column);
extern RfConversion *rf_conversion_begin(const RfFlow *flow);
extern void rf_conversion_row(RfConversion *conversion, TupleTableSlot *input,
							  Datum *values, bool *nulls);
extern void rf_conversion_end(RfConversion *conversion);

#endif							/* RF_CONVERSION_H */
