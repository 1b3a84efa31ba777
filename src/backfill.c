/*-------------------------------------------------------------------------
 *
 * backfill.c
 *	  A long range of a where flow's target is recomputed in slices.
 *
 * A slice is a half-open part of the range, and one run: a refresh whose
 * predicate is that the column lies in it.  Each has a transaction of its own,
 * so that no lock is held for long, and what is done stays done.
 *
 * What a backfill has done is a row of a table, which the transaction of each
 * slice changes.  So whatever ends a backfill (an error, a cancel, a crash), the
 * same call goes on where it stopped.  Two sessions that make the same call
 * share the work: the locks of a run give each of them the next slice.
 *
 * The limits of slice i are from + i * step and from + (i + 1) * step, computed
 * by the server in the column's type and the flow's time zone: days keep their
 * length in local time, and the last day of a month does not drift.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "tcop/pquery.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "argument.h"
#include "failpoint.h"
#include "flow.h"
#include "flow_catalog.h"
#include "flow_query.h"
#include "flow_run.h"
#include "query.h"
#include "role.h"
#include "sql_text.h"
#include "where_run.h"

PG_FUNCTION_INFO_V1(replace_flow_backfill);

/* More slices than anybody means. */
#define MAX_SLICES 10000000

/* The types of columns by which one can go. */
static const RfRangeType range_types[] = {
	{INT2OID, "numeric", "numeric", "numeric"},
	{INT4OID, "numeric", "numeric", "numeric"},
	{INT8OID, "numeric", "numeric", "numeric"},
	{NUMERICOID, "numeric", "numeric", "numeric"},
	{DATEOID, "date", "interval", "float8"},
	{TIMESTAMPOID, "timestamp", "interval", "float8"},
	{TIMESTAMPTZOID, "timestamptz", "interval", "float8"}
};

/* What the caller may give for them; a date is also the time when it begins. */
static const Oid numbers[] = {INT2OID, INT4OID, INT8OID, NUMERICOID, TEXTOID, InvalidOid};
static const Oid dates[] = {DATEOID, TEXTOID, InvalidOid};
static const Oid times[] = {TIMESTAMPOID, DATEOID, TEXTOID, InvalidOid};
static const Oid zoned_times[] = {TIMESTAMPTZOID, TEXTOID, InvalidOid};
static const Oid intervals[] = {INTERVALOID, TEXTOID, InvalidOid};
static const Oid intervals_or_days[] = {
	INTERVALOID, INT2OID, INT4OID, INT8OID, TEXTOID, InvalidOid
};

/* A call. */
typedef struct RfRange
{
	const RfFlow *flow;
	const char *column;			/* as the target has it */
	const RfRangeType *type;
	RfBackfillRow row;			/* with the values as canonical texts */
} RfRange;

/*
 * A value that the caller gave, as text.  It is a literal without a type, or of
 * one of some types.
 */
static char *
argument_as_text(FunctionCallInfo fcinfo, const RfRange *range, int number, const char *name,
				 const Oid *allowed_types)
{
	Datum		value = rf_argument(fcinfo, number, name);
	Oid			type = get_fn_expr_argtype(fcinfo->flinfo, number);
	Oid			output;
	bool		is_varlena;

	if (type == UNKNOWNOID)
		return pstrdup(DatumGetCString(value));
	while (OidIsValid(*allowed_types) && *allowed_types != type)
		allowed_types++;
	if (!OidIsValid(*allowed_types))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("\"%s\" of the backfill of flow \"%s\" cannot be of type %s",
						name, range->flow->name, format_type_be(type)),
				 errdetail("Column \"%s\" has type %s.", range->column,
						   format_type_be(range->type->type)),
				 errhint("Cast the value.")));
	getTypeOutputInfo(type, &output, &is_varlena);
	return OidOutputFunctionCall(output, value);
}

