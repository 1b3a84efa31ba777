/*-------------------------------------------------------------------------
 *
 * partition_overwrite.h
 *	  Windows that are whole partitions of the target.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RF_PARTITION_OVERWRITE_H
#define RF_PARTITION_OVERWRITE_H

#include "flow.h"

extern char *rf_overwrite_obstacle(const RfFlow *flow, Node *predicate, List **partitions);
extern bool rf_overwrite_lock(List *partitions, bool wait);
extern void rf_overwrite_empty(const RfFlow *flow, List *partitions);

#endif							/* RF_PARTITION_OVERWRITE_H */
