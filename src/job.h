/*-------------------------------------------------------------------------
 *
 * job.h
 *	  What schedulers and job processes tell each other.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RF_JOB_H
#define RF_JOB_H

/* Work for a job process: run a flow. */
typedef struct RfJobOrder
{
	int32		flow_id;
	Oid			owner;			/* of the flow; no process serves two */
	bool		quarantine;		/* look for the keys that fail */
	int			sqlstate;		/* of the last failure, or zero */
	int			failures;		/* in a row */
	bool		sweep;			/* also remove old records of runs */

	/*
	 * the slice of the backlog that is to be applied; no slices: not known
	 * yet
	 */
	int			slices;
	int			slice;
} RfJobOrder;

typedef enum RfJobOutcome
{
	RF_JOB_SUCCEEDED,
	RF_JOB_NOTHING,				/* there was nothing to do */
	RF_JOB_FAILED,				/* and that is recorded */
	RF_JOB_DIED					/* the process ended in the middle */
} RfJobOutcome;

typedef struct RfJobResult
{
	RfJobOutcome outcome;
	int			slices;			/* of the backlog */
	int			next_slice;		/* to be applied; equals slices: it is done */
	int			sqlstate;		/* of the failure */
} RfJobResult;

extern Size rf_job_shmem_size(void);
extern void rf_job_shmem_init(void);

/* for a scheduler */
extern int	rf_job_claim(const RfJobOrder *order, bool *is_new);
extern void rf_job_release(int job);
extern bool rf_job_is_starting(int job);
extern bool rf_job_take_result(int job, RfJobResult *result);
extern void rf_job_yield(void);

/* for a job process */
extern Oid	rf_job_enter(int job);
extern bool rf_job_take_order(RfJobOrder *order);
extern bool rf_job_is_to_end(bool waited_enough);
extern void rf_job_finish(const RfJobResult *result, bool to_end);

/* for database_slot.c; the lock is held */
extern int	rf_job_terminate(Oid database);
extern void rf_job_abandon(Oid database);

#endif							/* RF_JOB_H */
