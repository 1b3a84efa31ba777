/*-------------------------------------------------------------------------
 *
 * refresh_change.h
 *	  What has changed since the last run of a where flow.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RF_REFRESH_CHANGE_H
#define RF_REFRESH_CHANGE_H

#include "change_set.h"
#include "flow.h"
#include "flow_sources.h"
#include "query.h"
#include "refresh_base.h"

/* What changed in a table. */
typedef struct RfChangedSource
{
	const RfSource *source;
	RfChangeSet *changes;
} RfChangedSource;

typedef struct RfRefreshChange
{
	int			nentries;		/* of the log: of sources and target */
	RfRow	   *entries;
	List	   *sources;		/* of RfChangedSource: those with changes */
	bool		inserts_only;	/* nothing else was done to them */
} RfRefreshChange;

extern RfRefreshChange *rf_refresh_change(const RfFlow *flow, const RfRefreshBase *base);
extern int64 rf_refresh_change_rows(const RfRefreshChange *change);
extern Bitmapset *rf_refresh_change_groups(const RfRefreshChange *change);
extern char *rf_refresh_change_obstacle(const RfRefreshChange *change);
extern char *rf_refresh_change_target_obstacle(const RfRefreshChange *change, const RfFlow *flow,
											   const RfRefreshBase *base, Node *predicate);

#endif							/* RF_REFRESH_CHANGE_H */
