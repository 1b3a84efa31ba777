/*-------------------------------------------------------------------------
 *
 * capture_wanted.h
 *	  Which columns of which tables matter to a where flow.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RF_CAPTURE_WANTED_H
#define RF_CAPTURE_WANTED_H

#include "flow.h"
#include "flow_sources.h"

extern List *rf_capture_wanted(const RfFlow *flow, const RfSources *sources);

#endif							/* RF_CAPTURE_WANTED_H */
