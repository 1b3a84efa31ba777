/*-------------------------------------------------------------------------
 *
 * where_run.h
 *	  One run of a where flow.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RF_WHERE_RUN_H
#define RF_WHERE_RUN_H

#include "run_record.h"

/* How a where flow is to be run. */
typedef struct RfRefreshOptions
{
	const char *predicate_override; /* NULL: the flow's own */
	const char *technique;		/* NULL: the run decides */
	bool		insists;		/* allow_empty was given: */
	bool		allow_empty;
	bool		wait;
	const char *reason;			/* one more for the record, or NULL */
} RfRefreshOptions;

extern RfRow rf_refresh(const char *flow_name, const RfRefreshOptions *options);
extern RfRow rf_full_refresh(const char *flow_name);
extern RfRunCounts rf_preview_refresh(const char *flow_name, const char *override);

#endif							/* RF_WHERE_RUN_H */
