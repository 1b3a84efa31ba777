/*-------------------------------------------------------------------------
 *
 * flow_change.h
 *	  Small changes of flows, and their end.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RF_FLOW_CHANGE_H
#define RF_FLOW_CHANGE_H

#include "storage/lockdefs.h"

#include "flow.h"

extern RfFlow *rf_flow_lock_for_change(const char *name, MemoryContext context,
									   LOCKMODE target_lock, LOCKMODE waking_lock);
extern void rf_flow_drop_lost(void);

#endif							/* RF_FLOW_CHANGE_H */
