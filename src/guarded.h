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

/* Which errors go to the server's log: all but those with this SQLSTATE, or: */
#define RF_LOG_ALL 0
#define RF_LOG_NONE (-1)

extern ErrorData *rf_guarded(RfStep step, void *arg, int log_unless);

#endif							/* RF_GUARDED_H */
