/*-------------------------------------------------------------------------
 *
 * refresh_plan.c
 *	  How a run of a where flow does its work, and why.
 *
 * A run may leave out what is known to come out as it is.  That it is known takes
 * three things, and where one is missing the run recomputes its whole window and
 * says why:
 *
 *	1. The last run left the window as the query gave it then: there was one, of
 *	   this definition, for a window that covers the present one, and nobody has
 *	   changed rows of the window since (check_last_run, check_window,
 *	   check_target).
 *	2. The query gives the same as then, but for rows that changed: nothing in it
 *	   depends on the time, on what is not tracked, or on definitions that have
 *	   changed (check_query).
 *	3. It can be told which rows of the window the changed ones affect
 *	   (find_affected), and to recompute them is less work than to recompute all
 *	   (check_costs).
 *
 * A run with a predicate of its own does what it is asked to in the same way, and
 * changes nothing of what is remembered: then the next ordinary run goes on from
 * the last ordinary one.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "catalog/pg_trigger.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "nodes/readfuncs.h"
#include "optimizer/optimizer.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "attempt.h"
#include "capture_wanted.h"
#include "captured.h"
#include "fingerprint.h"
#include "flow_catalog.h"
#include "partition_overwrite.h"
#include "refresh_plan.h"
#include "repeatable.h"
#include "table_family.h"
#include "where_predicate.h"
#include "window.h"

/* To recompute groups must cost no more than this part of recomputing all. */
#define WORTHWHILE 0.9

/* What costs no more than this is not worth a thought: then only groups are recomputed. */
#define SMALL 1000

/*
 * Groups are taken apart by which columns of theirs are NULL.  Of few such parts each
 * may read all there is, if that is little; of many each has to be paid for, and
 * costs so much before it reads a row.
 */
#define FEW_PARTS 4
#define PART_COST 100

/* The part of a window's rows that are most of them. */
#define MOST 0.5

/* Groups whose cost is looked at, for that of all. */
#define SAMPLES 3

static const char *const technique_names[RF_TECHNIQUES] = {
	"NO_OP", "APPEND_ONLY", "ROW_BASED", "PARTITION_OVERWRITE", "COMPLETE_REPLACE_WHERE"
};

/* What the plan is made of. */
typedef struct RfPlanning
{
	const RfFlow *flow;
	const RfRefreshBase *base;
	Node	   *predicate;
	RfRefreshPlan *plan;
	List	   *changed;		/* of RfChangedSource */
	bool		inserts_only;
} RfPlanning;

/* What changed in a table. */
typedef struct RfChangedSource
{
	const RfSource *source;
	RfChangeSet *changes;
} RfChangedSource;

const char *
rf_technique_name(RfTechnique technique)
{
	return technique_names[technique];
}

/*
 * A technique by its name.
 */
RfTechnique
rf_technique_parse(const char *name, const char *flow_name)
{
	for (int i = 0; i < RF_TECHNIQUES; i++)
	{
		if (strcmp(name, technique_names[i]) == 0)
			return (RfTechnique) i;
	}
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("technique \"%s\" is not known", name),
			 errdetail("Flow \"%s\" was to be refreshed with it.", flow_name),
			 errhint("Leave the technique to the run, or use \"%s\".",
					 technique_names[RF_COMPLETE])));
}

static bool
is_in_trigger(void)
{
	return DatumGetInt32(DirectFunctionCall1(pg_trigger_depth, (Datum) 0)) > 0;
}

/*
 * Whether a statement of this session that has not ended uses a table.  If it
 * writes it, what it has done so far is seen, and not logged yet.  Around a trigger
 * it may also have changed rows because they reference others, and have closed the
 * table; their triggers come later.
 */
static bool
is_in_use(Oid relid)
{
	ListCell   *cell;
	bool		result = false;

	foreach(cell, rf_table_relatives(relid))
	{
		Relation	table = table_open(lfirst_oid(cell), NoLock);

		result |= table->rd_refcnt > 1 ||
			(is_in_trigger() && RelationGetFKeyList(table) != NIL);
		table_close(table, NoLock);
	}
	return result;
}

