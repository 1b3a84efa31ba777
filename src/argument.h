/*-------------------------------------------------------------------------
 *
 * argument.h
 *	  Arguments of the functions that users call.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RF_ARGUMENT_H
#define RF_ARGUMENT_H

#include "fmgr.h"

extern Datum rf_argument(FunctionCallInfo fcinfo, int number, const char *name);
extern char *rf_argument_text(FunctionCallInfo fcinfo, int number, const char *name);
extern bool rf_argument_bool(FunctionCallInfo fcinfo, int number, const char *name);
extern char *rf_argument_text_or_null(FunctionCallInfo fcinfo, int number);

#endif							/* RF_ARGUMENT_H */
