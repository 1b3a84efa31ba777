/*-------------------------------------------------------------------------
 *
 * refresh_advice.h
 *	  What a user can do so that refreshes cost what changed.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RF_REFRESH_ADVICE_H
#define RF_REFRESH_ADVICE_H

#include "flow_sources.h"

extern void rf_refresh_warn(const RfFlow *flow, const RfSources *sources);
extern char *rf_missing_index(const RfSource *source);
extern char *rf_missing_target_index(const RfFlow *flow, const RfSource *source);

#endif							/* RF_REFRESH_ADVICE_H */
