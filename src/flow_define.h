/*-------------------------------------------------------------------------
 *
 * flow_define.h
 *	  A definition, once it is checked, becomes a flow.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RF_FLOW_DEFINE_H
#define RF_FLOW_DEFINE_H

#include "definition.h"

extern void rf_define_columns(RfDefinition *definition);
extern void rf_define_views(const RfDefinition *definition, int32 flow_id);
extern void rf_define_check_quarantine(const RfDefinition *definition);
extern void rf_define_check_reading(const RfDefinition *definition, int32 flow_id);
extern void rf_define_triggers(const RfDefinition *definition, int32 flow_id);

#endif							/* RF_FLOW_DEFINE_H */
