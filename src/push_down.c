/*-------------------------------------------------------------------------
 *
 * push_down.c
 *	  Conditions on the rows of a query, pushed towards its tables.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "push_down.h"

void
rf_push_down(Query *query, List *conjuncts, List **residual, List **pushed)
{
	(void) query;
	*residual = conjuncts;
	*pushed = NIL;
}
