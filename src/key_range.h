/*-------------------------------------------------------------------------
 *
 * key_range.h
 *	  A part of a using flow's stream: rows of some keys.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RF_KEY_RANGE_H
#define RF_KEY_RANGE_H

#include "nodes/parsenodes.h"

#include "flow.h"

/* The keys whose hash lies in a range, with its ends. */
typedef struct RfKeyRange
{
	int64		first;
	int64		last;
} RfKeyRange;

typedef struct RfKeyCut RfKeyCut;

extern RfKeyCut *rf_key_cut_find(const RfFlow *flow, const char **obstacle);
extern RfKeyCut *rf_key_cut_require(const RfFlow *flow);
extern char *rf_key_cut_condition(const RfKeyCut *cut, const RfKeyRange *range);
extern Query *rf_key_cut_query(const RfKeyCut *cut, const char *condition);
extern bool rf_key_cut_narrow(const RfKeyCut *cut, RfKeyRange *range);

#endif							/* RF_KEY_RANGE_H */