static void
find_column(RfRange *range, const char *name)
{
	const RfFlow *flow = range->flow;
	char	  **names = palloc(flow->columns->natts * sizeof(char *));
	char	   *closest;

	for (int i = 0; i < flow->columns->natts; i++)
	{
		Form_pg_attribute column = TupleDescAttr(flow->columns, i);

		names[i] = NameStr(column->attname);
		if (strcmp(names[i], name) != 0)
			continue;
		range->column = names[i];
		range->row.column = rf_flow_column_attnum(flow, i);
		for (size_t j = 0; j < lengthof(range_types); j++)
		{
			if (range_types[j].type == getBaseType(column->atttypid))
				range->type = &range_types[j];
		}
		if (range->type != NULL)
			return;
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("flow \"%s\" cannot be backfilled by column \"%s\"", flow->name, name),
				 errdetail("It has type %s.", format_type_be(column->atttypid)),
				 errhint("Use a column of an integer type, numeric, date, timestamp or timestamptz.")));
	}
	closest = rf_closest_name(name, flow->columns->natts, names);
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_COLUMN),
			 errmsg("column \"%s\" of flow \"%s\" does not exist", name, flow->name),
			 errdetail("The columns are %s.", rf_sql_names(flow->columns->natts, names)),
			 closest != NULL ? errhint("Perhaps you meant the column \"%s\".", closest) :
			 errhint("Use a column of the target that the query gives.")));
}

/* Which value is being read, for errors. */
typedef struct RfValueOrigin
{
	const char *flow_name;
	const char *parameter;
} RfValueOrigin;

static void
add_value_context(void *arg)
{
	const RfValueOrigin *origin = arg;

	errcontext("parameter \"%s\" of the backfill of flow \"%s\"",
			   origin->parameter, origin->flow_name);
}

/* A text as a value of a type, and as text again. */
static char *
canonical(const RfRange *range, const char *parameter, const char *type, const char *value)
{
	RfValueOrigin origin = {range->flow->name, parameter};
	ErrorContextCallback callback = {error_context_stack, add_value_context, &origin};
	RfArgs		args = {0};
	RfRow		row;

	error_context_stack = &callback;
	rf_arg_text(&args, value);
	(void) rf_query_first(rf_sql_canonical(type), &args, &row);
	error_context_stack = callback.previous;
	return rf_row_text(&row, "value");
}

/*
 * Act as the flow's owner, in the flow's time zone, and write times in a way
 * that can be read again.
 */
static void
assume(RfRoleGuard *guard, const RfFlow *flow)
{
	rf_flow_assume(guard, flow);
	/* the order of day and month stays the flow's */
	rf_role_set("DateStyle", "ISO");
	rf_role_set("IntervalStyle", "postgres");
}

static char *
read_limit(FunctionCallInfo fcinfo, const RfRange *range, int number, const char *name)
{
	Oid			type = range->type->type;
	const Oid  *allowed_types = type == DATEOID ? dates : type == TIMESTAMPOID ? times :
		type == TIMESTAMPTZOID ? zoned_times : numbers;

	return canonical(range, name, format_type_be_qualified(type),
					 argument_as_text(fcinfo, range, number, name, allowed_types));
}

/* Days are what a whole number means beside a date. */
static char *
read_step(FunctionCallInfo fcinfo, const RfRange *range, int number)
{
	Oid			type = range->type->type;
	const Oid  *allowed_types = type == DATEOID ? intervals_or_days :
		type == TIMESTAMPOID || type == TIMESTAMPTZOID ? intervals : numbers;
	char	   *step = argument_as_text(fcinfo, range, number, "step", allowed_types);

	if (type == DATEOID && strspn(step, "0123456789") == strlen(step))
		step = psprintf("%s days", step);
	step = canonical(range, "step", range->type->step_type, step);
	/* neither NaN nor Infinity: nothing can be multiplied by them */
	if (allowed_types == numbers && strpbrk(step, "0123456789") == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("step %s of the backfill of flow \"%s\" is not a number of values",
						step, range->flow->name),
				 errhint("Give a number.")));
	return step;
}

/*
 * The limits of a slice, and whether the range goes on behind it.  The last one
 * ends with the range.
 */
