/*-------------------------------------------------------------------------
 *
 * reentry.h
 *	  No run of a flow inside a run of the same flow.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RF_REENTRY_H
#define RF_REENTRY_H

#include "flow.h"

extern void rf_reentry_enter(const RfFlow *flow, MemoryContext context);
extern bool rf_reentry_is_in(int32 flow_id);
extern void rf_reentry_write(int32 flow_id, List *relids);
extern int32 rf_reentry_writer(Oid relid);
extern bool rf_reentry_consumes(Oid relid);
extern int	rf_reentry_trigger_depth(void);

#endif							/* RF_REENTRY_H */
