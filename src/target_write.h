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

#include "row_image.h"

/* A stored row's address, also in a partitioned table. */
typedef struct RfRowAddress
{
	Oid			tableoid;
	ItemPointerData ctid;
} RfRowAddress;

/* A stored row; of its values those in place_columns count. */
typedef struct RfOldRow
{
	RfRowAddress address;
	const Datum *values;
	const bool *nulls;
} RfOldRow;

typedef struct RfTargetWriter RfTargetWriter;

/* What a writer has to know of a table's columns, by position. */
typedef struct RfWriteRules
{
	RfAgreement key_rule;		/* a row that is stored agrees with what was
								 * given */
	const char *key_name;		/* what its columns are to the user */
	const char *key_reason;		/* why: a sentence */
	const Bitmapset *place_columns; /* tell the partition of a row */
	const Bitmapset *fixed_columns; /* same in old and new row of an update */
	bool		prefer_heap_only;	/* no update that leaves its page */
} RfWriteRules;

extern RfTargetWriter *rf_writer_begin(Oid relid, const char *label,
									   TupleDesc columns, RfWriteRules rules);
extern void rf_writer_delete(RfTargetWriter *writer, const RfOldRow *old);
extern void rf_writer_update(RfTargetWriter *writer, const RfOldRow *old,
							 Datum *values, bool *nulls);
extern void rf_writer_insert(RfTargetWriter *writer,
							 Datum *values, bool *nulls);
extern void rf_writer_execute(RfTargetWriter *writer);
extern int64 rf_writer_deleted(const RfTargetWriter *writer);
extern int64 rf_writer_updated(const RfTargetWriter *writer);
extern int64 rf_writer_inserted(const RfTargetWriter *writer);
extern void rf_writer_end(RfTargetWriter *writer);

#endif							/* RF_TARGET_WRITE_H */
