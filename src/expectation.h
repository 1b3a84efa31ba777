/*-------------------------------------------------------------------------
 *
 * expectation.h
 *	  Conditions on the rows that a flow's query gives, in a run.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RF_EXPECTATION_H
#define RF_EXPECTATION_H

#include "executor/tuptable.h"

#include "flow.h"

typedef struct RfChecks RfChecks;

extern RfChecks *rf_checks_begin(const RfFlow *flow);
extern bool rf_checks_pass(RfChecks *checks, TupleTableSlot *row);
extern int64 rf_checks_rejected(const RfChecks *checks);
extern void rf_checks_complete(RfChecks *checks);
extern void rf_checks_record(RfChecks *checks, int64 run_id);
extern void rf_checks_end(RfChecks *checks);

#endif							/* RF_EXPECTATION_H */
