/*-------------------------------------------------------------------------
 *
 * definition.h
 *	  What a flow's definition must satisfy.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RF_DEFINITION_H
#define RF_DEFINITION_H

#include "flow_catalog.h"
#include "flow_view.h"
#include "target.h"

/* A definition while it is being checked. */
typedef struct RfDefinition
{
	RfFlowRow	row;			/* what will be stored */
	int32		flow_id;		/* 0: it has none yet */
	const RfFlow *before;		/* NULL: the flow is being created */
	const char *name;
	Oid			owner;
	int			nkeys;
	char	  **keys;

	RfView	   *view;
	int			noutputs;
	char	  **outputs;
	RfType	   *output_types;
	RfView	   *window;			/* with the predicate, of a where flow */

	RfTargetName target;
	bool		created_target;
	AttrNumber *output_attnums; /* the target's column for each output, or 0 */
	AttrNumber *key_attnums;
	bool		stored;			/* the target stores the sequence */
} RfDefinition;

extern void rf_definition_check_name(const RfDefinition *definition);
extern void rf_definition_check_settings(const RfDefinition *definition);
extern void rf_definition_check_interval(const RfDefinition *definition);
extern void rf_definition_read_query(RfDefinition *definition);
extern void rf_definition_check_reads(const RfDefinition *definition);
extern void rf_definition_lock_sources(const RfDefinition *definition);
extern int	rf_definition_output(const RfDefinition *definition, const char *name);
extern void rf_definition_read_predicate(RfDefinition *definition, const RfView *before);
extern bool rf_definition_serves_expression(const RfDefinition *definition, const char *output);
extern AttrNumber rf_definition_target_column(const RfDefinition *definition,
											  const char *output);
extern void rf_definition_match_columns(RfDefinition *definition);
extern void rf_definition_warn(const RfDefinition *definition);

#endif							/* RF_DEFINITION_H */