static bool
some_is_in_use(const RfFlow *flow, const RfSources *sources)
{
	ListCell   *cell;

	if (is_in_use(flow->target))
		return true;
	foreach(cell, sources->sources)
	{
		RfSource   *source = lfirst(cell);

		if (rf_source_obstacle(source) == NULL && is_in_use(source->relid))
			return true;
	}
	return false;
}

static void
take_fingerprints(RfRefreshBase *base, const RfFlow *flow)
{
	base->sources_print = rf_fingerprint_of_sources(flow, base->sources->query);
	base->target_print = rf_fingerprint_of_target(flow);
}

/*
 * What is known of an open flow before its run takes a snapshot.  Definitions that
 * change after it are found when it is remembered.
 */
RfRefreshBase *
rf_refresh_base(const RfFlow *flow)
{
	RfRefreshBase *base = palloc0(sizeof(RfRefreshBase));

	base->sources = rf_sources_of_flow(flow);
	base->in_use = some_is_in_use(flow, base->sources);
	base->has_seen = rf_seen_load(flow->id, &base->seen);
	base->captured = rf_captured_for(flow->id);
	take_fingerprints(base, flow);
	return base;
}

/*
 * After a restore, and where a view reads other tables than it did, the triggers
 * that the run could not go without are not there.  A unique index of the target can make
 * other columns of sources matter.  Place what can be placed without waiting, for
 * the runs that follow: this one goes by what was captured until now.
 */
void
rf_refresh_base_repair(RfRefreshBase *base, const RfFlow *flow)
{
	List	   *wanted = rf_capture_wanted(flow, base->sources);

	if (base->has_seen && base->seen.sources == base->sources_print &&
		base->seen.target == base->target_print && rf_captured_covers(base->captured, wanted))
		return;
	(void) rf_captured_place(flow, wanted, false);
	take_fingerprints(base, flow);
}

/* Whether something has to be recomputed whole: the reason is put down. */
static bool
is_complete(RfPlanning *planning, char *reason)
{
	RfRefreshPlan *plan = planning->plan;

	if (reason == NULL)
		return false;
	for (int i = RF_NO_OP; i <= RF_ROW_BASED; i++)
	{
		if (plan->against[i] == NULL)
			plan->against[i] = reason;
	}
	return true;
}

static char *
check_last_run(const RfPlanning *planning)
{
	const RfRefreshBase *base = planning->base;
	int32		version;

	if (!base->has_seen || base->seen.definition_version == 0)
		return rf_catalog_last_version(planning->flow->id, &version) ?
			"FIRST_RUN: no earlier run is known that this one could go on from" :
			"FIRST_RUN: the flow has not run before";
	if (base->seen.definition_version != planning->flow->definition_version)
		return "DEFINITION_CHANGED: the flow was altered since its last run";
	return NULL;
}

/* A crash empties a table, and nobody sees it. */
static bool
is_unlogged(Oid relid)
{
	ListCell   *cell;

	foreach(cell, rf_table_with_parts(relid))
	{
		if (get_rel_persistence(lfirst_oid(cell)) == RELPERSISTENCE_UNLOGGED)
			return true;
	}
	return false;
}

/* Whether triggers may store other values than the query gave. */
static bool
has_changing_triggers(Oid relid)
{
	Relation	table = table_open(relid, NoLock);
	TriggerDesc *triggers = table->trigdesc;
	bool		result = triggers != NULL &&
	(triggers->trig_insert_before_row || triggers->trig_update_before_row ||
	 triggers->trig_insert_instead_row || triggers->trig_update_instead_row);

	/* a rule may do anything */
	result |= table->rd_rel->relhasrules;
	table_close(table, NoLock);
	return result;
}

