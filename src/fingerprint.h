/*-------------------------------------------------------------------------
 *
 * fingerprint.h
 *	  Whether definitions that a flow depends on have changed.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RF_FINGERPRINT_H
#define RF_FINGERPRINT_H

#include "nodes/parsenodes.h"

#include "flow.h"

extern uint64 rf_fingerprint_of_sources(const RfFlow *flow, Query *query);
extern uint64 rf_fingerprint_of_target(const RfFlow *flow);

#endif							/* RF_FINGERPRINT_H */
