/*-------------------------------------------------------------------------
 *
 * change_capture.c
 *	  The trigger that notes what changed in a table.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "commands/trigger.h"
#include "fmgr.h"

PG_FUNCTION_INFO_V1(replace_flow_capture_change);

/*
 * capture_change(): trigger, of statements and of replicated rows.
 */
Datum
replace_flow_capture_change(PG_FUNCTION_ARGS)
{
	if (!CALLED_AS_TRIGGER(fcinfo))
		elog(ERROR, "unexpected call of replace_flow.capture_change()");
	return PointerGetDatum(NULL);
}