static char *
check_stored(const RfFlow *flow)
{
	ListCell   *cell;

	foreach(cell, rf_table_with_parts(flow->target))
	{
		if (has_changing_triggers(lfirst_oid(cell)))
			return psprintf("UNSUPPORTED_QUERY_SHAPE: triggers or rules of \"%s\" may store other "
							"values than the query gives",
							get_rel_name(lfirst_oid(cell)));
	}
	return NULL;
}

/* What cannot be known of a source, as a reason. */
static char *
check_source(const RfPlanning *planning, const RfSource *source)
{
	char	   *obstacle = rf_source_obstacle(source);

	if (obstacle == NULL && is_unlogged(source->relid))
		obstacle = psprintf("\"%s\" or a part of it is unlogged, and a crash empties it",
							get_rel_name(source->relid));
	if (obstacle == NULL && !rf_capture_is_complete(planning->base->captured, source->relid,
													planning->flow->owner))
		obstacle = psprintf("\"%s\" or a part of it lacks triggers of the flow",
							get_rel_name(source->relid));
	return obstacle == NULL ? NULL : psprintf("UNTRACKED_SOURCE: %s", obstacle);
}

static char *
check_query(const RfPlanning *planning)
{
	const RfRefreshBase *base = planning->base;
	ListCell   *cell;

	if (base->in_use)
		return "UNTRACKED_SOURCE: a statement that has not ended uses a table of the flow, and may "
			"change it";
	if (base->sources->culprit != NULL)
		return psprintf("PLAN_NOT_DETERMINISTIC: the query uses %s, which gives something else at "
						"another time",
						base->sources->culprit);
	foreach(cell, base->sources->sources)
	{
		char	   *reason = check_source(planning, lfirst(cell));

		if (reason != NULL)
			return reason;
	}

	/*
	 * now again: what came before the snapshot may have come with what is not
	 * logged
	 */
	if (base->seen.sources != base->sources_print ||
		rf_fingerprint_of_sources(planning->flow, base->sources->query) != base->sources_print)
		return "SOURCE_DDL_OR_BULK_CHANGE: a table, view or function that the query uses "
			"was changed or replaced";
	return NULL;
}

/* What the predicate says of a row is to be the same at any time. */
static char *
predicate_culprit(Node *predicate)
{
	return rf_repeatable_culprit(predicate);
}

/* The window of the last run, as conditions. */
static List *
last_window(const RfPlanning *planning)
{
	Node	   *predicate = stringToNode(planning->base->seen.predicate);

	return make_ands_implicit((Expr *) canonicalize_qual((Expr *) predicate, false));
}

static bool
is_covered(const RfPlanning *planning)
{
	Node	   *now = eval_const_expressions(NULL, copyObject(planning->predicate));

	return equal(planning->predicate, stringToNode(planning->base->seen.predicate)) ||
		predicate_implied_by(last_window(planning),
							 make_ands_implicit((Expr *) canonicalize_qual((Expr *) now, false)),
							 false);
}

static char *
check_window(const RfPlanning *planning)
{
	char	   *culprit = predicate_culprit(planning->predicate);

	if (culprit != NULL)
		return psprintf("REPLACE_WHERE_NOT_DETERMINISTIC: the predicate calls %s for each row",
						culprit);
	if (!planning->base->seen.settled)
		return "PRIOR_REPLACE_WHERE_NOT_DETERMINISTIC: the predicate of the last run called "
			"a function whose result is not known any more";
	if (!is_covered(planning))
		return "UNSUPPORTED_REPLACE_WHERE_PREDICATE: the window is not known to lie within "
			"that of the last run";
	return NULL;
}

/* The numbers that columns of one table have in another one of its family. */
static AttrNumber *
columns_in(Oid member, Oid relid, const Bitmapset *columns)
{
	AttrNumber *attnums = palloc((bms_num_members(columns) + 1) * sizeof(AttrNumber));
	int			attnum = 0;

	for (int i = 0; (attnum = bms_next_member(columns, attnum)) >= 0; i++)
		attnums[i] = member == relid ? (AttrNumber) attnum :
			get_attnum(member, get_attname(relid, (AttrNumber) attnum, false));
	return attnums;
}

