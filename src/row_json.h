/*-------------------------------------------------------------------------
 *
 * row_json.h
 *	  Rows as jsonb.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RF_ROW_JSON_H
#define RF_ROW_JSON_H

#include "access/tupdesc.h"

extern Datum rf_row_to_jsonb(TupleDesc desc, const Datum *values, const bool *nulls);

#endif							/* RF_ROW_JSON_H */
