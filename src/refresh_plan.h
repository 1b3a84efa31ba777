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
#include "change_log.h"
#include "flow.h"
#include "flow_sources.h"

typedef enum RfTechnique
{
	RF_NO_OP,
	RF_APPEND_ONLY,
	RF_ROW_BASED,
	RF_PARTITION_OVERWRITE,
	RF_COMPLETE
} RfTechnique;

#define RF_TECHNIQUES (RF_COMPLETE + 1)

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

extern RfTechnique rf_technique_parse(const char *name, const char *flow_name);
extern const char *rf_technique_name(RfTechnique technique);
extern List *rf_refresh_tables(const RfFlow *flow, const RfSources *sources);
extern RfRefreshBase *rf_refresh_base(const RfFlow *flow);
extern void rf_refresh_base_repair(RfRefreshBase *base, const RfFlow *flow);
extern RfRefreshPlan *rf_refresh_plan(const RfFlow *flow, const RfRefreshBase *base,
									  const RfRefreshRequest *request, Node *predicate);
extern RfRefreshPlan *rf_refresh_plan_complete(Node *predicate);
extern bool rf_refresh_plan_is_empty(const RfRefreshPlan *plan);
extern void rf_refresh_plan_give_up(RfRefreshPlan *plan, Node *predicate);
extern void rf_refresh_remember(const RfFlow *flow, const RfRefreshBase *base,
								const RfRefreshPlan *plan, Datum snapshot, Node *predicate);

#endif							/* RF_REFRESH_PLAN_H */
