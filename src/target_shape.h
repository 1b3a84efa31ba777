/*-------------------------------------------------------------------------
 *
 * target_shape.h
 *	  What a target's indexes mean for reading and writing it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RF_TARGET_SHAPE_H
#define RF_TARGET_SHAPE_H

#include "access/tupdesc.h"

#include "row_image.h"

typedef struct RfTargetShape
{
	bool		has_key_index;	/* an index finds the rows of a key */
	bool		pairing;		/* an old row may be updated to become a new
								 * one */
	RfAgreement pair_rule;		/* if this says so; columns by position */
	Bitmapset  *guarded_columns;	/* and they are identical in these */
	bool		prefer_heap_only;	/* but need not be, if it costs more */
	Bitmapset  *place_columns;	/* tell the partition of a row, by position */
} RfTargetShape;

extern RfTargetShape rf_target_shape(Oid target, TupleDesc columns,
									 int nkeys, const int *keys);
extern bool rf_has_key_index(Oid relid, int nkeys, const AttrNumber *keys);
extern double rf_table_rows(Oid relid);
extern char *rf_unkept_foreign_key(Oid target, TupleDesc columns);

#endif							/* RF_TARGET_SHAPE_H */
