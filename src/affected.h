/*-------------------------------------------------------------------------
 *
 * affected.h
 *	  Output rows that changed rows of sources can have a part in.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RF_AFFECTED_H
#define RF_AFFECTED_H

#include "nodes/bitmapset.h"
#include "nodes/parsenodes.h"

#include "change_set.h"
#include "flow.h"
#include "query.h"
#include "source_trace.h"

typedef struct RfAffected RfAffected;

extern RfAffected *rf_affected_begin(const RfFlow *flow, const Bitmapset *columns);
extern void rf_affected_add(RfAffected *affected, const RfOccurrence *occurrence,
							const RfChangeSet *changes);
extern void rf_affected_complete(RfAffected *affected, Node *predicate);
extern bool rf_affected_is_bounded(const RfAffected *affected);
extern bool rf_affected_is_exact(const RfAffected *affected);
extern int64 rf_affected_groups(const RfAffected *affected);
extern bool rf_affected_is_estimable(const RfAffected *affected);
extern Node *rf_affected_predicate(const RfAffected *affected, Node *predicate);
extern Node *rf_affected_predicate_of_group(const RfAffected *affected, Node *predicate,
											int64 index);
extern void rf_affected_forget_groups(RfAffected *affected);
extern void rf_affected_probe(RfAffected *affected, bool probing);
extern RfPlan rf_affected_plan(const RfAffected *affected);
extern int	rf_affected_parts(const RfAffected *affected);
extern RfGivenRows *rf_affected_restrict_source(const RfAffected *affected, int part, Query *query);
extern RfGivenRows *rf_affected_restrict_target(const RfAffected *affected, int part, Query *query);

#endif							/* RF_AFFECTED_H */
