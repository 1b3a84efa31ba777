/*-------------------------------------------------------------------------
 *
 * monotone_step.h
 *	  From limits of a function's value back to limits of its argument.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RF_MONOTONE_STEP_H
#define RF_MONOTONE_STEP_H

#include "fmgr.h"
#include "nodes/pg_list.h"
#include "pgtime.h"

/* One end of a range. */
typedef struct RfLimit
{
	bool		given;
	bool		inclusive;
	Datum		value;
} RfLimit;

/* A range of values, as a btree operator family orders them. */
typedef struct RfLimits
{
	RfLimit		low;
	RfLimit		high;
	Oid			type;			/* of the limits */
	FmgrInfo	compare;		/* a value with a limit */
} RfLimits;

#define RF_STEP_ARGUMENTS 3

typedef enum RfStepKind
{
	RF_STEP_MONOTONE,			/* of a discrete argument */
	RF_STEP_TO_LOCAL,			/* monotone between the zone's changes */
	RF_STEP_FROM_LOCAL,			/* the same, and the argument is local time */
	RF_STEP_ROUND				/* moves a number by at most a half */
} RfStepKind;

typedef struct RfStep
{
	RfStepKind	kind;
	FmgrInfo	function;
	int			argument;		/* which one moves */
	int			narguments;
	Datum		arguments[RF_STEP_ARGUMENTS];
	Oid			input;			/* the type of the argument that moves */
	Oid			output;
	int64		first;			/* discrete inputs with which the function */
	int64		last;			/* cannot fail */
	pg_tz	   *zone;
} RfStep;

extern int64 rf_limit_number(const RfLimits *limits, const RfLimit *limit, int direction);
extern void rf_steps_back(List *steps, RfLimits *limits);
extern bool rf_steps_are_constant(List *steps, int64 low, int64 high, Datum value);

#endif							/* RF_MONOTONE_STEP_H */
