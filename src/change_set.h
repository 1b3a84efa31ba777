/*-------------------------------------------------------------------------
 *
 * change_set.h
 *	  The rows of a table that changed, as far as flows want to know.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RF_CHANGE_SET_H
#define RF_CHANGE_SET_H

#include "access/tupdesc.h"
#include "executor/tuptable.h"
#include "nodes/bitmapset.h"

/* How much is known of the changed rows. */
typedef enum RfChangesKind
{
	RF_CHANGES_ROWS,			/* the values of each */
	RF_CHANGES_RANGE,			/* the range that the values lie in */
	RF_CHANGES_ALL				/* nothing: it may be any row */
} RfChangesKind;

/* The values of a column that countable types have. */
typedef struct RfChangedRange
{
	bool		bounded;		/* else it may be any value */
	int64		low;			/* numbers of values (discrete_type.h) */
	int64		high;			/* none if low > high */
	bool		has_null;
} RfChangedRange;

typedef struct RfChangeSet RfChangeSet;

extern RfChangeSet *rf_changes_begin(TupleDesc desc, const Bitmapset *columns);
extern void rf_changes_add_row(RfChangeSet *changes, TupleTableSlot *slot);
extern void rf_changes_add_all(RfChangeSet *changes);
extern void rf_changes_add_content(RfChangeSet *changes, Datum written,
								   const AttrNumber *attnums);
extern bytea *rf_changes_content(const RfChangeSet *changes);
extern RfChangesKind rf_changes_kind(const RfChangeSet *changes);
extern bool rf_changes_is_empty(const RfChangeSet *changes);
extern int64 rf_changes_rows(const RfChangeSet *changes);
extern RfChangedRange rf_changes_range(const RfChangeSet *changes, AttrNumber attnum);
extern void rf_changes_end(RfChangeSet *changes);
extern bool rf_changes_next(const RfChangeSet *changes, int64 *position, TupleTableSlot *slot);

#endif							/* RF_CHANGE_SET_H */
