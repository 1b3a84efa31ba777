/*-------------------------------------------------------------------------
 *
 * monotone_function.c
 *	  Expressions over a column, as steps through monotone functions.
 *
 * Functions are known by OID.  The table at the end says of each which argument
 * moves, and what steps the call is made of; all other arguments have to be
 * constants.  A function that steps out of a time zone into local time and back,
 * such as date_trunc, is taken apart into these two steps and a function on
 * local time between them.
 *
 * Each function here keeps infinite dates and timestamps, or makes the first and
 * last value of its type of them.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "datatype/timestamp.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"

#include "compat.h"
#include "discrete_type.h"
#include "monotone_function.h"
#include "monotone_step.h"

/* The longest interval that a step may add, in days. */
#define LONGEST_SHIFT 100000

/* A call that is being taken apart. */
typedef struct RfCall
{
	Oid			function;
	int			argument;
	List	   *arguments;		/* all others are constants */
} RfCall;

static RfStep *
add_step(List **steps, RfStepKind kind, Oid function, int argument)
{
	RfStep	   *step = palloc0(sizeof(RfStep));
	Oid		   *types;

	step->kind = kind;
	fmgr_info(function, &step->function);
	step->argument = argument;
	step->output = get_func_signature(function, &types, &step->narguments);
	step->input = types[argument];
	rf_discrete_usual(step->input, &step->first, &step->last);
	*steps = lappend(*steps, step);
	return step;
}

static Datum
constant(const RfCall *call, int position)
{
	return list_nth_node(Const, call->arguments, position)->constvalue;
}

/* A step that is the call itself. */
static RfStep *
add_call(List **steps, RfStepKind kind, const RfCall *call)
{
	RfStep	   *step = add_step(steps, kind, call->function, call->argument);

	for (int i = 0; i < list_length(call->arguments); i++)
	{
		if (i != call->argument)
			step->arguments[i] = constant(call, i);
	}
	return step;
}

static bool
add_monotone(List **steps, const RfCall *call)
{
	(void) add_call(steps, RF_STEP_MONOTONE, call);
	return true;
}

static bool
add_rounding(List **steps, const RfCall *call)
{
	/* below zero, the scale rounds to tens and more */
	if (call->function == F_NUMERIC_NUMERIC_INT4)
	{
		int32		typmod = DatumGetInt32(constant(call, 1));

		if (typmod < (int32) VARHDRSZ || ((typmod - VARHDRSZ) & 0x400) != 0)
			return false;
	}
	(void) add_call(steps, RF_STEP_ROUND, call);
	return true;
}

/* A zone's name, as it stands in a call; NULL when it may be an abbreviation. */
static pg_tz *
find_zone(Datum name)
{
	char	   *zone = text_to_cstring(DatumGetTextPP(name));

	if (strchr(zone, '/') == NULL && pg_strcasecmp(zone, "UTC") != 0)
		return NULL;
	return pg_tzset(zone);
}

/*
 * Steps through a zone; by name, or NULL for the session's.
 */
static bool
add_zone_step(List **steps, RfStepKind kind, const Datum *name)
{
	bool		to_local = kind == RF_STEP_TO_LOCAL;
	pg_tz	   *zone = name == NULL ? session_timezone : find_zone(*name);
	RfStep	   *step;

	if (zone == NULL)
		return false;
	if (name == NULL)
		step = add_step(steps, kind, to_local ? F_TIMESTAMP_TIMESTAMPTZ :
						F_TIMESTAMPTZ_TIMESTAMP, 0);
	else
	{
		step = add_step(steps, kind, to_local ? F_TIMEZONE_TEXT_TIMESTAMPTZ :
						F_TIMEZONE_TEXT_TIMESTAMP, 1);
		step->arguments[0] = *name;
	}
	step->zone = zone;
	return true;
}

static bool
add_to_local(List **steps, const RfCall *call)
{
	Datum		name = call->argument == 0 ? (Datum) 0 : constant(call, 0);

	return add_zone_step(steps, RF_STEP_TO_LOCAL, call->argument == 0 ? NULL : &name);
}

