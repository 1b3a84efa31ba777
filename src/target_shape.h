/*-------------------------------------------------------------------------
 *
 * target_shape.h
 *	  What a target's indexes mean for updates in place.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RF_TARGET_SHAPE_H
#define RF_TARGET_SHAPE_H

#include "access/tupdesc.h"
#include "nodes/bitmapset.h"

typedef struct RfTargetShape
{
	bool		pairing;		/* an old row may be updated to become a new one */
	Bitmapset  *pair_columns;	/* if they agree in these, by position */
} RfTargetShape;

extern RfTargetShape rf_target_shape(Oid target, TupleDesc columns);

#endif							/* RF_TARGET_SHAPE_H */
