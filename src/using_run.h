/*-------------------------------------------------------------------------
 *
 * using_run.h
 *	  One run of a using flow.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RF_USING_RUN_H
#define RF_USING_RUN_H

#include "preview.h"
#include "run_record.h"

extern RfRow rf_apply(const char *flow_name, bool wait, const char *reason);
extern RfRunCounts rf_preview_apply(const char *flow_name, RfKeyPreview *preview);

#endif							/* RF_USING_RUN_H */
