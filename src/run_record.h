/*-------------------------------------------------------------------------
 *
 * run_record.h
 *	  What a run did: its row of replace_flow.run.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RF_RUN_RECORD_H
#define RF_RUN_RECORD_H

#include "datatype/timestamp.h"

#include "flow.h"
#include "query.h"
#include "row_diff.h"
#include "target_write.h"

struct ErrorData;

/* Counts of a run, in the table's order. */
typedef struct RfRunCounts
{
	int64		rows_staged;
	int64		rows_read;
	int64		rows_rejected;
	int64		rows_superseded;
	int64		rows_late;
	int64		rows_tie_ignored;
	int64		rows_tombstone;
	int64		rows_inserted;
	int64		rows_updated;
	int64		rows_deleted;
	int64		rows_unchanged;
	int64		keys_replaced;
	int64		rows_reset;
} RfRunCounts;

typedef struct RfRun
{
	int64		run_id;
	const RfFlow *flow;
	const char *status;
	TimestampTz started_at;
	uint64		wal_at_start;
	const char *technique;		/* of a where flow, or NULL */
	List	   *reasons;		/* of char *: why this technique */
	const char *predicate;
	const ErrorData *error;		/* why it failed or set rows aside, or NULL */
	RfRunCounts counts;
} RfRun;

extern void rf_run_begin(RfRun *run, const RfFlow *flow);
extern void rf_run_count_changes(RfRun *run, const RfRowDiff *diff, const RfTargetWriter *writer);
extern RfRow rf_run_finish(RfRun *run, const char *status);
extern void rf_run_forget_begun(void);
extern int64 rf_run_record_failure(const RfFlow *flow, const ErrorData *error);
extern uint64 rf_run_wal_bytes(const RfRun *run);

#endif							/* RF_RUN_RECORD_H */
