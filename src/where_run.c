/*-------------------------------------------------------------------------
 *
 * where_run.c
 *	  One run of a where flow.
 *
 * The story of a run, once all is locked and open (flow_run.c):
 *
 *	1. Settle the predicate: the flow's own, or the one that was given for this
 *	   run.
 *	2. Read new rows: those of the query for which the predicate is true.
 *	   Expectations drop some; the rest is converted to the target's types and
 *	   sorted by the hash that row_diff wants.
 *	3. Read old rows: those of the target for which it is true, under the same
 *	   snapshot.
 *	4. Compare: all of them are one group.
 *	5. Write: deletes, updates, inserts.
 *
 * A full refresh reads all rows of the target, and removes those outside the
 * window: by DELETE, or by UPDATE where other tables reference the row and it is
 * in the window now.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "compat.h"
#include "conversion.h"
#include "expectation.h"
#include "failpoint.h"
#include "flow_catalog.h"
#include "flow_run.h"
#include "run_progress.h"
#include "query.h"
#include "row_diff.h"
#include "row_sort.h"
#include "target_shape.h"
#include "target_write.h"
#include "where_predicate.h"
#include "where_run.h"
#include "window.h"

/* The one group that all rows are. */
#define WINDOW_GROUP 1

/* The only technique that there is. */
#define COMPLETE "COMPLETE_REPLACE_WHERE"

/* The pieces that a run works with. */
typedef struct RfRefresh
{
	const RfRefreshOptions *options;
	bool		full;			/* a full refresh */
	bool		preview;
	const RfFlow *flow;
	RfRun	   *run;
	Node	   *predicate;
	int			verdict;		/* position of a new row's verdict */
	int64		old_rows;
	bool		referenced;		/* by foreign keys of other tables */
	RfChecks   *checks;
	RfConversion *conversion;
	RfRowSort  *new_rows;
	RfRowDiff  *diff;
	RfTargetWriter *writer;
	Datum	   *values;			/* one row, converted */
	bool	   *nulls;
} RfRefresh;

static void
check_technique(const RfRefresh *refresh)
{
	const char *technique = refresh->options->technique;
	static const char *const known[] = {
		"NO_OP", "APPEND_ONLY", "ROW_BASED", "PARTITION_OVERWRITE", COMPLETE
	};

	if (technique == NULL || strcmp(technique, COMPLETE) == 0)
		return;
	for (size_t i = 0; i < lengthof(known); i++)
	{
		if (strcmp(technique, known[i]) == 0)
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("flow \"%s\" cannot be refreshed with technique \"%s\"",
							refresh->flow->name, technique),
					 errdetail("Changes of its sources are not tracked, so it could miss some."),
					 errhint("Leave the technique to the run, or use \"%s\".", COMPLETE)));
	}
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("technique \"%s\" is not known", technique),
			 errdetail("Flow \"%s\" was to be refreshed with it.", refresh->flow->name),
			 errhint("Leave the technique to the run, or use \"%s\".", COMPLETE)));
}

static void
check_reset(const RfFlow *flow)
{
	if (!flow->reset_allowed)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("flow \"%s\" does not allow a full refresh", flow->name),
				 errdetail("It would delete the target's rows outside the window, which the query may no longer give."),
				 errhint("SELECT replace_flow.alter_flow(%s, reset_allowed => true)",
						 quote_literal_cstr(flow->name))));
}

/* Why the run is done as it is, as codes with a sentence each. */
static List *
find_reasons(const RfRefresh *refresh)
{
	const RfRefreshOptions *options = refresh->options;
	List	   *reasons = NIL;
	int32		version;

	if (options->reason != NULL)
		reasons = lappend(reasons, unconstify(char *, options->reason));
	if (options->technique != NULL)
		reasons = lappend(reasons, "REQUESTED: the technique was given in the call");
	else if (refresh->full)
		reasons = lappend(reasons, "REQUESTED: a full refresh was called for");
	else if (!rf_catalog_last_version(refresh->flow->id, &version))
		reasons = lappend(reasons, "FIRST_RUN: the flow has not run before");
	else if (version != refresh->flow->definition_version)
		reasons = lappend(reasons, "DEFINITION_CHANGED: the flow was altered since its last run");
	else
		reasons = lappend(reasons, "UNTRACKED_SOURCE: changes of its sources are not tracked");
	return reasons;
}

