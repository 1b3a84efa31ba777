/*-------------------------------------------------------------------------
 *
 * partition_key.h
 *	  Which columns tell the partition of a row.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RF_PARTITION_KEY_H
#define RF_PARTITION_KEY_H

#include "access/tupdesc.h"
#include "nodes/bitmapset.h"

extern Bitmapset *rf_partition_columns(Oid relid, TupleDesc columns);

#endif							/* RF_PARTITION_KEY_H */
