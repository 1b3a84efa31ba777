/*-------------------------------------------------------------------------
 *
 * monotone_function.h
 *	  Expressions over a column, as steps through monotone functions.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RF_MONOTONE_FUNCTION_H
#define RF_MONOTONE_FUNCTION_H

#include "nodes/pg_list.h"
#include "nodes/primnodes.h"

extern bool rf_steps_from(Node *value, const Var *var, List **steps);

#endif							/* RF_MONOTONE_FUNCTION_H */
