/*-------------------------------------------------------------------------
 *
 * preview.h
 *	  What a run would do.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RF_PREVIEW_H
#define RF_PREVIEW_H

#include "run_record.h"

typedef struct RfKeyPreview RfKeyPreview;

extern void rf_preview_begin_keys(RfKeyPreview *preview, const RfFlow *flow);
extern void rf_preview_open_key(RfKeyPreview *preview, const Datum *values,
								const bool *nulls, const RfRunCounts *counts);
extern void rf_preview_close_key(RfKeyPreview *preview, const RfRunCounts *counts);

#endif							/* RF_PREVIEW_H */
