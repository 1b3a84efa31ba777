/*-------------------------------------------------------------------------
 *
 * ledger.h
 *	  Where floors are kept, when flows are created and altered.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RF_LEDGER_H
#define RF_LEDGER_H

#include "definition.h"

extern void rf_ledger_create(const RfDefinition *definition, int32 flow_id);
extern void rf_ledger_check_target(const RfDefinition *definition);
extern void rf_ledger_settle(RfDefinition *definition, bool new_sequence);

#endif							/* RF_LEDGER_H */
