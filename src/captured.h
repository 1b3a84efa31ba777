/*-------------------------------------------------------------------------
 *
 * captured.h
 *	  The tables whose changes are captured, and for which flows.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RF_CAPTURED_H
#define RF_CAPTURED_H

#include "nodes/bitmapset.h"

#include "flow.h"

/* What of a table matters to a flow. */
typedef struct RfCapturedTable
{
	Oid			relid;
	Bitmapset  *columns;		/* numbers; none: that it changes is enough */
} RfCapturedTable;

extern List *rf_captured_families(void);
extern void rf_captured_lock(List *relids, Oid owner);
extern bool rf_captured_place(const RfFlow *flow, List *tables, bool wait);
extern List *rf_captured_for(int32 flow_id);
extern bool rf_captured_covers(List *captured, List *wanted);
extern bool rf_capture_is_complete(List *captured, Oid relid, Oid owner);
extern void rf_captured_look_anew(Oid relid);
extern void rf_captured_forget(int32 flow_id);

#endif							/* RF_CAPTURED_H */
