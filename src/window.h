/*-------------------------------------------------------------------------
 *
 * window.h
 *	  The window of a where flow, as queries.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RF_WINDOW_H
#define RF_WINDOW_H

#include "nodes/parsenodes.h"

#include "flow.h"

/* What an old row begins with: address, and whether it is in the window. */
enum
{
	RF_OLD_TABLEOID,
	RF_OLD_CTID,
	RF_OLD_IN_WINDOW,
	RF_OLD_COLUMNS				/* how many come first */
};

extern Query *rf_window_old_rows(const RfFlow *flow, Node *predicate, bool all);
extern Query *rf_window_new_rows(const RfFlow *flow, Node *predicate, List **pushed);
extern int	rf_window_verdict(const RfFlow *flow);
extern Oid *rf_window_new_types(const RfFlow *flow);

#endif							/* RF_WINDOW_H */
