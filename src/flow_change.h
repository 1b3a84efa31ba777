/*-------------------------------------------------------------------------
 *
 * flow_change.h
 *	  Small changes of flows, and their end.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RF_FLOW_CHANGE_H
#define RF_FLOW_CHANGE_H

#include "flow.h"

extern RfFlow *rf_flow_lock_for_change(const char *name, MemoryContext context);
extern void rf_flow_drop_lost(void);

#endif							/* RF_FLOW_CHANGE_H */
