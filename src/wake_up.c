/*-------------------------------------------------------------------------
 *
 * wake_up.c
 *	  What a transaction does that the worker wants to know, told at commit.
 *
 * Triggers and functions note it while the transaction goes on; the commit tells
 * the database's scheduler, after it has made the transaction's rows visible.
 * What a rolled back subtransaction did is told too: it costs a look.
 *
 * A prepared transaction is committed by a session that does not know what it
 * did; COMMIT PREPARED tells that it may be anything (database_command.c).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "miscadmin.h"

#include "database_slot.h"
#include "wake_up.h"

static RfNews noted;

static void
at_transaction_end(XactEvent event, void *arg)
{
	(void) arg;
	if (rf_news_is_empty(&noted))
		return;
	switch (event)
	{
		case XACT_EVENT_COMMIT:
			noted.since = GetCurrentTransactionStopTimestamp();
			rf_database_tell(MyDatabaseId, &noted);
			memset(&noted, 0, sizeof(RfNews));
			break;
		case XACT_EVENT_ABORT:
		case XACT_EVENT_PREPARE:
			memset(&noted, 0, sizeof(RfNews));
			break;
		default:
			break;
	}
}

/*
 * There is a worker: let it be told.  Without it, notes go nowhere.
 */
void
rf_wake_up_init(void)
{
	RegisterXactCallback(at_transaction_end, NULL);
}

/*
 * Rows came into a table, or left it.
 */
void
rf_wake_up_note(Oid relid)
{
	rf_news_add_table(&noted, relid);
}

/*
 * Rows may have come into any table, and flows may have changed.
 */
void
rf_wake_up_note_anything(void)
{
	noted.anything = true;
}

/*
 * The catalog of flows has changed.
 */
void
rf_wake_up_note_definitions(void)
{
	noted.definitions = true;
}

/*
 * Something else was defined anew: what failed may work now.
 */
void
rf_wake_up_note_repair(void)
{
	noted.repair = true;
}