static bool
add_from_local(List **steps, const RfCall *call)
{
	Datum		name = call->argument == 0 ? (Datum) 0 : constant(call, 0);

	return add_zone_step(steps, RF_STEP_FROM_LOCAL, call->argument == 0 ? NULL : &name);
}

static bool
add_date_of_timestamptz(List **steps, const RfCall *call)
{
	(void) call;
	if (!add_zone_step(steps, RF_STEP_TO_LOCAL, NULL))
		return false;
	(void) add_step(steps, RF_STEP_MONOTONE, F_DATE_TIMESTAMP, 0);
	return true;
}

static bool
add_timestamptz_of_date(List **steps, const RfCall *call)
{
	(void) call;
	(void) add_step(steps, RF_STEP_MONOTONE, F_TIMESTAMP_DATE, 0);
	return add_zone_step(steps, RF_STEP_FROM_LOCAL, NULL);
}

/* Whether a call's unit is one of those listed. */
static bool
has_unit(const RfCall *call, const char *const *units)
{
	char	   *unit = text_to_cstring(DatumGetTextPP(constant(call, 0)));

	for (; *units != NULL; units++)
	{
		if (pg_strcasecmp(unit, *units) == 0)
			return true;
	}
	return false;
}

static const char *const long_units[] = {
	"day", "days", "week", "weeks", "month", "months", "quarter", "year", "years",
	"decade", "decades", "century", "centuries", "millennium", NULL
};
static const char *const short_units[] = {
	"hour", "hours", "minute", "minutes", "second", "seconds", "milliseconds",
	"microseconds", NULL
};
static const char *const counted_units[] = {
	"year", "years", "decade", "decades", "century", "centuries", "millennium", "isoyear",
	"julian", NULL
};
static const char *const epoch_unit[] = {"epoch", NULL};

static bool
add_trunc(List **steps, const RfCall *call)
{
	if (!has_unit(call, long_units) && !has_unit(call, short_units))
		return false;
	return add_monotone(steps, call);
}

/*
 * Days and longer units are cut in local time, and the zone is asked again for
 * the result; shorter ones leave the offset as it is.
 */
static bool
add_zoned_trunc(List **steps, const RfCall *call)
{
	bool		named = call->function == F_DATE_TRUNC_TEXT_TIMESTAMPTZ_TEXT;
	Datum		name = named ? constant(call, 2) : (Datum) 0;
	RfStep	   *step;

	if (has_unit(call, long_units))
	{
		if (!add_zone_step(steps, RF_STEP_TO_LOCAL, named ? &name : NULL))
			return false;
		step = add_step(steps, RF_STEP_MONOTONE, F_DATE_TRUNC_TEXT_TIMESTAMP, 1);
		step->arguments[0] = constant(call, 0);
		return add_zone_step(steps, RF_STEP_FROM_LOCAL, named ? &name : NULL);
	}
	if (!has_unit(call, short_units))
		return false;
	step = add_call(steps, RF_STEP_TO_LOCAL, call);
	step->zone = named ? find_zone(name) : session_timezone;
	return step->zone != NULL;
}

static bool
add_extract(List **steps, const RfCall *call)
{
	if (!has_unit(call, counted_units) && !has_unit(call, epoch_unit))
		return false;
	return add_monotone(steps, call);
}

/* The epoch does not depend on the zone; all else is that of local time. */
static bool
add_zoned_extract(List **steps, const RfCall *call)
{
	RfStep	   *step;

	if (has_unit(call, epoch_unit))
		return add_monotone(steps, call);
	if (!has_unit(call, counted_units) || !add_zone_step(steps, RF_STEP_TO_LOCAL, NULL))
		return false;
	step = add_step(steps, RF_STEP_MONOTONE, call->function == F_EXTRACT_TEXT_TIMESTAMPTZ ?
					F_EXTRACT_TEXT_TIMESTAMP : F_DATE_PART_TEXT_TIMESTAMP, 1);
	step->arguments[0] = constant(call, 0);
	return true;
}

