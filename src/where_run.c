/*-------------------------------------------------------------------------
 *
 * where_run.c
 *	  One run of a where flow.
 *
 * The story of a run, once all is locked and open (flow_run.c):
 *
 *	1. Settle the predicate: the flow's own, or the one that was given for this
 *	   run.
 *	2. Plan: see what changed since the last run, and which part of the window is
 *	   to be recomputed (refresh_plan.c): all, some groups of rows, or nothing.
 *	3. Read new rows: those of the query that are in this part.  Expectations drop
 *	   some; the rest is converted to the target's types and sorted by the hash
 *	   that row_diff wants.
 *	4. Read old rows: those of the target that are in it, under the same snapshot.
 *	5. Compare: all of them are one group of the diff.
 *	6. Write: deletes, updates, inserts.
 *	7. Remember what was seen.
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
#include "partition_overwrite.h"
#include "query.h"
#include "reentry.h"
#include "refresh_plan.h"
#include "row_diff.h"
#include "row_sort.h"
#include "table_family.h"
#include "target_shape.h"
#include "target_write.h"
#include "where_predicate.h"
#include "where_run.h"
#include "window.h"

/* The one group that all rows are. */
#define WINDOW_GROUP 1

/* The pieces that a run works with. */
typedef struct RfRefresh
{
	const RfRefreshOptions *options;
	bool		full;			/* a full refresh */
	bool		preview;
	const RfFlow *flow;
	RfRun	   *run;
	RfRefreshBase *base;		/* not in a preview */
	RfRefreshPlan *plan;
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

/* Step 1, as the caller, whose names an override uses. */
static void
prepare(RfRun *run, void *arg)
{
	RfRefresh  *refresh = arg;
	const RfRefreshOptions *options = refresh->options;

	refresh->run = run;
	refresh->flow = run->flow;
	if (options->technique != NULL)
		(void) rf_technique_parse(options->technique, run->flow->name);
	if (refresh->full)
		check_reset(run->flow);
	refresh->predicate = rf_predicate_of_run(run->flow, options->predicate_override);
	if (refresh->preview)
		return;
	refresh->base = rf_refresh_base(run->flow);
	rf_refresh_base_repair(refresh->base, run->flow);
}

/* Step 2: what is to be recomputed.  A preview tells of the whole window. */
static void
make_plan(RfRefresh *refresh)
{
	const RfRefreshOptions *options = refresh->options;
	RfRefreshRequest request = {
		.full = refresh->full,
		.is_override = options->predicate_override != NULL,
		.technique = options->technique
	};
	RfRun	   *run = refresh->run;

	if (refresh->preview)
	{
		refresh->plan = rf_refresh_plan_complete(refresh->predicate);
		return;
	}
	refresh->plan = rf_refresh_plan(refresh->flow, refresh->base, &request, refresh->predicate);
	run->technique = rf_technique_name(refresh->plan->technique);
	run->reasons = refresh->plan->reasons;
	if (options->reason != NULL)
		run->reasons = lcons(unconstify(char *, options->reason), run->reasons);
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

/* Whether no old row is to stay: partitions are emptied, and filled again. */
static bool
overwrites(const RfRefresh *refresh)
{
	return refresh->plan->partitions != NIL;
}

static bool
is_true(const TupleTableSlot *slot, int column)
{
	return !slot->tts_isnull[column] && DatumGetBool(slot->tts_values[column]);
}

/* Step 3, for one row of the query. */
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
	if (overwrites(refresh))
	{
		rf_writer_insert(refresh->writer, refresh->values, refresh->nulls);
		return;
	}
	rf_sort_add(refresh->new_rows,
				rf_diff_hash(refresh->diff, refresh->values, refresh->nulls),
				refresh->values, refresh->nulls);
}

/* In how many parts rows are read: by groups, or all of the plan's window. */
static int
parts_to_read(const RfRefresh *refresh)
{
	const RfAffected *affected = refresh->plan->affected;

	return affected == NULL ? 1 : rf_affected_parts(affected);
}

static RfPlan
plan_of(const RfRefresh *refresh)
{
	const RfAffected *affected = refresh->plan->affected;

	return affected == NULL ? RF_PLAN_FREE : rf_affected_plan(affected);
}

static void
read_new_part(RfRefresh *refresh, int part)
{
	RfRefreshPlan *plan = refresh->plan;
	List	   *pushed;
	Query	   *query = rf_window_new_rows(refresh->flow, plan->predicate, &pushed);
	RfGivenRows *groups = NULL;

	if (plan->affected != NULL)
		groups = rf_affected_restrict_source(plan->affected, part, query);
	rf_query_each_of(query, plan_of(refresh), groups, rf_window_new_types(refresh->flow),
					 read_new_row, refresh);
}

static void
read_new_rows(RfRefresh *refresh)
{
	rf_progress_phase(RF_PHASE_READING, RF_ROWS_UNKNOWN);
	for (int part = 0; part < parts_to_read(refresh); part++)
		read_new_part(refresh, part);
	rf_checks_complete(refresh->checks);
	refresh->run->counts.rows_rejected = rf_checks_rejected(refresh->checks);
	rf_sort_complete(refresh->new_rows);
}

/* Step 4, for one row of the target. */
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
	if (overwrites(refresh))
		return;
	if (!is_true(slot, RF_OLD_IN_WINDOW))
		refresh->run->counts.rows_reset++;
	/* one that is referenced from elsewhere may have moved into the window */
	if (is_true(slot, RF_OLD_IN_WINDOW) || refresh->referenced)
		rf_diff_add_old(refresh->diff, WINDOW_GROUP, &old.address, old.values, old.nulls);
	else
		rf_writer_delete(refresh->writer, &old);
}

