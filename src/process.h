/*-------------------------------------------------------------------------
 *
 * process.h
 *	  What the worker's processes have in common.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RF_PROCESS_H
#define RF_PROCESS_H

#include "datatype/timestamp.h"
#include "postmaster/bgworker.h"

extern void rf_process_describe(BackgroundWorker *worker, const char *role,
								const char *main, int arg);
extern bool rf_process_start(const char *role, const char *main, int arg, Oid database,
							 BackgroundWorkerHandle **handle);
extern bool rf_process_has_ended(BackgroundWorkerHandle *handle);
extern void rf_process_report_shortage(const char *what);
extern void rf_process_begin(void);
extern void rf_process_connect(Oid database);
extern void rf_process_sleep(TimestampTz until, const char *wait_event);

#endif							/* RF_PROCESS_H */
