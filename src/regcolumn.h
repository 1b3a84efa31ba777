/*-------------------------------------------------------------------------
 *
 * regcolumn.h
 *	  Type regcolumn: a column of a table, as regclass is a table.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RF_REGCOLUMN_H
#define RF_REGCOLUMN_H

#include "access/attnum.h"

extern char *rf_column_name(Oid relid, AttrNumber attnum);
extern Datum rf_regcolumn_datum(Oid relid, AttrNumber attnum);
extern Oid	rf_regcolumn_type(void);
extern Datum rf_regcolumn_array(Oid relid, int count, const AttrNumber *attnums);
extern AttrNumber *rf_regcolumn_attnums(Datum array, Oid relid, int *count);

#endif							/* RF_REGCOLUMN_H */
