/*-------------------------------------------------------------------------
 *
 * run_record.c
 *	  What a run did: its row of replace_flow.run.
 *
 * A run is one transaction, so the record is written once, at its end.  A run
 * that fails leaves no record: its error is the caller's.  Only the worker has
 * no caller, and records its failures in another transaction.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "executor/instrument.h"
#include "utils/timestamp.h"

#include "flow_catalog.h"
#include "run_record.h"

/* The run that this backend began last, for the record of its failure. */
static int64 begun_id;
static TimestampTz begun_at;

static void
begin(RfRun *run, const RfFlow *flow, int64 run_id, TimestampTz started_at)
{
	memset(run, 0, sizeof(RfRun));
	run->run_id = run_id;
	run->flow = flow;
	run->started_at = started_at;
	run->wal_at_start = pgWalUsage.wal_bytes;
}

void
rf_run_begin(RfRun *run, const RfFlow *flow)
{
	begin(run, flow, rf_catalog_next_run_id(), GetCurrentTimestamp());
	begun_id = run->run_id;
	begun_at = run->started_at;
}

/*
 * From now on a run that fails is a new one.
 */
void
rf_run_forget_begun(void)
{
	begun_id = 0;
}

/*
 * Record that the run failed that was begun last; one that failed before it
 * began gets an id here.  Gives the id.
 */
int64
rf_run_record_failure(const RfFlow *flow, const ErrorData *error)
{
	RfRun		run;

	if (begun_id != 0)
		begin(&run, flow, begun_id, begun_at);
	else
		rf_run_begin(&run, flow);
	run.error = error;
	(void) rf_run_finish(&run, "failed");
	rf_run_forget_begun();
	return run.run_id;
}

/*
 * Count the changes that a run has found so far.
 */
void
rf_run_count_changes(RfRun *run, const RfRowDiff *diff, const RfTargetWriter *writer)
{
	run->counts.rows_deleted = rf_writer_deleted(writer);
	run->counts.rows_updated = rf_writer_updated(writer);
	run->counts.rows_inserted = rf_writer_inserted(writer);
	run->counts.rows_unchanged = rf_diff_unchanged(diff);
}

/*
 * WAL that this backend wrote since the run began.
 */
uint64
rf_run_wal_bytes(const RfRun *run)
{
	return pgWalUsage.wal_bytes - run->wal_at_start;
}

/*
 * Write the record; give it as a row.
 */
RfRow
rf_run_finish(RfRun *run, const char *status)
{
	run->status = status;
	return rf_catalog_add_run(run);
}
