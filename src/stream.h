/*-------------------------------------------------------------------------
 *
 * stream.h
 *	  The staging table of a using flow: what it may be, and how its rows are
 *	  consumed.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RF_STREAM_H
#define RF_STREAM_H

#include "flow.h"

extern void rf_stream_check(Oid stream, const char *flow_name);
extern void rf_stream_check_parts(Oid stream, const char *flow_name);
extern List *rf_stream_parts(const RfFlow *flow);
extern TupleDesc rf_stream_columns(const RfFlow *flow);
extern void rf_stream_check_same_parts(const RfFlow *flow, List *parts);
extern uint64 rf_stream_consume(const RfFlow *flow, const char *condition);

#endif							/* RF_STREAM_H */
