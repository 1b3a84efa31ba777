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

extern List *rf_capture_wanted(const RfFlow *flow);

#endif							/* RF_CAPTURE_WANTED_H */
