/*-------------------------------------------------------------------------
 *
 * flow_state.h
 *	  What the worker knows of flows that wait for it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RF_FLOW_STATE_H
#define RF_FLOW_STATE_H

#include "datatype/timestamp.h"

/* The tranche of the lock, which must be asked for. */
#define RF_FLOW_STATE_TRANCHE "replace_flow_flow_state"

extern Size rf_flow_state_shmem_size(void);
extern void rf_flow_state_shmem_init(void);
extern void rf_flow_state_set(int32 flow_id, TimestampTz waiting_since,
							  TimestampTz next_retry_at);
extern void rf_flow_state_forget_database(Oid database);

#endif							/* RF_FLOW_STATE_H */
