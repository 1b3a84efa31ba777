/*-------------------------------------------------------------------------
 *
 * captured_columns.h
 *	  Which columns of a table are captured.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RF_CAPTURED_COLUMNS_H
#define RF_CAPTURED_COLUMNS_H

#include "nodes/bitmapset.h"
#include "utils/relcache.h"

extern Bitmapset *rf_captured_columns_of_array(Datum array);
extern Bitmapset *rf_captured_columns(Relation relation);

#endif							/* RF_CAPTURED_COLUMNS_H */
