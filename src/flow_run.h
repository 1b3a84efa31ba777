/*-------------------------------------------------------------------------
 *
 * flow_run.h
 *	  What all runs have in common.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RF_FLOW_RUN_H
#define RF_FLOW_RUN_H

#include "run_record.h"

/* A run, or a preview of one, that is wanted. */
typedef struct RfRunOrder
{
	const char *command;		/* the function that was called */
	const char *flow_name;
	RfFlowKind	kind;
	bool		wait;
	/* once the flow is locked and open, as the caller; or NULL */
	void		(*prepare) (RfRun *run, void *arg);
	/* then, as the flow's owner, with its tables held */
	void		(*work) (RfRun *run, void *arg);
	void	   *arg;
} RfRunOrder;

extern RfFlow *rf_run_lock(const char *flow_name, RfFlowKind kind);
extern RfRow rf_run(const RfRunOrder *order);
extern RfRunCounts rf_preview(const RfRunOrder *order);

#endif							/* RF_FLOW_RUN_H */
