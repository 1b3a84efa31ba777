/*-------------------------------------------------------------------------
 *
 * stored_key.h
 *	  Whether rows are stored under the key that they were sent with.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RF_STORED_KEY_H
#define RF_STORED_KEY_H

#include "executor/tuptable.h"
#include "utils/tuplestore.h"

#include "row_image.h"

typedef struct RfStoredKeys RfStoredKeys;

extern RfStoredKeys *rf_stored_keys_begin(Oid relid, TupleDesc columns, RfAgreement rule);
extern void rf_stored_keys_expect(RfStoredKeys *keys, TupleDesc desc, Tuplestorestate *rows);
extern const Oid *rf_stored_keys_types(const RfStoredKeys *keys);
extern void rf_stored_keys_take(TupleTableSlot *slot, void *arg);
extern bool rf_stored_keys_differ(const RfStoredKeys *keys);
extern void rf_stored_keys_end(RfStoredKeys *keys);

#endif							/* RF_STORED_KEY_H */
