/*-------------------------------------------------------------------------
 *
 * push_down.h
 *	  Filtering the rows of a query as early as that is the same.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RF_PUSH_DOWN_H
#define RF_PUSH_DOWN_H

#include "nodes/parsenodes.h"

/* A condition, and the part of a query in which it holds; for people. */
typedef struct RfPushed
{
	char	   *place;
	char	   *condition;
} RfPushed;

extern bool rf_push_down_cuts_groups(Query *query, Node *condition);
extern void rf_push_down(Query *query, List *conjuncts, List **residual, List **pushed);

#endif							/* RF_PUSH_DOWN_H */
