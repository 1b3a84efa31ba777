/*-------------------------------------------------------------------------
 *
 * monotone.h
 *	  What a condition on functions of a column says of the column itself.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RF_MONOTONE_H
#define RF_MONOTONE_H

#include "nodes/pg_list.h"
#include "nodes/primnodes.h"

extern List *rf_monotone_bounds(Node *condition, const Var *var);
extern bool rf_monotone_is(Node *value, const Var *var);
extern bool rf_monotone_range(Node *value, const Var *var, Const *constant,
							  Datum *low, Datum *high);

#endif							/* RF_MONOTONE_H */
