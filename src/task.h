/*-------------------------------------------------------------------------
 *
 * task.h
 *	  What a scheduler knows of the flows that the worker runs, and when the
 *	  next run of each is due.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RF_TASK_H
#define RF_TASK_H

#include "datatype/timestamp.h"
#include "nodes/pg_list.h"

#include "job.h"

typedef struct RfTask
{
	int32		flow_id;		/* hash key */
	Oid			owner;
	/* from the catalog */
	TransactionId version;		/* of the flow's row */
	bool		paused;
	bool		quarantine;
	int64		min_interval;	/* milliseconds between two starts */
	bool		found;			/* while loading: it is still there */
	/* what is to be done */
	TimestampTz waiting_since;	/* zero: nothing waits */
	TimestampTz next_waiting_since; /* the same of what came too late for the
									 * run, or for the first of its slices */
	bool		news;			/* some of it came while it ran */
	int			slices;			/* of the backlog; zero: not known */
	int			slice;			/* the next one */
	/* what was done */
	int			job;			/* that runs it, or -1 */
	TimestampTz started_at;
	TimestampTz ended_at;
	int			failures;		/* in a row */
	int			sqlstate;		/* of the last failure */
	TimestampTz retry_at;		/* zero: at once */
	TimestampTz rests_until;
	TimestampTz swept_at;		/* when an order said to remove old records */
} RfTask;

extern void rf_tasks_begin(void);
extern void rf_tasks_load(void);
extern void rf_tasks_want_all(TimestampTz since);
extern bool rf_tasks_want_table(Oid relid, TimestampTz since);
extern void rf_tasks_retry_failing(void);
extern RfTask *rf_tasks_due(TimestampTz now, TimestampTz *next);
extern List *rf_tasks_running(void);

extern RfJobOrder rf_task_order(const RfTask *task);
extern void rf_task_started(RfTask *task, const RfJobOrder *order, int job);
extern void rf_task_not_started(RfTask *task);
extern void rf_task_ended(RfTask *task, const RfJobResult *result);

#endif							/* RF_TASK_H */