/* Bins of less than a thousand years; the distance from their origin is an interval. */
static bool
add_bin(List **steps, const RfCall *call)
{
	Interval   *stride = DatumGetIntervalP(constant(call, 0));
	Timestamp	origin = DatumGetTimestamp(constant(call, 2));
	RfStep	   *step;

	if (stride->month != 0 || stride->day < 0 || stride->day > LONGEST_SHIFT ||
		stride->time < 0 || stride->time > LONGEST_SHIFT * USECS_PER_DAY ||
		(stride->day == 0 && stride->time == 0))
		return false;
	step = add_call(steps, RF_STEP_MONOTONE, call);
	step->last = Min(step->last, PG_INT64_MAX + step->first);
	return origin >= step->first && origin <= step->last / 2;
}

/* Whether adding an interval keeps the order, and cannot fail. */
static bool
is_shift(const Interval *interval)
{
	return interval->month == 0 && interval->day >= -LONGEST_SHIFT &&
		interval->day <= LONGEST_SHIFT &&
		interval->time >= -LONGEST_SHIFT * USECS_PER_DAY &&
		interval->time <= LONGEST_SHIFT * USECS_PER_DAY;
}

static bool
add_shift(List **steps, const RfCall *call)
{
	return is_shift(DatumGetIntervalP(constant(call, 1 - call->argument))) &&
		add_monotone(steps, call);
}

static bool
add_fixed_zone(List **steps, const RfCall *call)
{
	Interval   *offset = DatumGetIntervalP(constant(call, 0));

	return offset->month == 0 && offset->day == 0 && offset->time > -USECS_PER_DAY &&
		offset->time < USECS_PER_DAY && add_monotone(steps, call);
}

static void
add_part_of_shift(List **steps, Oid function, int32 days, int64 time)
{
	Interval   *interval = palloc0(sizeof(Interval));

	interval->day = days;
	interval->time = time;
	add_step(steps, RF_STEP_MONOTONE, function, 0)->arguments[1] = IntervalPGetDatum(interval);
}

/* Days are added in local time, hours and less are not. */
static bool
add_zoned_shift(List **steps, const RfCall *call)
{
	Interval   *interval = DatumGetIntervalP(constant(call, 1));
	int			sign = call->function == F_TIMESTAMPTZ_MI_INTERVAL ? -1 : 1;

	if (!is_shift(interval))
		return false;
	if (interval->day != 0)
	{
		if (!add_zone_step(steps, RF_STEP_TO_LOCAL, NULL))
			return false;
		add_part_of_shift(steps, F_TIMESTAMP_PL_INTERVAL, sign * interval->day, 0);
		(void) add_zone_step(steps, RF_STEP_FROM_LOCAL, NULL);
	}
	if (interval->time != 0)
		add_part_of_shift(steps, F_TIMESTAMPTZ_PL_INTERVAL, 0, sign * interval->time);
	return true;
}

static bool
add_days(List **steps, const RfCall *call)
{
	int64		days = rf_discrete_number(INT4OID, constant(call, 1));

	return days >= -LONGEST_SHIFT && days <= LONGEST_SHIFT && add_monotone(steps, call);
}

/* The constant of a calculation with integers. */
static int64
integer_constant(const RfCall *call)
{
	Const	   *constant = list_nth_node(Const, call->arguments, 1 - call->argument);

	return rf_discrete_number(constant->consttype, constant->constvalue);
}

static bool
add_sum(List **steps, const RfCall *call)
{
	int64		addend = integer_constant(call);
	RfStep	   *step = add_call(steps, RF_STEP_MONOTONE, call);
	int64		first;
	int64		last;

	if (addend > PG_INT32_MAX || addend < PG_INT32_MIN)
		return false;
	if (call->function == F_INT4MI || call->function == F_INT8MI ||
		call->function == F_INT84MI || call->function == F_INT48MI)
		addend = -addend;
	rf_discrete_usual(step->output, &first, &last);
	if (addend > 0)
		step->last = Min(step->last, last - addend);
	else
		step->first = Max(step->first, first - addend);
	return step->first < step->last;
}

static bool
add_product(List **steps, const RfCall *call)
{
	int64		factor = integer_constant(call);
	RfStep	   *step = add_call(steps, RF_STEP_MONOTONE, call);
	int64		first;
	int64		last;

	if (factor <= 0)
		return false;
	rf_discrete_usual(step->output, &first, &last);
	step->first = Max(step->first, first / factor);
	step->last = Min(step->last, last / factor);
	return step->first < step->last;
}

