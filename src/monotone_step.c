/*-------------------------------------------------------------------------
 *
 * monotone_step.c
 *	  From limits of a function's value back to limits of its argument.
 *
 * A step is the call of a function that never falls when one of its arguments
 * rises.  Going back through it is never too narrow: an argument outside of the
 * limits found here gives a value outside of the limits asked for.
 *
 * Most steps are searched by bisection: the function itself is called, so no
 * inverse has to be written, and the limits are as tight as can be.  It is
 * called only with arguments from the usual range, with which it cannot fail:
 * the ends of time, where functions run out of range, are not looked at, and a
 * limit that lies there is dropped or stays on the near side.  Infinite values
 * lie beyond, and functions keep them.
 *
 * A step through a time zone is not monotone: where clocks are set back, local
 * time falls, and even its date may.  But it moves a value by a few hours only,
 * and between two changes of the zone it is monotone.  So the changes near the
 * limit cut the neighbourhood into pieces, and the first or last piece that
 * reaches the limit is searched.
 *
 * Likewise, steps make one value of a whole range if they make it of both ends of
 * each piece on which they are monotone.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "datatype/timestamp.h"
#include "utils/date.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"
#include "utils/typcache.h"

#include "discrete_type.h"
#include "monotone_step.h"

/* No zone is farther from Greenwich; with an hour for what date_trunc cuts off. */
#define ZONE_REACH (8 * USECS_PER_DAY)

/*
 * The number of the last value that a limit of a discrete type lets in; upwards
 * is 1 for a low limit, -1 for a high one.
 */
int64
rf_limit_number(const RfLimits *limits, const RfLimit *limit, int direction)
{
	int64		number = rf_discrete_number(limits->type, limit->value);

	if (limit->inclusive || number == (direction > 0 ? PG_INT64_MAX : PG_INT64_MIN))
		return number;
	return number + direction;
}

static Datum
call(RfStep *step, Datum argument)
{
	LOCAL_FCINFO(fcinfo, RF_STEP_ARGUMENTS);
	Datum		result;

	InitFunctionCallInfoData(*fcinfo, &step->function, step->narguments, InvalidOid,
							 NULL, NULL);
	for (int i = 0; i < step->narguments; i++)
	{
		fcinfo->args[i].value = i == step->argument ? argument : step->arguments[i];
		fcinfo->args[i].isnull = false;
	}
	result = FunctionCallInvoke(fcinfo);
	if (fcinfo->isnull)
		elog(ERROR, "unexpected NULL from function %u", step->function.fn_oid);
	return result;
}

/* Whether what the step makes of a number is above a low, or below a high limit. */
static bool
is_within(RfStep *step, RfLimits *limits, const RfLimit *limit, int direction, int64 number)
{
	Datum		value = call(step, rf_discrete_value(step->input, number));
	int			order = DatumGetInt32(FunctionCall2Coll(&limits->compare, InvalidOid,
														value, limit->value));

	return order == 0 ? limit->inclusive : (order > 0) == (direction > 0);
}

/*
 * The outermost number between two that is within a limit: the first one for a
 * low limit, the last one for a high one.  "inside" is known to be within.
 */
static int64
bisect(RfStep *step, RfLimits *limits, const RfLimit *limit, int direction,
	   int64 outside, int64 inside)
{
	while ((uint64) Max(outside, inside) - (uint64) Min(outside, inside) > 1)
	{
		int64		middle = Min(outside, inside) +
		(int64) (((uint64) Max(outside, inside) - (uint64) Min(outside, inside)) / 2);

		if (is_within(step, limits, limit, direction, middle))
			inside = middle;
		else
			outside = middle;
	}
	return inside;
}

static void
take_number(const RfStep *step, RfLimit *limit, int64 number)
{
	limit->inclusive = true;
	limit->value = rf_discrete_value(step->input, number);
}

/* Go back through a function that is monotone over the usual range. */
static void
back_through_monotone(RfStep *step, RfLimits *limits, RfLimit *limit, int direction)
{
	int64		near = direction > 0 ? step->first : step->last;
	int64		far = direction > 0 ? step->last : step->first;
	int64		type_first;
	int64		type_last;

	/* what is even nearer may be within as well, and nothing is known of it */
	if (is_within(step, limits, limit, direction, near))
	{
		limit->given = false;
		return;
	}
	if (is_within(step, limits, limit, direction, far))
	{
		take_number(step, limit, bisect(step, limits, limit, direction, near, far));
		return;
	}
	/* no integers lie beyond the ends of their type */
	rf_discrete_usual(step->input, &type_first, &type_last);
	if (rf_discrete_is_time(step->input) || far != (direction > 0 ? type_last : type_first))
		far += direction;
	take_number(step, limit, far);
}

