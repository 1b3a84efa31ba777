/*-------------------------------------------------------------------------
 *
 * query_level.h
 *	  Conditions on the rows of a query, taken into the query.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RF_QUERY_LEVEL_H
#define RF_QUERY_LEVEL_H

#include "nodes/bitmapset.h"
#include "nodes/parsenodes.h"

typedef struct RfLevel
{
	Query	   *query;
	struct RfLevel *outer;		/* the query that this one is a part of, or
								 * NULL */
	char	   *name;			/* for people */
} RfLevel;

extern bool rf_level_holds_back(const RfLevel *level, Node *condition);
extern List *rf_level_arms(RfLevel *level);
extern bool rf_level_enter(RfLevel *level, Index table, RfLevel *inner);
extern Query *rf_level_with_query(const RfLevel *level, Index table);
extern bool rf_level_is_fenced(const RfLevel *level, Index table);
extern bool rf_level_joins_groups(const RfLevel *level);
extern bool rf_level_is_nullable(const RfLevel *level, Index table);
extern List *rf_level_equalities(const RfLevel *level);
extern Node *rf_level_flatten(Query *query, Node *node);
extern Node *rf_level_condition(const RfLevel *level, Node *condition);
extern bool rf_level_is_alone(const RfLevel *level, Node *condition);

extern bool rf_condition_is_equality(Node *condition);
extern List *rf_condition_columns(Node *condition);
extern Bitmapset *rf_condition_tables(Node *condition);
extern Node *rf_condition_with(Node *condition, Node *value);
extern Node *rf_condition_on_output(Node *condition, Index table, AttrNumber column);

extern char *rf_level_place(const RfLevel *level, Node *condition);
extern char *rf_level_text(const RfLevel *level, Node *condition);

#endif							/* RF_QUERY_LEVEL_H */
