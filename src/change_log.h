/*-------------------------------------------------------------------------
 *
 * change_log.h
 *	  Changes of tables, until all flows have seen them.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RF_CHANGE_LOG_H
#define RF_CHANGE_LOG_H

#include "nodes/bitmapset.h"
#include "utils/relcache.h"

#include "change_set.h"
#include "query.h"
#include "seen.h"

extern void rf_change_log_add(Oid relid, int32 flow_id, bool inserts_only, bytea *content);
extern bool rf_change_log_is_long(Oid relid);
extern void rf_change_log_shorten(Relation table, const Bitmapset *columns);
extern int	rf_change_log_read(List *relids, const RfSeen *seen, RfRow **rows);
extern void rf_change_log_prune(List *relids);

#endif							/* RF_CHANGE_LOG_H */
