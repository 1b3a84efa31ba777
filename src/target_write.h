/*-------------------------------------------------------------------------
 *
 * target_write.h
 *	  Rows to delete, update and insert, written as set-based DML.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RF_TARGET_WRITE_H
#define RF_TARGET_WRITE_H

#include "access/tupdesc.h"
#include "nodes/bitmapset.h"
#include "storage/itemptr.h"

/* A stored row's address, also in a partitioned table. */
typedef struct RfRowAddress
{
	Oid			tableoid;
	ItemPointerData ctid;
} RfRowAddress;

typedef struct RfTargetWriter RfTargetWriter;

extern RfTargetWriter *rf_writer_begin(Oid relid, const char *label,
									   TupleDesc columns,
									   const Bitmapset *key_columns,
									   const Bitmapset *fixed_columns,
									   bool prefer_heap_only);
extern void rf_writer_delete(RfTargetWriter *writer, const RfRowAddress *old);
extern void rf_writer_update(RfTargetWriter *writer, const RfRowAddress *old,
							 Datum *values, bool *nulls);
extern void rf_writer_insert(RfTargetWriter *writer,
							 Datum *values, bool *nulls);
extern void rf_writer_execute(RfTargetWriter *writer);
extern int64 rf_writer_deleted(const RfTargetWriter *writer);
extern int64 rf_writer_updated(const RfTargetWriter *writer);
extern int64 rf_writer_inserted(const RfTargetWriter *writer);
extern void rf_writer_end(RfTargetWriter *writer);

#endif							/* RF_TARGET_WRITE_H */
