/*-------------------------------------------------------------------------
 *
 * page_space.h
 *	  Room for new row versions beside the old ones.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RF_PAGE_SPACE_H
#define RF_PAGE_SPACE_H

#include "access/tupdesc.h"
#include "storage/itemptr.h"

typedef struct RfPageSpace RfPageSpace;

extern RfPageSpace *rf_space_begin(Oid relid, TupleDesc columns);
extern bool rf_space_take(RfPageSpace *space, const ItemPointerData *ctid,
						  Datum *values, bool *nulls);
extern void rf_space_end(RfPageSpace *space);

#endif							/* RF_PAGE_SPACE_H */
