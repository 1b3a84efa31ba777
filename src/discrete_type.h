/*-------------------------------------------------------------------------
 *
 * discrete_type.h
 *	  Types whose values can be counted: integers, dates and timestamps.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RF_DISCRETE_TYPE_H
#define RF_DISCRETE_TYPE_H

#include "nodes/primnodes.h"

extern bool rf_discrete_is(Oid type);
extern bool rf_discrete_is_time(Oid type);
extern int64 rf_discrete_number(Oid type, Datum value);
extern Datum rf_discrete_value(Oid type, int64 number);
extern void rf_discrete_usual(Oid type, int64 *first, int64 *last);
extern Node *rf_discrete_comparison(const Var *var, Oid type, int strategy, int64 number);

#endif							/* RF_DISCRETE_TYPE_H */
