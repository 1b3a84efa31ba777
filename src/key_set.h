/*-------------------------------------------------------------------------
 *
 * key_set.h
 *	  The distinct keys of a batch, for statements to join with.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RF_KEY_SET_H
#define RF_KEY_SET_H

#include "flow.h"

typedef struct RfKeySet RfKeySet;

extern RfKeySet *rf_keys_begin(const RfFlow *flow);
extern void rf_keys_add(RfKeySet *keys, int64 group,
						const Datum *values, const bool *nulls);
extern void rf_keys_register(RfKeySet *keys);
extern char *rf_keys_find_in_target(RfKeySet *keys, const bool *needed);
extern char *rf_keys_find_in_ledger(RfKeySet *keys, TupleDesc columns);
extern void rf_keys_end(RfKeySet *keys);

#endif							/* RF_KEY_SET_H */
