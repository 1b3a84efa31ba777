/*-------------------------------------------------------------------------
 *
 * equal_values.h
 *	  Whether values that count as equal can be told apart.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RF_EQUAL_VALUES_H
#define RF_EQUAL_VALUES_H

#include "nodes/primnodes.h"

extern bool rf_equals_are_same(Oid equality, Oid collation);
extern bool rf_tells_equals_apart(Node *condition, Node *value, Oid equality, Oid collation);

#endif							/* RF_EQUAL_VALUES_H */