/* Add to a set what entries say of a table, but for those of the flow itself. */
static void
add_entries(RfChangeSet *changes, Oid relid, const Bitmapset *columns, int32 flow_id, int nrows,
			const RfRow *rows, bool *inserts_only)
{
	List	   *members = rf_table_relatives(relid);

	for (int i = 0; i < nrows; i++)
	{
		Oid			member = rf_row_oid(&rows[i], "relid");
		bool		isnull;

		if (!list_member_oid(members, member) ||
			(flow_id != 0 && rf_row_int64(&rows[i], "flow_id") == flow_id))
			continue;
		rf_changes_add_content(changes, rf_row_datum(&rows[i], "content", &isnull),
							   columns_in(member, relid, columns));
		*inserts_only &= rf_row_bool(&rows[i], "inserts_only");
	}
}

static RfChangeSet *
begin_changes(Oid relid, const Bitmapset *columns)
{
	Relation	table = table_open(relid, AccessShareLock);
	RfChangeSet *changes = rf_changes_begin(RelationGetDescr(table), columns);

	table_close(table, NoLock);
	return changes;
}

/*
 * The tables whose changes matter to a flow.
 */
List *
rf_refresh_tables(const RfFlow *flow, const RfSources *sources)
{
	List	   *relids = rf_table_relatives(flow->target);
	ListCell   *cell;

	foreach(cell, sources->sources)
	{
		RfSource   *source = lfirst(cell);

		relids = list_concat_unique_oid(relids, rf_table_relatives(source->relid));
	}
	return relids;
}

/* The numbers of the target's columns that a predicate looks at, and where they are. */
static Bitmapset *
target_columns(const RfFlow *flow, Node *predicate)
{
	Bitmapset  *positions = rf_predicate_columns(predicate);
	Bitmapset  *attnums = NULL;
	int			position = -1;

	while ((position = bms_next_member(positions, position)) >= 0)
		attnums = bms_add_member(attnums, flow->output_attnums[flow->column_outputs[position]]);
	return attnums;
}

/* Whether a row of the target, in a slot, is in the window. */
static bool
is_in_window(const RfFlow *flow, RfRowCondition *condition, TupleTableSlot *slot)
{
	Datum	   *values = palloc(flow->columns->natts * sizeof(Datum));
	bool	   *nulls = palloc(flow->columns->natts * sizeof(bool));

	for (int i = 0; i < flow->columns->natts; i++)
	{
		AttrNumber	attnum = flow->output_attnums[flow->column_outputs[i]];

		values[i] = slot->tts_values[attnum - 1];
		nulls[i] = slot->tts_isnull[attnum - 1];
	}
	return rf_predicate_is_true(condition, values, nulls);
}

static bool
some_in_window(const RfPlanning *planning, const RfChangeSet *changes)
{
	Relation	target = table_open(planning->flow->target, NoLock);
	TupleTableSlot *slot = MakeSingleTupleTableSlot(RelationGetDescr(target), &TTSOpsVirtual);
	RfRowCondition *condition = rf_predicate_begin_rows(planning->flow, planning->predicate);
	int64		position = 0;
	bool		found = false;

	while (!found && rf_changes_next(changes, &position, slot))
		found = is_in_window(planning->flow, condition, slot);
	rf_predicate_end_rows(condition);
	ExecDropSingleTupleTableSlot(slot);
	table_close(target, NoLock);
	return found;
}

