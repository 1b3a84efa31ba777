/*-------------------------------------------------------------------------
 *
 * settings.c
 *	  The settings replace_flow.*.
 *
 * All of them are the worker's, but for one that only tests have.  They are set for
 * the whole server and can be changed while it runs, by reloading its configuration.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <limits.h>

#include "utils/guc.h"

#include "failpoint.h"
#include "settings.h"

int			rf_max_workers;
int			rf_max_backoff;
int			rf_max_retries;
int			rf_max_batch_rows;
int			rf_worker_idle_timeout;
int			rf_run_retention;

void
rf_settings_define(void)
{
	DefineCustomIntVariable("replace_flow.max_workers",
							"Sets how many flows the worker runs at the same time.",
							"It counts for all databases together; with zero staged rows wait.",
							&rf_max_workers, 4, 0, 1024,
							PGC_SIGHUP, 0, NULL, NULL, NULL);
	DefineCustomIntVariable("replace_flow.max_backoff",
							"Sets the longest time between two tries of a flow that fails.",
							"The first time is a second; it doubles from try to try.",
							&rf_max_backoff, 30 * 1000, 1000, INT_MAX,
							PGC_SIGHUP, GUC_UNIT_MS, NULL, NULL, NULL);
	DefineCustomIntVariable("replace_flow.max_retries",
							"Sets after how many retries the keys that fail are set aside.",
							"Only flows with quarantine do so.",
							&rf_max_retries, 5, 0, INT_MAX,
							PGC_SIGHUP, 0, NULL, NULL, NULL);
	DefineCustomIntVariable("replace_flow.max_batch_rows",
							"Sets how many staged rows the worker applies in one run.",
							"More are applied in several runs, by key; zero sets no limit.",
							&rf_max_batch_rows, 1000000, 0, INT_MAX,
							PGC_SIGHUP, 0, NULL, NULL, NULL);
	DefineCustomIntVariable("replace_flow.worker_idle_timeout",
							"Sets how long a worker process waits for another run.",
							"To start a process takes longer than most runs.",
							&rf_worker_idle_timeout, 60 * 1000, 0, INT_MAX,
							PGC_SIGHUP, GUC_UNIT_MS, NULL, NULL, NULL);
	DefineCustomIntVariable("replace_flow.run_retention",
							"Sets how long records of runs are kept of flows that the worker runs.",
							"-1 keeps them for ever.",
							&rf_run_retention, 30 * 24 * 60, -1, INT_MAX,
							PGC_SIGHUP, GUC_UNIT_MIN, NULL, NULL, NULL);
	rf_failpoint_define();
	MarkGUCPrefixReserved("replace_flow");
}
