/*-------------------------------------------------------------------------
 *
 * column_type.h
 *	  A value's type, as a column has it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RF_COLUMN_TYPE_H
#define RF_COLUMN_TYPE_H

#include "access/tupdesc.h"

typedef struct RfType
{
	Oid			type;
	int32		typmod;
	Oid			collation;
} RfType;

extern RfType rf_type_of(Form_pg_attribute column);
extern RfType rf_type_of_column(Oid relid, AttrNumber attnum);
extern void rf_type_describe(TupleDesc desc, AttrNumber number, const char *name,
							 RfType type);
extern bool rf_type_is_same(RfType type1, RfType type2);
extern bool rf_type_is_sortable(Oid type);
extern char *rf_type_name(RfType type);

#endif							/* RF_COLUMN_TYPE_H */