static bool
find_limits(const RfRange *range, int64 slice, char **lower, char **upper)
{
	RfArgs		args = {0};
	RfRow		row;

	rf_arg_text(&args, range->row.from_value);
	rf_arg_text(&args, range->row.step);
	rf_arg_text(&args, psprintf(INT64_FORMAT, slice));
	rf_arg_text(&args, psprintf(INT64_FORMAT, slice + 1));
	rf_arg_text(&args, range->row.to_value);
	(void) rf_query_first(rf_sql_slice_limits(range->type), &args, &row);
	*lower = rf_row_text(&row, "lower_limit");
	*upper = rf_row_text(&row, "upper_limit");
	if (!rf_row_bool(&row, "advances"))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("step %s of the backfill of flow \"%s\" does not advance",
						range->row.step, range->flow->name),
				 errdetail("A slice would begin and end at %s.", *lower),
				 errhint("Give a step that takes a slice at least to the column's next value.")));
	return rf_row_bool(&row, "goes_on");
}

/* How many slices the range has: the first that reaches its end is the last. */
static int64
count_slices(const RfRange *range)
{
	int64		below = -1;		/* the range goes on behind this one */
	int64		last = 0;
	char	   *lower;
	char	   *upper;

	while (find_limits(range, last, &lower, &upper))
	{
		below = last;
		last = last * 2 + 1;
		if (last > MAX_SLICES)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("the backfill of flow \"%s\" has more than %d slices",
							range->flow->name, MAX_SLICES),
					 errhint("Give a larger step.")));
	}
	while (last - below > 1)
	{
		int64		middle = below + (last - below) / 2;

		if (find_limits(range, middle, &lower, &upper))
			below = middle;
		else
			last = middle;
	}
	return last + 1;
}

static bool
is_empty(const RfRange *range)
{
	RfArgs		args = {0};
	RfRow		row;

	rf_arg_text(&args, range->row.from_value);
	rf_arg_text(&args, range->row.to_value);
	(void) rf_query_first(rf_sql_range_is_empty(range->type), &args, &row);
	return rf_row_bool(&row, "is_empty");
}

/*
 * Lock the flow as a run does.  That comes before the lock on the backfill's row:
 * who drops the flow has the flow when he comes to that row.
 */
static RfFlow *
lock_flow(const char *name)
{
	RfFlow	   *flow = rf_run_lock(name, RF_WHERE);

	if (flow == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("the backfill of flow \"%s\" cannot go on", name),
				 errdetail("The flow is paused."),
				 errhint("Resume it with replace_flow.resume_flow() and make the same call again.")));
	return flow;
}

static RfRange *
read_range(FunctionCallInfo fcinfo)
{
	RfRange    *range = palloc0(sizeof(RfRange));
	RfFlow	   *flow = lock_flow(rf_argument_text(fcinfo, 0, "flow"));
	char	   *column = rf_argument_text(fcinfo, 1, "column_name");
	RfRoleGuard guard;

	rf_flow_open(flow);
	range->flow = flow;
	find_column(range, column);
	assume(&guard, flow);
	range->row.flow_id = flow->id;
	range->row.definition_version = flow->definition_version;
	range->row.from_value = read_limit(fcinfo, range, 2, "from_value");
	range->row.to_value = read_limit(fcinfo, range, 3, "to_value");
	range->row.step = read_step(fcinfo, range, 4);
	range->row.newest_first = rf_argument_bool(fcinfo, 5, "newest_first");
	range->row.slices_total = is_empty(range) ? 0 : count_slices(range);
	rf_role_restore(&guard);
	return range;
}

/*
 * Note that the backfill is there, unless it was begun before; a definition that
 * has changed since begins anew.
 */
static RfRange *
begin_backfill(FunctionCallInfo fcinfo)
{
	RfRange    *range = read_range(fcinfo);
	int64		done = 0;

	if (range->row.slices_total > 0)
		done = rf_catalog_begin_backfill(&range->row, range->flow->target);
	else
		ereport(NOTICE,
				(errmsg("the backfill of flow \"%s\" has nothing to do", range->flow->name),
				 errdetail("There is nothing from %s to before %s.", range->row.from_value,
						   range->row.to_value)));
	if (done > 0)
		ereport(NOTICE,
				(errmsg("the backfill of flow \"%s\" goes on after " INT64_FORMAT " of " INT64_FORMAT " slices",
						range->flow->name, done, range->row.slices_total)));
	return range;
}

