/*-------------------------------------------------------------------------
 *
 * database_slot.h
 *	  Databases that the worker serves, in shared memory.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RF_DATABASE_SLOT_H
#define RF_DATABASE_SLOT_H

#include "datatype/timestamp.h"

/* Tables that can be named; more of them are "anything". */
#define RF_NEWS_TABLES 64

/* What happened in a database that its scheduler wants to know. */
typedef struct RfNews
{
	bool		definitions;	/* flows were created, altered, dropped */
	bool		repair;			/* other DDL: what failed may work now */
	bool		anything;		/* any table may have got rows, and any of the
								 * above may be true */
	int			ntables;
	Oid			tables[RF_NEWS_TABLES]; /* these got rows */
	TimestampTz since;			/* when the first of them did */
} RfNews;

extern Size rf_database_shmem_size(void);
extern void rf_database_shmem_init(void);

extern void rf_news_add_table(RfNews *news, Oid relid);
extern bool rf_news_is_empty(const RfNews *news);

/* for sessions */
extern void rf_database_tell(Oid database, const RfNews *news);
extern void rf_database_hold(Oid database);
extern void rf_database_unhold(void);
extern void rf_launcher_tell(void);

/* for the launcher */
extern void rf_launcher_enter(void);
extern bool rf_launcher_has_news(void);
extern bool rf_database_want(Oid database);
extern int	rf_database_due(TimestampTz *next);
extern Oid	rf_database_of(int slot);
extern void rf_database_forget(int slot);
extern void rf_database_begin_start(int slot);
extern void rf_database_not_started(int slot);
extern void rf_database_no_room(int slot);

/* for a scheduler */
extern Oid	rf_database_enter(int slot);
extern void rf_database_leave(void);
extern void rf_database_take_news(RfNews *news);
extern void rf_database_needs_no_job(void);

/* for job.c; the lock is held */
extern void rf_database_wait_for_job(void);
extern bool rf_database_is_next_for_job(void);
extern bool rf_database_other_needs_job(void);
extern void rf_database_wake_needing_job(void);

#endif							/* RF_DATABASE_SLOT_H */
