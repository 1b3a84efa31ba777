/*-------------------------------------------------------------------------
 *
 * total.h
 *	  Whether an expression can be computed for each row there may be.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RF_TOTAL_H
#define RF_TOTAL_H

#include "nodes/primnodes.h"

extern bool rf_is_total(Node *expression);

#endif							/* RF_TOTAL_H */