static void
read_old_part(RfRefresh *refresh, int part)
{
	RfRefreshPlan *plan = refresh->plan;
	Query	   *query = rf_window_old_rows(refresh->flow, plan->predicate, refresh->full);
	RfGivenRows *groups = NULL;

	if (plan->affected != NULL)
		groups = rf_affected_restrict_target(plan->affected, part, query);
	/* its columns have the types that the flow was opened with */
	rf_query_each_of(query, plan_of(refresh), groups, NULL, read_old_row, refresh);
}

static void
read_old_rows(RfRefresh *refresh)
{
	rf_progress_phase(RF_PHASE_FINDING, RF_ROWS_UNKNOWN);
	for (int part = 0; part < parts_to_read(refresh); part++)
		read_old_part(refresh, part);
	rf_diff_old_complete(refresh->diff);
}

/* Whether the window would be left without a row. */
static bool
is_emptied(const RfRefresh *refresh)
{
	const RfRunCounts *counts = &refresh->run->counts;

	return counts->rows_read == counts->rows_rejected && refresh->old_rows > 0;
}

static bool
may_be_emptied(const RfRefresh *refresh)
{
	const RfRefreshOptions *options = refresh->options;

	return options->insists ? options->allow_empty : refresh->flow->allow_empty;
}

/* A source that has vanished must not take the target's rows along. */
static void
check_not_empty(const RfRefresh *refresh)
{
	const RfRunCounts *counts = &refresh->run->counts;
	const char *rejected = counts->rows_rejected == 0 ? "" :
	psprintf(", of which expectations drop " INT64_FORMAT, counts->rows_rejected);

	if (!may_be_emptied(refresh) && is_emptied(refresh))
		ereport(ERROR,
				(errcode(ERRCODE_CARDINALITY_VIOLATION),
				 errmsg("the query of flow \"%s\" gives no row for the window", refresh->flow->name),
				 errdetail(INT64_FORMAT " rows of the target would go; the query gives " INT64_FORMAT "%s.",
						   refresh->old_rows, counts->rows_read, rejected),
				 errhint("See whether its sources are complete. To go on all the same, give allow_empty => true to replace_flow.refresh() or to replace_flow.alter_flow().")));
}

/* Step 5. */
static void
compare(RfRefresh *refresh)
{
	const RfRunCounts *counts = &refresh->run->counts;
	RfSortedRow row;

	if (overwrites(refresh))
	{
		rf_run_count_changes(refresh->run, refresh->diff, refresh->writer);
		refresh->run->counts.rows_deleted = refresh->old_rows;
		return;
	}
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
read_rows(RfRefresh *refresh)
{
	begin_pieces(refresh);
	read_new_rows(refresh);
	rf_failpoint("sources", "read");
	read_old_rows(refresh);
	rf_failpoint("window", "read");
}

/*
 * Some groups have vanished, and the window must not: whether other rows are left
 * in it is seen when all of it is read.
 */
static void
read_all_after_all(RfRefresh *refresh)
{
	end_pieces(refresh);
	refresh->run->counts = (RfRunCounts)
	{
		0
	};
	refresh->old_rows = 0;
	rf_refresh_plan_give_up(refresh->plan, refresh->predicate);
	read_rows(refresh);
}

/* Steps 3 to 6. */
static void
recompute(RfRefresh *refresh)
{
	read_rows(refresh);
	if (refresh->plan->affected != NULL && is_emptied(refresh) && !may_be_emptied(refresh))
		read_all_after_all(refresh);
	check_not_empty(refresh);
	compare(refresh);
}

static void
write_changes(RfRefresh *refresh)
{
	const RfFlow *flow = refresh->flow;

	rf_reentry_write(flow->id, rf_table_with_parts(flow->target));
	if (overwrites(refresh))
		rf_overwrite_empty(flow, refresh->plan->partitions);
	rf_writer_execute(refresh->writer);
	rf_reentry_write(flow->id, NIL);
	rf_progress_phase(RF_PHASE_RECORDING, RF_ROWS_UNKNOWN);
	rf_checks_record(refresh->checks, refresh->run->run_id);
	rf_failpoint("expectations", "recorded");
}

static void
work(RfRun *run, void *arg)
{
	RfRefresh  *refresh = arg;
	Datum		snapshot;
	bool		nothing;

	PushActiveSnapshot(GetTransactionSnapshot());
	snapshot = rf_seen_snapshot();
	refresh->predicate = rf_predicate_settle(refresh->predicate);
	run->predicate = rf_predicate_text(refresh->flow, refresh->predicate);
	make_plan(refresh);
	nothing = rf_refresh_plan_is_empty(refresh->plan);
	if (!nothing)
		recompute(refresh);
	PopActiveSnapshot();
	if (!nothing && !refresh->preview)
		write_changes(refresh);
	if (!nothing)
		end_pieces(refresh);
	if (!refresh->preview)
		rf_refresh_remember(refresh->flow, refresh->base, refresh->plan->remembers, snapshot,
							refresh->predicate);
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
