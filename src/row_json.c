/*-------------------------------------------------------------------------
 *
 * row_json.c
 *	  Rows as jsonb.
 *
 * This may call functions of the row's types, so it is done as the flow's owner.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "fmgr.h"
#include "funcapi.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"

#include "row_json.h"

/*
 * Put U+001A (substitute) in the place of U+0000, which json can have and jsonb
 * cannot, whatever the encoding.
 */
static char *
replace_null_characters(char *json)
{
	for (char *c = json; *c != '\0'; c++)
	{
		if (*c != '\\')
			continue;
		/* what is escaped is no beginning of an escape */
		c++;
		if (strncmp(c, "u0000", 5) == 0)
			memcpy(c, "u001a", 5);
	}
	return json;
}

/*
 * A row as a jsonb object; the row's description is blessed.
 */
Datum
rf_row_to_jsonb(TupleDesc desc, const Datum *values, const bool *nulls)
{
	HeapTuple	tuple = heap_form_tuple(desc, unconstify(Datum *, values),
										unconstify(bool *, nulls));
	Datum		json = DirectFunctionCall1(row_to_json, HeapTupleGetDatum(tuple));
	char	   *plain = replace_null_characters(TextDatumGetCString(json));

	return DirectFunctionCall1(jsonb_in, CStringGetDatum(plain));
}
