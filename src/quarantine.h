/*-------------------------------------------------------------------------
 *
 * quarantine.h
 *	  Keys of a using flow that fail are found and set aside.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RF_QUARANTINE_H
#define RF_QUARANTINE_H

extern ErrorData *rf_quarantine(const char *flow_name);

#endif							/* RF_QUARANTINE_H */