/* Whether others have changed the target's rows in the window. */
static char *
check_target(const RfPlanning *planning, int nrows, const RfRow *rows)
{
	const RfFlow *flow = planning->flow;
	Bitmapset  *columns = target_columns(flow, planning->predicate);
	RfChangeSet *changes = begin_changes(flow->target, columns);
	bool		inserts_only = true;

	if (is_unlogged(flow->target))
		return "EXTERNAL_CHANGE_IN_REPLACE_WINDOW: the target is unlogged, and a crash empties it";
	if (planning->base->seen.target != planning->base->target_print ||
		!rf_capture_is_complete(planning->base->captured, flow->target, flow->owner))
		return "EXTERNAL_CHANGE_IN_REPLACE_WINDOW: the target was altered, or a part of it "
			"came, went or was emptied";
	add_entries(changes, flow->target, columns, flow->id, nrows, rows, &inserts_only);
	if (rf_changes_is_empty(changes) || (rf_changes_kind(changes) == RF_CHANGES_ROWS &&
										 !some_in_window(planning, changes)))
		return NULL;
	return "EXTERNAL_CHANGE_IN_REPLACE_WINDOW: rows of the target were changed by others "
		"than the flow";
}

/* Which sources have changed, and which rows of them. */
static void
find_changes(RfPlanning *planning, int nrows, const RfRow *rows)
{
	ListCell   *cell;

	planning->inserts_only = true;
	foreach(cell, planning->base->sources->sources)
	{
		RfSource   *source = lfirst(cell);
		Bitmapset  *columns = rf_source_columns(source);
		RfChangedSource *changed = palloc(sizeof(RfChangedSource));

		changed->source = source;
		changed->changes = begin_changes(source->relid, columns);
		add_entries(changed->changes, source->relid, columns, 0, nrows, rows,
					&planning->inserts_only);
		if (!rf_changes_is_empty(changed->changes))
			planning->changed = lappend(planning->changed, changed);
	}
}

/* How many rows changed, as far as their values differ; -1 if that is not known. */
static int64
count_changes(const RfPlanning *planning)
{
	int64		count = 0;
	ListCell   *cell;

	foreach(cell, planning->changed)
	{
		RfChangedSource *changed = lfirst(cell);

		if (rf_changes_kind(changed->changes) != RF_CHANGES_ROWS)
			return -1;
		count += rf_changes_rows(changed->changes);
	}
	return count;
}

/* Columns by which all changes can be told from each other. */
static Bitmapset *
common_groups(const RfPlanning *planning)
{
	RfChangedSource *first = linitial(planning->changed);
	Bitmapset  *groups = bms_copy(first->source->groups);
	ListCell   *cell;

	foreach(cell, planning->changed)
		groups = bms_int_members(groups, ((RfChangedSource *) lfirst(cell))->source->groups);
	return groups;
}

static char *
check_changes(const RfPlanning *planning)
{
	ListCell   *cell;

	foreach(cell, planning->changed)
	{
		RfChangedSource *changed = lfirst(cell);
		char	   *name = get_rel_name(changed->source->relid);

		if (rf_changes_kind(changed->changes) == RF_CHANGES_ALL)
			return psprintf("SOURCE_DDL_OR_BULK_CHANGE: \"%s\" was emptied, or its changes were "
							"too "
							"many to be kept",
							name);
		if (bms_is_empty(changed->source->groups))
			return psprintf("UNSUPPORTED_QUERY_SHAPE: it cannot be told which rows a change of "
							"\"%s\" affects",
							name);
	}
	if (planning->changed != NIL && bms_is_empty(common_groups(planning)))
		return "UNSUPPORTED_QUERY_SHAPE: it cannot be told which rows the changes of all "
			"tables together affect";
	return NULL;
}

static void
add_affected(void *arg)
{
	RfPlanning *planning = arg;
	RfAffected *affected = planning->plan->affected;
	ListCell   *cell;
	ListCell   *occurrence;

	foreach(cell, planning->changed)
	{
		RfChangedSource *changed = lfirst(cell);

		foreach(occurrence, changed->source->occurrences)
			rf_affected_add(affected, lfirst(occurrence), changed->changes);
	}
	rf_affected_complete(affected, planning->predicate);
}