/* Step 1, as the caller, whose names an override uses. */
static void
prepare(RfRun *run, void *arg)
{
	RfRefresh  *refresh = arg;

	refresh->run = run;
	refresh->flow = run->flow;
	check_technique(refresh);
	if (refresh->full)
		check_reset(run->flow);
	refresh->predicate = rf_predicate_of_run(run->flow, refresh->options->predicate_override);
	if (refresh->preview)
		return;
	run->technique = COMPLETE;
	run->reasons = find_reasons(refresh);
}

static RfWriteRules
write_rules(const RfRefresh *refresh, const RfTargetShape *shape)
{
	RfWriteRules rules = {
		.key_rule = {rf_predicate_columns(refresh->predicate), .nulls_agree = true},
		.key_name = "a column of the predicate",
		.key_reason = "The row would not be in the window for which it was computed.",
		.place_columns = shape->place_columns,
		/* values that are equal may be stored otherwise */
		.fixed_columns = shape->pair_rule.by_equality ? NULL : shape->pair_rule.columns,
		.prefer_heap_only = shape->prefer_heap_only
	};

	return rules;
}

static void
begin_pieces(RfRefresh *refresh)
{
	const RfFlow *flow = refresh->flow;
	TupleDesc	columns = flow->columns;
	RfTargetShape shape = rf_target_shape(flow->target, columns, 0, NULL);
	RfDiffRules rules = {
		.one_group = true,
		.matching = true,
		.pairing = shape.pairing,
		.pair_rule = shape.pair_rule,
		.guarded_columns = shape.guarded_columns
	};

	refresh->values = palloc(columns->natts * sizeof(Datum));
	refresh->nulls = palloc(columns->natts * sizeof(bool));
	refresh->verdict = rf_window_verdict(flow);
	refresh->referenced = shape.pair_rule.by_equality;
	refresh->writer = rf_writer_begin(flow->target, "table", columns,
									  write_rules(refresh, &shape));
	refresh->diff = rf_diff_begin(columns, rules, refresh->writer);
	refresh->conversion = rf_conversion_begin(flow);
	refresh->new_rows = rf_sort_begin(columns);
	refresh->checks = rf_checks_begin(flow);
}

static void
end_pieces(RfRefresh *refresh)
{
	rf_conversion_end(refresh->conversion);
	rf_sort_end(refresh->new_rows);
	rf_diff_end(refresh->diff);
	rf_writer_end(refresh->writer);
	rf_checks_end(refresh->checks);
}

static bool
is_true(const TupleTableSlot *slot, int column)
{
	return !slot->tts_isnull[column] && DatumGetBool(slot->tts_values[column]);
}

/* Step 2, for one row of the query. */
static void
read_new_row(TupleTableSlot *slot, void *arg)
{
	RfRefresh  *refresh = arg;

	rf_progress_row();
	slot_getallattrs(slot);
	if (!is_true(slot, refresh->verdict))
		return;
	refresh->run->counts.rows_read++;
	if (!rf_checks_pass(refresh->checks, slot))
		return;
	rf_conversion_row(refresh->conversion, slot, refresh->values, refresh->nulls);
	rf_sort_add(refresh->new_rows,
				rf_diff_hash(refresh->diff, refresh->values, refresh->nulls),
				refresh->values, refresh->nulls);
}

static void
read_new_rows(RfRefresh *refresh)
{
	List	   *pushed;

	rf_progress_phase(RF_PHASE_READING, RF_ROWS_UNKNOWN);
	rf_query_each_of(rf_window_new_rows(refresh->flow, refresh->predicate, &pushed),
					 rf_window_new_types(refresh->flow), read_new_row, refresh);
	rf_checks_complete(refresh->checks);
	refresh->run->counts.rows_rejected = rf_checks_rejected(refresh->checks);
	rf_sort_complete(refresh->new_rows);
}

/* Step 3, for one row of the target. */
static void
read_old_row(TupleTableSlot *slot, void *arg)
{
	RfRefresh  *refresh = arg;
	RfOldRow	old;

	slot_getallattrs(slot);
	old.address.tableoid = DatumGetObjectId(slot->tts_values[RF_OLD_TABLEOID]);
	old.address.ctid = *DatumGetItemPointer(slot->tts_values[RF_OLD_CTID]);
	old.values = slot->tts_values + RF_OLD_COLUMNS;
	old.nulls = slot->tts_isnull + RF_OLD_COLUMNS;
	refresh->old_rows++;
	rf_progress_row();
	if (!is_true(slot, RF_OLD_IN_WINDOW))
		refresh->run->counts.rows_reset++;
	/* one that is referenced from elsewhere may have moved into the window */
	if (is_true(slot, RF_OLD_IN_WINDOW) || refresh->referenced)
		rf_diff_add_old(refresh->diff, WINDOW_GROUP, &old.address, old.values, old.nulls);
	else
		rf_writer_delete(refresh->writer, &old);
}

