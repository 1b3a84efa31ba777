/*-------------------------------------------------------------------------
 *
 * using_definition.h
 *	  What the definition of a using flow must satisfy besides.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RF_USING_DEFINITION_H
#define RF_USING_DEFINITION_H

#include "definition.h"

extern void rf_definition_set_keys(RfDefinition *definition);
extern void rf_definition_check_source(const RfDefinition *definition);
extern void rf_definition_check_unread(const RfDefinition *definition);
extern void rf_definition_check_key_names(const RfDefinition *definition);
extern void rf_definition_check_key_type(const RfDefinition *definition, const char *key,
										 Oid type);
extern void rf_definition_check_keys(RfDefinition *definition);
extern RfType rf_definition_sequence_type(const RfDefinition *definition);
extern void rf_definition_check_sequence(RfDefinition *definition);

#endif							/* RF_USING_DEFINITION_H */
