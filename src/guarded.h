/*-------------------------------------------------------------------------
 *
 * guarded.h
 *	  A step in a transaction of its own, whose error is caught.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RF_GUARDED_H
#define RF_GUARDED_H

struct ErrorData;

typedef void (*RfStep) (void *arg);

extern struct ErrorData *rf_guarded(RfStep step, void *arg);

#endif							/* RF_GUARDED_H */
