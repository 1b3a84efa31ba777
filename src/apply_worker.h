/*-------------------------------------------------------------------------
 *
 * apply_worker.h
 *	  Triggers for rows that a subscription applies.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RF_APPLY_WORKER_H
#define RF_APPLY_WORKER_H

#include "utils/relcache.h"

extern void rf_apply_worker_clean_up(Relation table);

#endif							/* RF_APPLY_WORKER_H */
