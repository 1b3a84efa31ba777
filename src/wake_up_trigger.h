/*-------------------------------------------------------------------------
 *
 * wake_up_trigger.h
 *	  The triggers that notice that rows came into a table.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RF_WAKE_UP_TRIGGER_H
#define RF_WAKE_UP_TRIGGER_H

#include "storage/lockdefs.h"

#include "flow.h"
#include "query.h"

extern List **rf_wake_up_tables(int nflows, const RfRow *flows);
extern int	rf_wake_up_purpose(const RfRow *flow);
extern void rf_wake_up_check_rights(List *relids, Oid owner, const char *flow_name);
extern void rf_wake_up_triggers_lock(const RfFlow *flow, LOCKMODE mode);
extern void rf_wake_up_triggers_place(int32 flow_id);

#endif							/* RF_WAKE_UP_TRIGGER_H */
