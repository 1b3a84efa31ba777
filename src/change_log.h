/*-------------------------------------------------------------------------
 *
 * change_log.h
 *	  Changes of tables, and what of them each flow has seen.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RF_CHANGE_LOG_H
#define RF_CHANGE_LOG_H

#include "nodes/bitmapset.h"
#include "utils/relcache.h"

#include "change_set.h"
#include "query.h"

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
extern void rf_seen_forget(int32 flow_id);

extern void rf_change_log_add(Oid relid, int32 flow_id, bool inserts_only, bytea *content);
extern bool rf_change_log_is_long(Oid relid);
extern void rf_change_log_shorten(Relation table, const Bitmapset *columns);
extern int	rf_change_log_read(List *relids, const RfSeen *seen, RfRow **rows);
extern void rf_change_log_prune(List *relids);

#endif							/* RF_CHANGE_LOG_H */
