/*-------------------------------------------------------------------------
 *
 * settings.h
 *	  The settings replace_flow.*.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RF_SETTINGS_H
#define RF_SETTINGS_H

extern int	rf_max_workers;
extern int	rf_max_backoff;		/* milliseconds */
extern int	rf_max_retries;
extern int	rf_max_batch_rows;	/* 0: any number */
extern int	rf_worker_idle_timeout; /* milliseconds */
extern int	rf_run_retention;	/* minutes; -1: for ever */

extern void rf_settings_define(void);

#endif							/* RF_SETTINGS_H */