static void
report_slice(const RfRange *range, int64 number, const char *lower, const char *upper,
			 const RfRow *run)
{
	ereport(NOTICE,
			(errmsg("backfill of flow \"%s\": slice " INT64_FORMAT " of " INT64_FORMAT ", \"%s\" from %s to before %s: " INT64_FORMAT " rows inserted, " INT64_FORMAT " updated, " INT64_FORMAT " deleted",
					range->flow->name, number, range->row.slices_total, range->column,
					lower, upper, rf_row_int64(run, "rows_inserted"),
					rf_row_int64(run, "rows_updated"), rf_row_int64(run, "rows_deleted"))));
}

/* A flow that is gone has no backfill either, and one that was altered another. */
static void
check_flow(const RfRange *range, const RfFlow *flow)
{
	if (flow->id != range->flow->id ||
		flow->definition_version != range->row.definition_version)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("the backfill of flow \"%s\" cannot go on", flow->name),
				 errdetail("The flow was altered meanwhile."),
				 errhint("Make the same call again, which begins anew.")));
}

/* Recompute one slice; false when none is left. */
static bool
refresh_slice(const RfRange *range)
{
	RfRefreshOptions options = {.wait = true};
	int64		done;
	int64		slice;
	char	   *lower;
	char	   *upper;
	RfRow		run;
	RfRoleGuard guard;

	rf_query_begin();
	check_flow(range, lock_flow(range->flow->name));
	if (!rf_catalog_lock_backfill(&range->row, &done))
	{
		rf_query_end();
		return false;
	}
	slice = range->row.newest_first ? range->row.slices_total - 1 - done : done;
	assume(&guard, range->flow);
	(void) find_limits(range, slice, &lower, &upper);
	rf_role_restore(&guard);
	options.predicate_override = rf_sql_slice_predicate(range->column, range->type->type,
														lower, upper);
	run = rf_refresh(range->flow->name, &options);
	rf_catalog_slice_done(&range->row, done + 1);
	rf_query_end();
	report_slice(range, done + 1, lower, upper, &run);
	return true;
}

static void
check_call(FunctionCallInfo fcinfo)
{
	CallContext *context = (CallContext *) fcinfo->context;

	if (context == NULL || !IsA(context, CallContext) || context->atomic)
		ereport(ERROR,
				(errcode(ERRCODE_ACTIVE_SQL_TRANSACTION),
				 errmsg("the backfill of flow \"%s\" cannot run inside a transaction",
						rf_argument_text(fcinfo, 0, "flow")),
				 errdetail("Each of its slices has a transaction of its own."),
				 errhint("CALL replace_flow.backfill() on its own, outside of a transaction block and of functions.")));
}

/* All slices that are left, each with what it needs for its time. */
static void
refresh_slices(const RfRange *range)
{
	MemoryContext caller = CurrentMemoryContext;
	MemoryContext context = AllocSetContextCreate(caller, "replace_flow slice",
												  ALLOCSET_DEFAULT_SIZES);
	bool		more = range->row.slices_total > 0;

	while (more)
	{
		CHECK_FOR_INTERRUPTS();
		MemoryContextSwitchTo(context);
		EnsurePortalSnapshotExists();
		more = refresh_slice(range);
		rf_failpoint("slice", "done");
		/* this too leaves something in the context */
		rf_query_commit();
		MemoryContextSwitchTo(caller);
		MemoryContextReset(context);
	}
}

/*
 * backfill(flow, column_name, from_value, to_value, step, newest_first)
 */
Datum
replace_flow_backfill(PG_FUNCTION_ARGS)
{
	MemoryContext context = AllocSetContextCreate(PortalContext, "replace_flow backfill",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext caller = MemoryContextSwitchTo(context);
	RfRange    *range;

	check_call(fcinfo);
	PreventCommandIfReadOnly("backfill()");
	rf_query_begin_transactions();
	/* the first slice's transaction begins here */
	range = begin_backfill(fcinfo);
	refresh_slices(range);
	rf_query_end();
	MemoryContextSwitchTo(caller);
	MemoryContextDelete(context);
	PG_RETURN_VOID();
}
