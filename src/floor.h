/*-------------------------------------------------------------------------
 *
 * floor.h
 *	  The highest sequence already applied, per key of a batch.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RF_FLOOR_H
#define RF_FLOOR_H

#include "flow.h"
#include "target_write.h"

typedef struct RfFloors RfFloors;

/* What is known of one key. */
typedef struct RfFloor
{
	bool		known;			/* false: nothing was ever applied */
	Datum		sequence;
	bool		in_ledger;
	RfRowAddress ledger_row;
} RfFloor;

extern RfFloors *rf_floors_begin(const RfFlow *flow);
extern TupleDesc rf_floors_ledger_columns(const RfFloors *floors);
extern void rf_floors_add_stored(RfFloors *floors, int64 group, Datum sequence);
extern void rf_floors_add_ledger(RfFloors *floors, int64 group, Datum sequence,
								 const RfRowAddress *row);
extern void rf_floors_complete(RfFloors *floors);
extern const RfFloor *rf_floors_of(RfFloors *floors, int64 group);
extern void rf_floors_raise(RfFloors *floors, const RfFloor *floor,
							const Datum *values, const bool *nulls, Datum sequence);
extern void rf_floors_forget(RfFloors *floors, const RfFloor *floor);
extern void rf_floors_write(RfFloors *floors);
extern void rf_floors_end(RfFloors *floors);

#endif							/* RF_FLOOR_H */
