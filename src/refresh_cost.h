/*-------------------------------------------------------------------------
 *
 * refresh_cost.h
 *	  Which way to recompute affected rows is the cheapest.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RF_REFRESH_COST_H
#define RF_REFRESH_COST_H

#include "flow.h"
#include "refresh_plan.h"

extern char *rf_refresh_cost(RfRefreshPlan *plan, const RfFlow *flow, Node *predicate);

#endif							/* RF_REFRESH_COST_H */
