/*-------------------------------------------------------------------------
 *
 * argument.c
 *	  Arguments of the functions that users call.
 *
 * The functions are not strict, so that a NULL gets an error that names the
 * parameter.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/builtins.h"

#include "argument.h"

/*
 * An argument that must be given.
 */
Datum
rf_argument(FunctionCallInfo fcinfo, int number, const char *name)
{
	if (PG_ARGISNULL(number))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("parameter \"%s\" must not be null", name)));
	return PG_GETARG_DATUM(number);
}

char *
rf_argument_text(FunctionCallInfo fcinfo, int number, const char *name)
{
	return TextDatumGetCString(rf_argument(fcinfo, number, name));
}

bool
rf_argument_bool(FunctionCallInfo fcinfo, int number, const char *name)
{
	return DatumGetBool(rf_argument(fcinfo, number, name));
}

char *
rf_argument_text_or_null(FunctionCallInfo fcinfo, int number)
{
	return PG_ARGISNULL(number) ? NULL : text_to_cstring(PG_GETARG_TEXT_PP(number));
}
