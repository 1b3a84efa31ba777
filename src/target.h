/*-------------------------------------------------------------------------
 *
 * target.h
 *	  The table that a flow writes: finding, creating and checking it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RF_TARGET_H
#define RF_TARGET_H

#include "flow.h"

/* A target as a definition names it. */
typedef struct RfTargetName
{
	char	   *schema;
	char	   *name;
	Oid			relid;			/* InvalidOid: it does not exist */
} RfTargetName;

extern RfTargetName rf_target_find(const char *text);
extern void rf_target_create(RfTargetName *target, const char *flow_name,
							 int ncolumns, char **names, RfType *types,
							 int nkeys, char **keys);
extern void rf_target_check(Oid relid, Oid owner, const char *flow_name);
extern void rf_target_check_owner(Oid relid, Oid owner, const char *flow_name);
extern void rf_target_check_free(const char *flow_name, int32 flow_id,
								 Oid target, Oid source);
extern void rf_target_check_alone(const char *flow_name, int32 flow_id,
								  Oid target, Oid source);
extern List *rf_table_family(Oid relid);
extern bool rf_have_common_member(List *relids1, List *relids2);
extern void rf_target_warn_of_index(const RfTargetName *target, const char *flow_name,
									int nkeys, const AttrNumber *keys, char **names);
extern void rf_target_warn_of_cascades(Oid relid, const char *flow_name);
extern void rf_target_warn_of_publication(Oid relid, const char *what,
										  const char *flow_name);

#endif							/* RF_TARGET_H */
