/*-------------------------------------------------------------------------
 *
 * guarded.h
 *	  A step in a transaction of its own, whose error is caught.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RF_GUARDED_H
#define RF_GUARDED_H

typedef void (*RfStep) (void *arg);

extern ErrorData *rf_guarded(RfStep step, void *arg);
extern void rf_guarded_log(ErrorData *error);

#endif							/* RF_GUARDED_H */