/* Which groups are affected; computing it may fail where the query itself would not. */
static char *
find_affected(RfPlanning *planning)
{
	RfRefreshPlan *plan = planning->plan;
	ErrorData  *error;

	plan->affected = rf_affected_begin(planning->flow, common_groups(planning));
	error = rf_attempt(add_affected, planning);
	if (error != NULL)
		return psprintf("UNSUPPORTED_QUERY_SHAPE: which rows are affected cannot be computed: %s",
						error->message);
	if (!rf_affected_is_bounded(plan->affected))
		return "TOO_MUCH_CHANGED: the changes are too many to be told from each other";
	plan->affected_groups = rf_affected_is_exact(plan->affected) ?
		rf_affected_groups(plan->affected) : -1;
	return NULL;
}

/* What the planner thinks of both sides of a window, and how many rows it holds. */
static double
cost_of(const RfFlow *flow, Node *predicate, double *old_rows)
{
	List	   *pushed;
	double		new_rows;

	return rf_query_cost(rf_window_new_rows(flow, predicate, &pushed), RF_PLAN_CACHED, &new_rows) +
		rf_query_cost(rf_window_old_rows(flow, predicate, false), RF_PLAN_CACHED, old_rows);
}

/* The same for each of the groups alone, as some of them show. */
static double
cost_of_probing(const RfPlanning *planning)
{
	const RfAffected *affected = planning->plan->affected;
	int64		ngroups = rf_affected_groups(affected);
	int64		step = Max(ngroups / SAMPLES, 1);
	double		cost = 0;
	int			samples = 0;

	for (int64 i = step / 2; i < ngroups; i += step)
	{
		double		rows;

		cost += cost_of(planning->flow,
						rf_affected_predicate_of_group(affected, planning->predicate, i), &rows);
		samples++;
	}
	return cost / samples * ngroups;
}

/* The part of some rows that are in the groups, if each of them is one row. */
static double
share_of(const RfAffected *affected, double rows)
{
	return Min(1, rf_affected_groups(affected) / Max(rows, 1));
}

/*
 * Choose the cheapest way: look for each group; read the range that the groups lie
 * in, and take their rows; or recompute the whole range.  The reason why it is none
 * of them, if it costs as much to recompute all.
 */
static char *
check_costs(RfPlanning *planning)
{
	RfRefreshPlan *plan = planning->plan;
	RfAffected *affected = plan->affected;
	double		rows;
	double		rows_in_range;
	int			parts = rf_affected_parts(affected);
	double		all = cost_of(planning->flow, planning->predicate, &rows);
	bool		is_small = all < SMALL && parts <= FEW_PARTS;
	double		range;
	double		scan;
	double		probe;

	plan->predicate = rf_affected_predicate(affected, planning->predicate);
	range = cost_of(planning->flow, plan->predicate, &rows_in_range);
	plan->costs[RF_COMPLETE] = all;
	plan->costs[RF_ROW_BASED] = range;
	if (rf_affected_is_exact(affected))
	{
		plan->affected_share = share_of(affected, rows);
		/* to look up each row's group costs something, too */
		scan = range * (0.6 + 0.5 * share_of(affected, rows_in_range)) * parts;
		probe = cost_of_probing(planning) + Max(parts - 1, 0) * PART_COST;
		plan->costs[RF_ROW_BASED] = Min(Min(range, scan), probe);
		rf_affected_probe(affected, probe < scan);
		if (range < Min(scan, probe) && !is_small)
			rf_affected_forget_groups(affected);
	}
	plan->costs[RF_APPEND_ONLY] = plan->costs[RF_ROW_BASED];
	if (plan->costs[RF_ROW_BASED] > WORTHWHILE * all && !is_small)
		return "TOO_MUCH_CHANGED: to recompute what is affected is expected to cost as much as "
			"to recompute all";
	return NULL;
}

