/*-------------------------------------------------------------------------
 *
 * run_progress.h
 *	  How far runs are, for other sessions to see.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RF_RUN_PROGRESS_H
#define RF_RUN_PROGRESS_H

#include "run_record.h"

/* What a run is at, in the order of its life. */
typedef enum RfPhase
{
	RF_PHASE_WAITING,
	RF_PHASE_OPENING,
	RF_PHASE_CONSUMING,
	RF_PHASE_READING,
	RF_PHASE_FINDING,
	RF_PHASE_COMPARING,
	RF_PHASE_DELETING,
	RF_PHASE_UPDATING,
	RF_PHASE_INSERTING,
	RF_PHASE_FIRING,
	RF_PHASE_RECORDING
} RfPhase;

/* The number of rows that a phase will have done at its end, if nobody knows. */
#define RF_ROWS_UNKNOWN (-1)

extern Size rf_progress_shmem_size(void);
extern void rf_progress_shmem_init(void);
extern void rf_progress_begin(const RfFlow *flow, bool preview, MemoryContext context);
extern void rf_progress_identify(const RfRun *run);
extern void rf_progress_phase(RfPhase phase, int64 rows_expected);
extern void rf_progress_row(void);

#endif							/* RF_RUN_PROGRESS_H */
