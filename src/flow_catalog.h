/*-------------------------------------------------------------------------
 *
 * flow_catalog.h
 *	  The extension's own tables.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RF_FLOW_CATALOG_H
#define RF_FLOW_CATALOG_H

#include "nodes/pg_list.h"
#include "utils/tuplestore.h"

#include "flow.h"
#include "query.h"
#include "run_record.h"

/* What a flow's row of the catalog defines; texts may be NULL where the column may. */
typedef struct RfFlowRow
{
	RfFlowKind	kind;
	const char *name;
	Oid			target;
	const char *query;
	bool		keep_rejected;

	/* of using flows */
	Oid			source;
	Datum		replace_using;	/* text[] */
	const char *sequence_by;
	const char *delete_when;
	const char *on_tie;
	bool		auto_apply;
	bool		quarantine;

	/* of where flows */
	const char *replace_where;
	bool		reset_allowed;
	bool		allow_empty;
	bool		refresh_on_change;
	Datum		min_interval;

	/* of both */
	Datum		settings;		/* jsonb */
	const char *comment;
	Datum		output_columns; /* text[] */
	Datum		target_columns; /* regcolumn[] */
	const char *sequence_column;
	const char *tombstone_column;
	bool		has_ledger;
} RfFlowRow;

/* A backfill; values are texts as their types write them. */
typedef struct RfBackfillRow
{
	int64		backfill_id;
	int32		flow_id;
	int32		definition_version;
	AttrNumber	column;			/* of the flow's target */
	const char *from_value;
	const char *to_value;
	const char *step;
	bool		newest_first;
	int64		slices_total;
} RfBackfillRow;

extern void rf_catalog_lock_definitions(void);
extern void rf_catalog_lock_for_change(void);
extern int32 rf_catalog_add_flow(const RfFlowRow *flow);
extern void rf_catalog_read_flow(int32 flow_id, RfFlowRow *flow);
extern void rf_catalog_change_flow(int32 flow_id, const RfFlowRow *flow, bool count);
extern void rf_catalog_rename_flow(int32 flow_id, const char *name);
extern void rf_catalog_pause_flow(int32 flow_id, bool paused);
extern bool rf_catalog_find_flow(const char *name, RfRow *row);
extern bool rf_catalog_lock_flow(const char *name, bool wait, RfRow *row);
extern void rf_catalog_drop_flow(int32 flow_id);
extern char *rf_catalog_flow_of_target(List *relids, int32 other_than);
extern char *rf_catalog_flow_of_source(List *relids, int32 other_than);
extern bool rf_catalog_find_stream(int32 flow_id, Oid *target, Oid *stream);
extern int	rf_catalog_lost_flows(RfRow **rows);
extern int	rf_catalog_all_flows(RfRow **rows);
extern int	rf_catalog_worker_flows(RfRow **rows);
extern int	rf_catalog_worker_failures(RfRow **rows);
extern bool rf_catalog_flow_by_id(int32 flow_id, RfRow *row);
extern int	rf_catalog_woken_flows(RfRow **rows);
extern int	rf_catalog_captured(RfRow **rows);
extern int	rf_catalog_captured_for(int32 flow_id, RfRow **rows);
extern void rf_catalog_capture(int32 flow_id, Oid relid, Datum columns);
extern void rf_catalog_release(int32 flow_id, Oid relid);
extern void rf_catalog_sweep_changes(void);
extern void rf_catalog_forget_runs(int32 flow_id, int minutes);
extern int	rf_catalog_woken_flow(int32 flow_id, RfRow **row);
extern bool rf_catalog_last_version(int32 flow_id, int32 *version);
extern char *rf_catalog_similar_flow(const char *name, Oid role);
extern int	rf_catalog_settings(Datum settings, RfRow **rows);
extern int	rf_catalog_overrides(Datum overrides, RfRow **rows);
extern Datum rf_catalog_array_of_texts(List *texts);
extern char **rf_catalog_text_array(const RfRow *row, const char *column, int *count);

extern int	rf_catalog_expectations(int32 flow_id, RfRow **rows);
extern bool rf_catalog_add_expectation(int32 flow_id, const char *name,
									   RfAction action, const char *condition,
									   const char *view_column);
extern bool rf_catalog_drop_expectation(int32 flow_id, const char *name);
extern void rf_catalog_move_expectation(int32 flow_id, const char *name,
										const char *view_column);

extern int64 rf_catalog_begin_backfill(RfBackfillRow *backfill, Oid target);
extern bool rf_catalog_lock_backfill(const RfBackfillRow *backfill, int64 *slices_done);
extern void rf_catalog_slice_done(const RfBackfillRow *backfill, int64 slices_done);

extern void rf_catalog_raise_version(int32 flow_id);

extern int64 rf_catalog_next_run_id(void);
extern RfRow rf_catalog_add_run(const RfRun *run);
extern void rf_catalog_add_expectation_result(int64 run_id, const char *expectation,
											  RfAction action,
											  int64 rows_passed, int64 rows_failed);
extern void rf_catalog_add_rejected(const RfFlow *flow, int64 run_id,
									const struct ErrorData *error, TupleDesc desc,
									Tuplestorestate *rows, int64 nrows);

#endif							/* RF_FLOW_CATALOG_H */
