/*-------------------------------------------------------------------------
 *
 * refresh_base.h
 *	  What a run of a where flow knows of the one before, and leaves to the next.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RF_REFRESH_BASE_H
#define RF_REFRESH_BASE_H

#include "change_log.h"
#include "flow.h"
#include "flow_sources.h"

/* What a run knows before it takes its snapshot. */
typedef struct RfRefreshBase
{
	RfSources  *sources;
	List	   *captured;		/* of RfCapturedTable: since before the run */
	bool		in_use;			/* a statement around the run uses some table */
	bool		has_seen;
	RfSeen		seen;			/* by the last run */
	uint64		sources_print;	/* fingerprints of now */
	uint64		target_print;
} RfRefreshBase;

extern List *rf_refresh_tables(const RfFlow *flow, const RfSources *sources);
extern RfRefreshBase *rf_refresh_base(const RfFlow *flow);
extern void rf_refresh_base_repair(RfRefreshBase *base, const RfFlow *flow);
extern void rf_refresh_remember(const RfFlow *flow, const RfRefreshBase *base, bool remembers,
								Datum snapshot, Node *predicate);

#endif							/* RF_REFRESH_BASE_H */
