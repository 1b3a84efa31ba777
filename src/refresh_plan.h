/*-------------------------------------------------------------------------
 *
 * refresh_plan.h
 *	  How a run of a where flow does its work, and why.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RF_REFRESH_PLAN_H
#define RF_REFRESH_PLAN_H

#include "affected.h"
#include "flow.h"
#include "refresh_base.h"
#include "technique.h"

/* What is asked of a run. */
typedef struct RfRefreshRequest
{
	bool		full;			/* all of the target is to go */
	bool		is_override;	/* the predicate is for this run alone */
	const char *technique;		/* NULL: any */
	bool		only_plans;		/* nothing will be done */
} RfRefreshRequest;

typedef struct RfRefreshPlan
{
	RfTechnique technique;
	char	   *against[RF_TECHNIQUES]; /* why not another one: code and
										 * sentence */
	List	   *reasons;		/* of char *: for the record */
	Node	   *predicate;		/* what is to be recomputed */
	RfAffected *affected;		/* and of that only these groups, or NULL */
	List	   *partitions;		/* what is to be overwritten, or NIL */
	bool		remembers;		/* what was seen is to be stored */

	/* for people */
	int64		changed_rows;	/* -1: not known */
	int64		affected_groups;
	double		costs[RF_TECHNIQUES];	/* -1: not known */
	double		affected_share; /* of the window's rows; -1: not known */
} RfRefreshPlan;

extern RfRefreshPlan *rf_refresh_plan(const RfFlow *flow, const RfRefreshBase *base,
									  const RfRefreshRequest *request, Node *predicate);
extern RfRefreshPlan *rf_refresh_plan_complete(Node *predicate);
extern bool rf_refresh_plan_is_empty(const RfRefreshPlan *plan);
extern void rf_refresh_plan_give_up(RfRefreshPlan *plan, Node *predicate);

#endif							/* RF_REFRESH_PLAN_H */
