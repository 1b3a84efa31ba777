/*-------------------------------------------------------------------------
 *
 * run_record.c
 *	  What a run did: its row of replace_flow.run.
 *
 * A run is one transaction, so the record is written once, at its end.  A run
 * that fails leaves no record: its error is the caller's.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "executor/instrument.h"
#include "utils/timestamp.h"

#include "flow_catalog.h"
#include "run_record.h"

void
rf_run_begin(RfRun *run, const RfFlow *flow)
{
	memset(run, 0, sizeof(RfRun));
	run->run_id = rf_catalog_next_run_id();
	run->flow = flow;
	run->started_at = GetCurrentTimestamp();
	run->wal_at_start = pgWalUsage.wal_bytes;
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
