/*-------------------------------------------------------------------------
 *
 * failpoint.h
 *	  Points at which tests let the server fail.
 *
 * They are there only in a build with FAILPOINTS=1; elsewhere they are
 * nothing.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RF_FAILPOINT_H
#define RF_FAILPOINT_H

#ifdef RF_FAILPOINTS
extern void rf_failpoint_define(void);
extern void rf_failpoint(const char *part, const char *step);
#else
#define rf_failpoint_define() ((void) 0)
#define rf_failpoint(part, step) ((void) 0)
#endif

#endif							/* RF_FAILPOINT_H */
