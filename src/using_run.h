/*-------------------------------------------------------------------------
 *
 * using_run.h
 *	  One run of a using flow.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RF_USING_RUN_H
#define RF_USING_RUN_H

#include "access/htup.h"

extern HeapTuple rf_apply(const char *flow_name, bool wait);

#endif							/* RF_USING_RUN_H */
