/*-------------------------------------------------------------------------
 *
 * where_predicate.h
 *	  The predicate of a where flow: a condition on rows of the target.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RF_WHERE_PREDICATE_H
#define RF_WHERE_PREDICATE_H

#include "nodes/bitmapset.h"

#include "flow_view.h"

/* Where a predicate's names are looked up. */
typedef struct RfPredicateScope
{
	const char *flow_name;
	const char *parameter;		/* what the predicate is given as */
	Oid			target;
	TupleDesc	columns;		/* of the target, one for each that the query
								 * gives */
	const Query *query;
} RfPredicateScope;

typedef struct RfRowCondition RfRowCondition;

extern RfView *rf_predicate_read(const RfPredicateScope *scope, const char *text);
extern RfView *rf_predicate_stored(const RfFlow *flow);
extern Node *rf_predicate_own(const RfFlow *flow);
extern RfView *rf_predicate_carry(const RfPredicateScope *scope, const RfView *before);
extern Node *rf_predicate_of_run(const RfFlow *flow, const char *override);
extern Node *rf_predicate_settle(Node *predicate);
extern Node *rf_predicate_for_rows(Node *predicate);
extern void rf_predicate_check_casts(const char *flow_name, Node *predicate);
extern Bitmapset *rf_predicate_columns(Node *predicate);
extern Bitmapset *rf_predicate_target_columns(const RfFlow *flow, Node *predicate);
extern Node *rf_predicate_replace(Node *predicate, Node **by);
extern Node *rf_predicate_on_target(const RfFlow *flow, Node *predicate);
extern RfRowCondition *rf_predicate_begin_rows(const RfFlow *flow, Node *predicate);
extern bool rf_predicate_is_true(RfRowCondition *condition, const Datum *values,
								 const bool *nulls);
extern void rf_predicate_end_rows(RfRowCondition *condition);
extern char *rf_predicate_text(const RfFlow *flow, Node *predicate);

#endif							/* RF_WHERE_PREDICATE_H */
