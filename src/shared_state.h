/*-------------------------------------------------------------------------
 *
 * shared_state.h
 *	  What the processes of the worker and the sessions share.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RF_SHARED_STATE_H
#define RF_SHARED_STATE_H

extern void rf_shared_state_init(void);
extern bool rf_shared_state_exists(void);
extern void rf_shared_lock(void);
extern void rf_shared_unlock(void);

#endif							/* RF_SHARED_STATE_H */
