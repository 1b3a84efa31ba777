/*-------------------------------------------------------------------------
 *
 * seen.h
 *	  What the last run of each flow has seen.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RF_SEEN_H
#define RF_SEEN_H

#include "nodes/pg_list.h"

/* What the last run of a flow saw. */
typedef struct RfSeen
{
	int32		definition_version; /* 0: nothing */
	bool		is_new;			/* and nothing can be remembered yet */
	char	   *predicate;		/* its window, as a stored tree */
	bool		settled;		/* the predicate gives the same at any time */
	uint64		sources;		/* fingerprints */
	uint64		target;
	List	   *relids;			/* tables whose changes matter */
	Datum		snapshot;		/* pg_snapshot: only to be stored */
	Datum		seen_before;	/* xid8: no transaction from this one on, */
	Datum		in_progress;	/* xid8[]: and none of these; only what was
								 * read */
} RfSeen;

extern Datum rf_seen_snapshot(void);
extern bool rf_seen_load(int32 flow_id, RfSeen *seen);
extern void rf_seen_store(int32 flow_id, const RfSeen *seen);
extern void rf_seen_nothing(int32 flow_id, List *relids);
extern void rf_seen_doubt(int32 flow_id);

#endif							/* RF_SEEN_H */