static bool
add_quotient(List **steps, const RfCall *call)
{
	return integer_constant(call) > 0 && add_monotone(steps, call);
}

/* Integers that fit into a smaller type. */
static bool
add_narrowing(List **steps, const RfCall *call)
{
	RfStep	   *step = add_call(steps, RF_STEP_MONOTONE, call);

	rf_discrete_usual(step->output, &step->first, &step->last);
	return true;
}

/* Functions that we can go back through, and the argument that moves. */
static const struct
{
	Oid			function;
	int			argument;
	bool		(*add) (List **steps, const RfCall *call);
}			ways[] = {
	{F_DATE_TRUNC_TEXT_TIMESTAMP, 1, add_trunc},
	{F_DATE_TRUNC_TEXT_TIMESTAMPTZ, 1, add_zoned_trunc},
	{F_DATE_TRUNC_TEXT_TIMESTAMPTZ_TEXT, 1, add_zoned_trunc},
	{F_DATE_BIN_INTERVAL_TIMESTAMP_TIMESTAMP, 1, add_bin},
	{F_DATE_BIN_INTERVAL_TIMESTAMPTZ_TIMESTAMPTZ, 1, add_bin},
	{F_EXTRACT_TEXT_DATE, 1, add_extract},
	{F_EXTRACT_TEXT_TIMESTAMP, 1, add_extract},
	{F_EXTRACT_TEXT_TIMESTAMPTZ, 1, add_zoned_extract},
	{F_DATE_PART_TEXT_TIMESTAMP, 1, add_extract},
	{F_DATE_PART_TEXT_TIMESTAMPTZ, 1, add_zoned_extract},
	{F_DATE_TIMESTAMP, 0, add_monotone},
	{F_TIMESTAMP_DATE, 0, add_monotone},
	{F_DATE_TIMESTAMPTZ, 0, add_date_of_timestamptz},
	{F_TIMESTAMPTZ_DATE, 0, add_timestamptz_of_date},
	{F_TIMESTAMP_TIMESTAMPTZ, 0, add_to_local},
	{F_TIMESTAMPTZ_TIMESTAMP, 0, add_from_local},
	{F_TIMEZONE_TEXT_TIMESTAMPTZ, 1, add_to_local},
	{F_TIMEZONE_TEXT_TIMESTAMP, 1, add_from_local},
	{F_TIMEZONE_INTERVAL_TIMESTAMPTZ, 1, add_fixed_zone},
	{F_TIMEZONE_INTERVAL_TIMESTAMP, 1, add_fixed_zone},
	{RF_TIMEZONE_TIMESTAMPTZ, 0, add_to_local},
	{RF_TIMEZONE_TIMESTAMP, 0, add_from_local},
	{F_TIMESTAMP_TIMESTAMP_INT4, 0, add_monotone},
	{F_TIMESTAMPTZ_TIMESTAMPTZ_INT4, 0, add_monotone},
	{F_TIMESTAMP_PL_INTERVAL, 0, add_shift},
	{F_TIMESTAMP_MI_INTERVAL, 0, add_shift},
	{F_TIMESTAMPTZ_PL_INTERVAL, 0, add_zoned_shift},
	{F_TIMESTAMPTZ_MI_INTERVAL, 0, add_zoned_shift},
	{F_DATE_PL_INTERVAL, 0, add_shift},
	{F_DATE_MI_INTERVAL, 0, add_shift},
	{F_DATE_PLI, 0, add_days},
	{F_DATE_MII, 0, add_days},
	{F_INT4_INT2, 0, add_monotone},
	{F_INT8_INT2, 0, add_monotone},
	{F_INT8_INT4, 0, add_monotone},
	{F_INT2_INT4, 0, add_narrowing},
	{F_INT2_INT8, 0, add_narrowing},
	{F_INT4_INT8, 0, add_narrowing},
	{F_NUMERIC_INT2, 0, add_monotone},
	{F_NUMERIC_INT4, 0, add_monotone},
	{F_NUMERIC_INT8, 0, add_monotone},
	{F_FLOAT4_INT2, 0, add_monotone},
	{F_FLOAT4_INT4, 0, add_monotone},
	{F_FLOAT4_INT8, 0, add_monotone},
	{F_FLOAT8_INT2, 0, add_monotone},
	{F_FLOAT8_INT4, 0, add_monotone},
	{F_FLOAT8_INT8, 0, add_monotone},
	{F_INT2_NUMERIC, 0, add_rounding},
	{F_INT4_NUMERIC, 0, add_rounding},
	{F_INT8_NUMERIC, 0, add_rounding},
	{F_INT2_FLOAT8, 0, add_rounding},
	{F_INT4_FLOAT8, 0, add_rounding},
	{F_INT8_FLOAT8, 0, add_rounding},
	{F_NUMERIC_NUMERIC_INT4, 0, add_rounding},
	{F_INT4PL, 0, add_sum},
	{F_INT4PL, 1, add_sum},
	{F_INT8PL, 0, add_sum},
	{F_INT8PL, 1, add_sum},
	{F_INT48PL, 0, add_sum},
	{F_INT48PL, 1, add_sum},
	{F_INT84PL, 0, add_sum},
	{F_INT84PL, 1, add_sum},
	{F_INT4MI, 0, add_sum},
	{F_INT8MI, 0, add_sum},
	{F_INT48MI, 0, add_sum},
	{F_INT84MI, 0, add_sum},
	{F_INT4MUL, 0, add_product},
	{F_INT4MUL, 1, add_product},
	{F_INT8MUL, 0, add_product},
	{F_INT8MUL, 1, add_product},
	{F_INT48MUL, 0, add_product},
	{F_INT48MUL, 1, add_product},
	{F_INT84MUL, 0, add_product},
	{F_INT84MUL, 1, add_product},
	{F_INT4DIV, 0, add_quotient},
	{F_INT8DIV, 0, add_quotient},
	{F_INT48DIV, 0, add_quotient},
	{F_INT84DIV, 0, add_quotient},
};

