/*-------------------------------------------------------------------------
 *
 * repeatable.h
 *	  Whether an expression or a query gives the same as long as nothing changes.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RF_REPEATABLE_H
#define RF_REPEATABLE_H

#include "nodes/primnodes.h"

extern char *rf_repeatable_culprit(Node *node);

#endif							/* RF_REPEATABLE_H */