static void
read_old_rows(RfRefresh *refresh)
{
	rf_progress_phase(RF_PHASE_FINDING, RF_ROWS_UNKNOWN);
	/* its columns have the types that the flow was opened with */
	rf_query_each_of(rf_window_old_rows(refresh->flow, refresh->predicate, refresh->full),
					 NULL, read_old_row, refresh);
	rf_diff_old_complete(refresh->diff);
}

/* A source that has vanished must not take the target's rows along. */
static void
check_not_empty(const RfRefresh *refresh)
{
	const RfRefreshOptions *options = refresh->options;
	const RfRunCounts *counts = &refresh->run->counts;
	bool		allowed = options->insists ? options->allow_empty : refresh->flow->allow_empty;
	const char *rejected = counts->rows_rejected == 0 ? "" :
		psprintf(", of which expectations drop " INT64_FORMAT, counts->rows_rejected);

	if (!allowed && counts->rows_read == counts->rows_rejected && refresh->old_rows > 0)
		ereport(ERROR,
				(errcode(ERRCODE_CARDINALITY_VIOLATION),
				 errmsg("the query of flow \"%s\" gives no row for the window", refresh->flow->name),
				 errdetail(INT64_FORMAT " rows of the target would go; the query gives " INT64_FORMAT "%s.",
						   refresh->old_rows, counts->rows_read, rejected),
				 errhint("See whether its sources are complete. To go on all the same, give allow_empty => true to replace_flow.refresh() or to replace_flow.alter_flow().")));
}

/* Step 4. */
static void
compare(RfRefresh *refresh)
{
	const RfRunCounts *counts = &refresh->run->counts;
	RfSortedRow row;

	rf_progress_phase(RF_PHASE_COMPARING, counts->rows_read - counts->rows_rejected);
	rf_diff_open_group(refresh->diff, WINDOW_GROUP);
	while (rf_sort_next(refresh->new_rows, &row))
	{
		rf_diff_add_new(refresh->diff, row.hash, row.values, row.nulls);
		rf_progress_row();
	}
	rf_diff_close_group(refresh->diff);
	rf_run_count_changes(refresh->run, refresh->diff, refresh->writer);
}

static void
work(RfRun *run, void *arg)
{
	RfRefresh  *refresh = arg;

	PushActiveSnapshot(GetTransactionSnapshot());
	refresh->predicate = rf_predicate_settle(refresh->predicate);
	run->predicate = rf_predicate_text(refresh->flow, refresh->predicate);
	begin_pieces(refresh);
	read_new_rows(refresh);
	rf_failpoint("sources", "read");
	read_old_rows(refresh);
	rf_failpoint("window", "read");
	check_not_empty(refresh);
	compare(refresh);
	PopActiveSnapshot();
	if (!refresh->preview)
	{
		rf_writer_execute(refresh->writer);
		rf_progress_phase(RF_PHASE_RECORDING, RF_ROWS_UNKNOWN);
		rf_checks_record(refresh->checks, run->run_id);
		rf_failpoint("expectations", "recorded");
	}
	end_pieces(refresh);
}

static RfRunOrder
order_of(RfRefresh *refresh, const char *command, const char *flow_name)
{
	RfRunOrder	order = {
		.command = command,
		.flow_name = flow_name,
		.kind = RF_WHERE,
		.wait = refresh->options->wait,
		.prepare = prepare,
		.work = work,
		.arg = refresh
	};

	return order;
}

/*
 * Run a where flow once; give the run's record.
 */
RfRow
rf_refresh(const char *flow_name, const RfRefreshOptions *options)
{
	RfRefresh	refresh = {.options = options};
	RfRunOrder	order = order_of(&refresh, "replace_flow.refresh()", flow_name);

	return rf_run(&order);
}

/*
 * Empty the target of a where flow and recompute its window; give the run's
 * record.
 */
RfRow
rf_full_refresh(const char *flow_name)
{
	RfRefreshOptions options = {.wait = true};
	RfRefresh	refresh = {.options = &options, .full = true};
	RfRunOrder	order = order_of(&refresh, "replace_flow.full_refresh()", flow_name);

	return rf_run(&order);
}

/*
 * What a run would do.
 */
RfRunCounts
rf_preview_refresh(const char *flow_name, const char *override)
{
	RfRefreshOptions options = {.predicate_override = override};
	RfRefresh	refresh = {.options = &options, .preview = true};
	RfRunOrder	order = order_of(&refresh, "replace_flow.preview()", flow_name);

	return rf_preview(&order);
}
