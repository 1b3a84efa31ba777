/*-------------------------------------------------------------------------
 *
 * attempt.h
 *	  Work that may fail without failing the transaction.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RF_ATTEMPT_H
#define RF_ATTEMPT_H

extern ErrorData *rf_attempt(void (*work) (void *arg), void *arg);

#endif							/* RF_ATTEMPT_H */