/* Seconds since 1970 that a timestamp has reached. */
static pg_time_t
unix_time(Timestamp timestamp)
{
	int64		seconds = timestamp / USECS_PER_SEC;

	if (timestamp % USECS_PER_SEC < 0)
		seconds--;
	return seconds + (POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) * (int64) SECS_PER_DAY;
}

static Timestamp
from_unix_time(pg_time_t time)
{
	return (time - (POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) * (int64) SECS_PER_DAY) *
		USECS_PER_SEC;
}

/* Places at which a step may cease to be monotone. */
typedef struct RfCuts
{
	int			ncuts;
	int			room;
	int64	   *cuts;
} RfCuts;

static void
add_cut(RfCuts *cuts, int64 cut)
{
	if (cuts->ncuts == cuts->room)
	{
		cuts->room *= 2;
		cuts->cuts = repalloc(cuts->cuts, cuts->room * sizeof(int64));
	}
	cuts->cuts[cuts->ncuts++] = cut;
}

/* Cuts around one second of local time, which the server treats as a whole. */
static void
add_local_cuts(RfCuts *cuts, pg_time_t local)
{
	add_cut(cuts, from_unix_time(local));
	add_cut(cuts, from_unix_time(local + 1));
}

static int
compare_numbers(const void *a, const void *b)
{
	int64		first = *(const int64 *) a;
	int64		second = *(const int64 *) b;

	return first < second ? -1 : first > second;
}

/*
 * Where a step is to be cut between two timestamps.  Local times before and
 * after a change of the zone exist twice or not at all; the server decides by
 * the first change that follows the day before (DetermineTimeZoneOffset).
 */
static RfCuts
find_cuts(const RfStep *step, int64 from, int64 to)
{
	RfCuts		cuts = {0, 16, palloc(16 * sizeof(int64))};
	pg_time_t	time = unix_time(from - ZONE_REACH);
	pg_time_t	boundary;
	long		before;
	long		after;
	int			is_dst;

	while (pg_next_dst_boundary(&time, &before, &is_dst, &boundary, &after, &is_dst,
								step->zone) > 0 &&
		   boundary <= unix_time(to + ZONE_REACH))
	{
		if (step->kind == RF_STEP_TO_LOCAL)
			add_cut(&cuts, from_unix_time(boundary));
		else
		{
			add_local_cuts(&cuts, boundary + before);
			add_local_cuts(&cuts, boundary + after);
			add_local_cuts(&cuts, boundary + SECS_PER_DAY);
		}
		time = boundary;
	}
	qsort(cuts.cuts, cuts.ncuts, sizeof(int64), compare_numbers);
	return cuts;
}

/*
 * The first number from a low limit's neighbourhood that is within the limit,
 * or the last one for a high limit; "from" is not within, "to" is.
 */
static int64
search_pieces(RfStep *step, RfLimits *limits, const RfLimit *limit, int direction,
			  int64 from, int64 to)
{
	RfCuts		cuts = find_cuts(step, Min(from, to), Max(from, to));
	int64		start = from;

	for (int i = 0; i <= cuts.ncuts; i++)
	{
		int64		cut = i == cuts.ncuts ? to :
		cuts.cuts[direction > 0 ? i : cuts.ncuts - 1 - i];

		/* a cut is the first number of the piece above it */
		int64		end = i == cuts.ncuts ? to : direction > 0 ? cut - 1 : cut;

		if (direction > 0 ? end < start || end > to : end > start || end < to)
			continue;
		if (is_within(step, limits, limit, direction, start))
			return start;
		if (is_within(step, limits, limit, direction, end))
			return bisect(step, limits, limit, direction, start, end);
		start = end == to ? end : end + direction;
	}
	return to;
}

