/*-------------------------------------------------------------------------
 *
 * push_down.h
 *	  Conditions on the rows of a query, pushed towards its tables.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RF_PUSH_DOWN_H
#define RF_PUSH_DOWN_H

#include "nodes/parsenodes.h"

/* A condition that was pushed into a part of a query, for people. */
typedef struct RfPushed
{
	char	   *place;
	char	   *condition;
} RfPushed;

extern void rf_push_down(Query *query, List *conjuncts, List **residual, List **pushed);

#endif							/* RF_PUSH_DOWN_H */