/* Leave out what changes the type of a value and nothing else. */
static Node *
strip(Node *value)
{
	for (;;)
	{
		Node	   *argument;

		if (IsA(value, CoerceToDomain))
			argument = (Node *) ((CoerceToDomain *) value)->arg;
		else if (IsA(value, RelabelType))
			argument = (Node *) ((RelabelType *) value)->arg;
		else
			return value;
		if (getBaseType(exprType(argument)) != getBaseType(exprType(value)))
			return value;
		value = argument;
	}
}

static bool
take_call(Node *value, RfCall *call)
{
	if (IsA(value, FuncExpr))
	{
		call->function = ((FuncExpr *) value)->funcid;
		call->arguments = ((FuncExpr *) value)->args;
	}
	else if (IsA(value, OpExpr))
	{
		call->function = get_opcode(((OpExpr *) value)->opno);
		call->arguments = ((OpExpr *) value)->args;
	}
	else
		return false;
	return list_length(call->arguments) <= RF_STEP_ARGUMENTS;
}

static bool
others_are_constant(const RfCall *call)
{
	for (int i = 0; i < list_length(call->arguments); i++)
	{
		Node	   *argument = list_nth(call->arguments, i);

		if (i != call->argument &&
			(!IsA(argument, Const) || ((Const *) argument)->constisnull))
			return false;
	}
	return true;
}

/*
 * Take an expression apart into steps from a column, the first one in front;
 * false when there is something else in it.
 */
bool
rf_steps_from(Node *value, const Var *var, List **steps)
{
	RfCall		call;

	check_stack_depth();
	value = strip(value);
	if (IsA(value, Var))
		return equal(value, var);
	if (!take_call(value, &call))
		return false;
	for (int i = 0; i < (int) lengthof(ways); i++)
	{
		call.argument = ways[i].argument;
		if (ways[i].function != call.function || !others_are_constant(&call))
			continue;
		return rf_steps_from(list_nth(call.arguments, call.argument), var, steps) &&
			ways[i].add(steps, &call);
	}
	return false;
}
