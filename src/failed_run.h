/*-------------------------------------------------------------------------
 *
 * failed_run.h
 *	  Runs of the worker that failed, recorded in another transaction.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RF_FAILED_RUN_H
#define RF_FAILED_RUN_H

extern bool rf_failed_run_record(int32 flow_id, ErrorData *error);
extern void rf_failed_run_record_death(int32 flow_id);

#endif							/* RF_FAILED_RUN_H */
