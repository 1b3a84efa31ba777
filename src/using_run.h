/*-------------------------------------------------------------------------
 *
 * using_run.h
 *	  One run of a using flow.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RF_USING_RUN_H
#define RF_USING_RUN_H

#include "run_record.h"

/* Called for each key that a run would touch, with what it would do there. */
typedef void (*RfKeyCallback) (Datum key, const RfRunCounts *counts, void *arg);

extern RfRow rf_apply(const char *flow_name, bool wait, const char *reason);
extern RfRunCounts rf_preview_apply(const char *flow_name, RfKeyCallback callback, void *arg);

#endif							/* RF_USING_RUN_H */
