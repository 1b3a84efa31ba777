/*-------------------------------------------------------------------------
 *
 * wake_up.h
 *	  What a transaction does that the worker wants to know, told at commit.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RF_WAKE_UP_H
#define RF_WAKE_UP_H

extern void rf_wake_up_init(void);
extern void rf_wake_up_note(Oid relid);
extern void rf_wake_up_note_anything(void);
extern void rf_wake_up_note_definitions(void);
extern void rf_wake_up_note_repair(void);

#endif							/* RF_WAKE_UP_H */
