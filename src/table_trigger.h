/*-------------------------------------------------------------------------
 *
 * table_trigger.h
 *	  The triggers of users' tables: which need them, and which have them.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RF_TABLE_TRIGGER_H
#define RF_TABLE_TRIGGER_H

#include "nodes/pg_list.h"

/* What a table needs triggers for, as flags. */
#define RF_WAKES_STREAM 0x1		/* rows that come into it wake a using flow */
#define RF_WAKES_SOURCE 0x2		/* changes of it wake a where flow */
#define RF_CAPTURED 0x4			/* its changes are captured for where flows */

extern Oid	rf_triggers_capture_function(void);
extern bool rf_triggers_are_there(Oid relid, int purposes);
extern bool rf_triggers_fire(Oid relid, int purposes);
extern void rf_triggers_place(Oid relid, int purposes);
extern bool rf_triggers_settle(bool in_ddl);
extern void rf_triggers_tell_what_stays(List *relids);

#endif							/* RF_TABLE_TRIGGER_H */
