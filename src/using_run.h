/*-------------------------------------------------------------------------
 *
 * using_run.h
 *	  One run of a using flow.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RF_USING_RUN_H
#define RF_USING_RUN_H

#include "key_range.h"
#include "preview.h"
#include "run_record.h"

typedef struct RfApplyOptions
{
	bool		wait;
	const char *reason;			/* for the record, or NULL */
	const RfKeyRange *range;	/* NULL: all keys */
	const struct ErrorData *quarantine; /* set the rows aside, with this error */
} RfApplyOptions;

extern RfRow rf_apply(const char *flow_name, const RfApplyOptions *options);
extern RfRunCounts rf_preview_apply(const char *flow_name, RfKeyPreview *preview);

#endif							/* RF_USING_RUN_H */