/* Go back through a step that moves timestamps by no more than ZONE_REACH. */
static void
back_through_zone(RfStep *step, RfLimits *limits, RfLimit *limit, int direction)
{
	int64		number = rf_limit_number(limits, limit, direction);

	/* infinity stays what it is */
	if (TIMESTAMP_NOT_FINITE(number))
		return;
	if (number - ZONE_REACH < step->first + ZONE_REACH ||
		number + ZONE_REACH > step->last - ZONE_REACH)
	{
		if (direction > 0 ? number < 0 : number > 0)
			limit->given = false;
		else
			take_number(step, limit, direction > 0 ? step->last - 3 * ZONE_REACH :
						step->first + 3 * ZONE_REACH);
		return;
	}
	take_number(step, limit,
				search_pieces(step, limits, limit, direction, number - direction * ZONE_REACH,
							  number + direction * ZONE_REACH));
}

/* Go back through the rounding of a number. */
static void
back_through_rounding(RfStep *step, RfLimits *limits, RfLimit *limit, int direction)
{
	int64		number;

	if (step->output == NUMERICOID)
		limit->value = DirectFunctionCall2(direction > 0 ? numeric_sub : numeric_add,
										   limit->value,
										   DirectFunctionCall1(float8_numeric,
															   Float8GetDatum(0.5)));
	else
	{
		number = rf_limit_number(limits, limit, direction);
		/* where a double has no halves any more */
		if (number > (INT64CONST(1) << 50) || number < -(INT64CONST(1) << 50))
			limit->given = false;
		else if (step->input == FLOAT8OID)
			limit->value = Float8GetDatum((double) number - direction * 0.5);
		else
			limit->value = DirectFunctionCall1(float8_numeric,
											   Float8GetDatum((double) number -
															  direction * 0.5));
	}
	limit->inclusive = true;
}

static void
back_through(RfStep *step, RfLimits *limits, RfLimit *limit, int direction)
{
	if (!limit->given)
		return;
	switch (step->kind)
	{
		case RF_STEP_MONOTONE:
			back_through_monotone(step, limits, limit, direction);
			break;
		case RF_STEP_TO_LOCAL:
		case RF_STEP_FROM_LOCAL:
			back_through_zone(step, limits, limit, direction);
			break;
		case RF_STEP_ROUND:
			back_through_rounding(step, limits, limit, direction);
			break;
	}
}

/*
 * Go back through steps, the last of which comes first: limits of the
 * expression's value become limits of the column.
 */
void
rf_steps_back(List *steps, RfLimits *limits)
{
	for (int i = list_length(steps) - 1; i >= 0; i--)
	{
		RfStep	   *step = list_nth(steps, i);

		back_through(step, limits, &limits->low, 1);
		back_through(step, limits, &limits->high, -1);
		limits->type = step->input;
		limits->compare = lookup_type_cache(step->input,
											TYPECACHE_CMP_PROC_FINFO)->cmp_proc_finfo;
	}
}

static bool is_constant(List *steps, int first, int64 low, int64 high, Datum value);

/*
 * Whether steps from that one on make this value of all numbers between two; that step
 * is monotone between them.
 */
static bool
is_constant_on_piece(List *steps, int first, int64 low, int64 high, Datum value)
{
	RfStep	   *step = list_nth(steps, first);
	Datum		of_low = call(step, rf_discrete_value(step->input, low));
	Datum		of_high = call(step, rf_discrete_value(step->input, high));

	if (first == list_length(steps) - 1)
		return get_typbyval(step->output) && of_low == value && of_high == value;
	return rf_discrete_is(step->output) &&
		is_constant(steps, first + 1, rf_discrete_number(step->output, of_low),
					rf_discrete_number(step->output, of_high), value);
}

/* Whether steps from that one on make this value of all numbers between two. */
static bool
is_constant(List *steps, int first, int64 low, int64 high, Datum value)
{
	RfStep	   *step = list_nth(steps, first);
	RfCuts		cuts = {0, 0, NULL};
	int64		start = low;

	if (step->kind == RF_STEP_ROUND || low < step->first || high > step->last)
		return false;
	if (step->kind != RF_STEP_MONOTONE)
		cuts = find_cuts(step, low, high);
	for (int i = 0; i < cuts.ncuts; i++)
	{
		/* a cut is the first number of the piece above it */
		if (cuts.cuts[i] <= start || cuts.cuts[i] > high)
			continue;
		if (!is_constant_on_piece(steps, first, start, cuts.cuts[i] - 1, value))
			return false;
		start = cuts.cuts[i];
	}
	return is_constant_on_piece(steps, first, start, high, value);
}

/*
 * Whether steps make this value of all numbers between two; false as well if that
 * cannot be told.
 */
bool
rf_steps_are_constant(List *steps, int64 low, int64 high, Datum value)
{
	return low <= high && is_constant(steps, 0, low, high, value);
}
