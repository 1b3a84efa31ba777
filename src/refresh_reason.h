/*-------------------------------------------------------------------------
 *
 * refresh_reason.h
 *	  Why a run of a where flow recomputes its whole window, whatever has changed.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RF_REFRESH_REASON_H
#define RF_REFRESH_REASON_H

#include "flow.h"
#include "refresh_base.h"

extern char *rf_reason_of_query(const char *culprit);
extern char *rf_reason_of_predicate(const char *culprit);
extern char *rf_stored_obstacle(const RfFlow *flow);
extern char *rf_refresh_reason(const RfFlow *flow, const RfRefreshBase *base, Node *predicate);

#endif							/* RF_REFRESH_REASON_H */
