/*-------------------------------------------------------------------------
 *
 * table_family.h
 *	  Tables that hold rows of each other.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RF_TABLE_FAMILY_H
#define RF_TABLE_FAMILY_H

#include "nodes/pg_list.h"

extern bool rf_table_can_have_triggers(Oid relid);
extern List *rf_table_ancestors(Oid relid);
extern List *rf_table_with_parts(Oid relid);
extern bool rf_table_has_foreign_parts(Oid relid);
extern bool rf_table_is_unlogged(Oid relid);
extern List *rf_table_relatives(Oid relid);
extern bool rf_table_may_be_watched(Oid relid, Oid role);
extern List *rf_table_to_watch(Oid relid, Oid role);

#endif							/* RF_TABLE_FAMILY_H */