/* What can be left out, once it is known that something can. */
static void
plan_changes(RfPlanning *planning)
{
	RfRefreshPlan *plan = planning->plan;
	char	   *too_much;

	plan->changed_rows = count_changes(planning);
	if (planning->changed == NIL)
	{
		plan->technique = RF_NO_OP;
		plan->affected_groups = 0;
		return;
	}
	if (is_complete(planning, check_changes(planning)) ||
		is_complete(planning, find_affected(planning)))
		return;
	if (plan->affected_groups == 0)
	{
		plan->technique = RF_NO_OP;
		return;
	}
	plan->against[RF_NO_OP] = "ROWS_CHANGED: rows that have a part in the window were changed";
	if (!planning->inserts_only)
		plan->against[RF_APPEND_ONLY] = "ROWS_CHANGED: rows were updated or deleted";
	too_much = check_costs(planning);
	plan->technique = planning->inserts_only ? RF_APPEND_ONLY : RF_ROW_BASED;
	if (too_much != NULL)
	{
		plan->technique = RF_COMPLETE;
		plan->reasons = list_make1(too_much);
	}
}

static bool
can_leave_out(RfPlanning *planning)
{
	const RfFlow *flow = planning->flow;
	RfRow	   *rows;
	int			nrows;

	if (is_complete(planning, check_last_run(planning)) ||
		is_complete(planning, check_stored(planning->flow)) ||
		is_complete(planning, check_query(planning)) ||
		is_complete(planning, check_window(planning)))
		return false;
	nrows = rf_change_log_read(rf_refresh_tables(flow, planning->base->sources),
							   &planning->base->seen, &rows);
	planning->plan->remembers = nrows > 0;
	find_changes(planning, nrows, rows);
	return !is_complete(planning, check_target(planning, nrows, rows));
}

/* Whether the window can be overwritten partition by partition. */
static void
check_partitions(RfPlanning *planning)
{
	RfRefreshPlan *plan = planning->plan;
	char	   *obstacle = rf_overwrite_obstacle(planning->flow, planning->predicate,
												 &plan->partitions);

	if (obstacle != NULL)
		plan->against[RF_PARTITION_OVERWRITE] =
			psprintf("UNSUPPORTED_REPLACE_WHERE_PREDICATE: %s", obstacle);
	else if (planning->base->in_use)
		plan->against[RF_PARTITION_OVERWRITE] =
			"LOCKED: a statement that has not ended uses a table of the flow";
}

/* Overwrite partitions if most of their rows are known to have changed. */
static void
consider_overwriting(RfPlanning *planning, const RfRefreshRequest *request)
{
	RfRefreshPlan *plan = planning->plan;
	bool		most = plan->technique == RF_COMPLETE && plan->affected_share >= MOST;

	if (!most && !request->only_plans)
		return;
	check_partitions(planning);
	if (plan->against[RF_PARTITION_OVERWRITE] != NULL)
		return;
	if (!most)
		plan->against[RF_PARTITION_OVERWRITE] =
			"ROWS_STAY: most rows of the window may be as they are";
	else if (!request->only_plans && !rf_overwrite_lock(plan->partitions, false))
		plan->against[RF_PARTITION_OVERWRITE] = "LOCKED: partitions of the window are being read";
	else
		plan->technique = RF_PARTITION_OVERWRITE;
}

/* The technique that was asked for; it must not give another result. */
static void
take_requested(RfPlanning *planning, const RfRefreshRequest *request)
{
	RfRefreshPlan *plan = planning->plan;
	RfTechnique technique = rf_technique_parse(request->technique, planning->flow->name);

	if (technique == RF_PARTITION_OVERWRITE)
		check_partitions(planning);
	if (plan->against[technique] != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("flow \"%s\" cannot be refreshed with technique \"%s\" now",
						planning->flow->name, request->technique),
				 errdetail("%s.", plan->against[technique]),
				 errhint("Leave the technique to the run; replace_flow.planning(%s) shows what it would do.",
						 quote_literal_cstr(planning->flow->name))));
	if (technique == RF_PARTITION_OVERWRITE)
		(void) rf_overwrite_lock(plan->partitions, true);
	plan->technique = technique;
	plan->reasons = list_make1("REQUESTED: the technique was given in the call");
}

