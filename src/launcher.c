/*-------------------------------------------------------------------------
 *
 * launcher.c
 *	  The process that starts a scheduler for each database.
 *
 * It is there from the end of recovery on, connected to no database, so it
 * cannot see which of them have the extension: it visits them all once, and the
 * scheduler of a database without it ends at once and leaves its slot free.
 * After that sessions tell what changes: the first commit that has news for a
 * database claims a slot, and a new database makes the launcher visit all again.
 *
 * It has a timer only while a scheduler is to be started again later.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/pg_database.h"
#include "miscadmin.h"
#include "postmaster/bgworker.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "database_slot.h"
#include "launcher.h"
#include "process.h"

/* Seconds after which the server starts a launcher that ended again. */
#define RESTART_INTERVAL 1

/* By slot: the process that this launcher started for it. */
static BackgroundWorkerHandle **handles;

/*
 * Have the server start the launcher.
 */
void
rf_launcher_register(void)
{
	BackgroundWorker worker = {0};

	/* pg_upgrade wants nothing done that it does not do itself */
	if (IsBinaryUpgrade)
		return;
	rf_process_describe(&worker, "launcher", "replace_flow_launcher_main", 0);
	strlcpy(worker.bgw_name, "replace_flow launcher", BGW_MAXLEN);
	worker.bgw_restart_time = RESTART_INTERVAL;
	RegisterBackgroundWorker(&worker);
}

/* The databases that one can connect to. */
static List *
list_databases(void)
{
	MemoryContext caller = CurrentMemoryContext;
	List	   *oids = NIL;
	Relation	relation;
	TableScanDesc scan;
	HeapTuple	tuple;

	StartTransactionCommand();
	(void) GetTransactionSnapshot();
	relation = table_open(DatabaseRelationId, AccessShareLock);
	scan = table_beginscan_catalog(relation, 0, NULL);
	while (HeapTupleIsValid(tuple = heap_getnext(scan, ForwardScanDirection)))
	{
		Form_pg_database database = (Form_pg_database) GETSTRUCT(tuple);
		MemoryContext transaction;

		/* -2 marks one whose DROP DATABASE was interrupted */
		if (!database->datallowconn || database->datconnlimit == -2)
			continue;
		transaction = MemoryContextSwitchTo(caller);
		oids = lappend_oid(oids, database->oid);
		MemoryContextSwitchTo(transaction);
	}
	table_endscan(scan);
	table_close(relation, AccessShareLock);
	CommitTransactionCommand();
	MemoryContextSwitchTo(caller);
	return oids;
}

static void
start_scheduler(int slot)
{
	rf_database_begin_start(slot);
	if (!rf_process_start("scheduler", "replace_flow_scheduler_main", slot,
						  rf_database_of(slot), &handles[slot]))
	{
		rf_process_report_shortage("scheduler");
		rf_database_no_room(slot);
	}
}

/* Schedulers that ended before they got as far as their slots. */
static void
look_for_lost(void)
{
	for (int slot = 0; slot < max_worker_processes; slot++)
	{
		if (rf_process_has_ended(handles[slot]))
			rf_database_not_started(slot);
	}
}

/*
 * Databases that are to be visited get a slot as long as there are any; those
 * whose time has come get a scheduler.  Gives the time of the next one.
 */
static TimestampTz
serve(List **to_visit)
{
	List	   *databases = NIL;
	TimestampTz next;
	int			slot;

	while (*to_visit != NIL && rf_database_want(linitial_oid(*to_visit)))
		*to_visit = list_delete_first(*to_visit);
	while ((slot = rf_database_due(&next)) >= 0)
	{
		if (databases == NIL)
			databases = list_databases();
		if (list_member_oid(databases, rf_database_of(slot)))
			start_scheduler(slot);
		else
			rf_database_forget(slot);
		CHECK_FOR_INTERRUPTS();
	}
	list_free(databases);
	return next;
}

/*
 * The launcher.
 */
void
replace_flow_launcher_main(Datum arg)
{
	List	   *to_visit = NIL;

	(void) arg;
	rf_process_begin();
	BackgroundWorkerInitializeConnection(NULL, NULL, 0);
	rf_launcher_enter();
	handles = palloc0(max_worker_processes * sizeof(BackgroundWorkerHandle *));
	for (;;)
	{
		look_for_lost();
		if (rf_launcher_has_news())
		{
			list_free(to_visit);
			to_visit = list_databases();
		}
		rf_process_sleep(serve(&to_visit), "ReplaceFlowLauncherMain");
	}
}