/*
 * The plan of a run that recomputes all of its window.
 */
RfRefreshPlan *
rf_refresh_plan_complete(Node *predicate)
{
	RfRefreshPlan *plan = palloc0(sizeof(RfRefreshPlan));

	plan->technique = RF_COMPLETE;
	plan->predicate = predicate;
	plan->remembers = true;
	plan->changed_rows = -1;
	plan->affected_groups = -1;
	plan->affected_share = -1;
	for (int i = 0; i < RF_TECHNIQUES; i++)
		plan->costs[i] = -1;
	return plan;
}

/*
 * Whether there is nothing to recompute.
 */
bool
rf_refresh_plan_is_empty(const RfRefreshPlan *plan)
{
	return plan->technique != RF_COMPLETE && plan->technique != RF_PARTITION_OVERWRITE &&
		(plan->affected == NULL || plan->affected_groups == 0);
}

/*
 * Recompute the whole window after all, under the name that the plan has.
 */
void
rf_refresh_plan_give_up(RfRefreshPlan *plan, Node *predicate)
{
	plan->affected = NULL;
	plan->predicate = predicate;
}

/*
 * Decide how to recompute the window of a settled predicate, under the run's
 * snapshot and as the flow's owner.
 */
RfRefreshPlan *
rf_refresh_plan(const RfFlow *flow, const RfRefreshBase *base,
				const RfRefreshRequest *request, Node *predicate)
{
	RfRefreshPlan *plan = rf_refresh_plan_complete(predicate);
	RfPlanning	planning = {.flow = flow, .base = base, .predicate = predicate, .plan = plan};

	if (request->full)
		(void) is_complete(&planning, "REQUESTED: a full refresh was called for");
	else if (can_leave_out(&planning))
		plan_changes(&planning);
	if (request->technique != NULL)
		take_requested(&planning, request);
	else if (plan->technique == RF_COMPLETE || request->only_plans)
		consider_overwriting(&planning, request);
	if (plan->technique == RF_COMPLETE && plan->reasons == NIL)
		plan->reasons = list_make1(plan->against[RF_NO_OP]);
	if (plan->technique != RF_PARTITION_OVERWRITE)
		plan->partitions = NIL;
	if (plan->technique != RF_ROW_BASED && plan->technique != RF_APPEND_ONLY)
	{
		plan->affected = NULL;
		plan->predicate = predicate;
	}
	plan->remembers = (plan->remembers || plan->technique != RF_NO_OP) && !request->is_override;
	return plan;
}

/*
 * Remember what a run has seen, which has read all that it reads, and written what
 * it writes.
 */
void
rf_refresh_remember(const RfFlow *flow, const RfRefreshBase *base, const RfRefreshPlan *plan,
					Datum snapshot, Node *predicate)
{
	List	   *relids = rf_refresh_tables(flow, base->sources);
	RfSeen		seen = {
		.definition_version = flow->definition_version,
		.predicate = nodeToString(predicate),
		.settled = predicate_culprit(predicate) == NULL,
		.sources = base->sources_print,

		/*
		 * no table has none; then the next run knows that this one was not
		 * exact
		 */
		.target = check_stored(flow) == NULL ? rf_fingerprint_of_target(flow) : 0,
		.relids = relids,
		.snapshot = snapshot
	};

	if (!plan->remembers || base->in_use)
	{
		if (base->has_seen && base->seen.sources != base->sources_print)
			rf_seen_doubt(flow->id);
		return;
	}
	if (!base->has_seen || list_difference_oid(relids, base->seen.relids) != NIL)
		rf_seen_nothing(flow->id, relids);
	else if (!base->seen.is_new)
		rf_seen_store(flow->id, &seen);
	rf_change_log_prune(relids);
}
