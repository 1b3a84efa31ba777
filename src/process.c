/*-------------------------------------------------------------------------
 *
 * process.c
 *	  What the worker's processes have in common.
 *
 * All of them sleep on their latch, answer to the server's signals, and end
 * with the server.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "postmaster/interrupt.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "tcop/tcopprot.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "compat.h"
#include "process.h"

/*
 * Describe a process for the server to start.
 */
void
rf_process_describe(BackgroundWorker *worker, const char *role, const char *main, int arg)
{
	worker->bgw_flags = BGWORKER_SHMEM_ACCESS | BGWORKER_BACKEND_DATABASE_CONNECTION;
	worker->bgw_start_time = BgWorkerStart_RecoveryFinished;
	worker->bgw_restart_time = BGW_NEVER_RESTART;
	strlcpy(worker->bgw_library_name, "replace_flow", sizeof(worker->bgw_library_name));
	strlcpy(worker->bgw_function_name, main, sizeof(worker->bgw_function_name));
	snprintf(worker->bgw_type, BGW_MAXLEN, "replace_flow %s", role);
	worker->bgw_main_arg = Int32GetDatum(arg);
}

/*
 * Start a process for a database; false when the server has no room for it.  This
 * process is woken when it ends.  Its handle takes the place of another one's.
 */
bool
rf_process_start(const char *role, const char *main, int arg, Oid database,
				 BackgroundWorkerHandle **handle)
{
	BackgroundWorker worker = {0};
	MemoryContext caller = MemoryContextSwitchTo(TopMemoryContext);
	bool		started;

	rf_process_describe(&worker, role, main, arg);
	snprintf(worker.bgw_name, BGW_MAXLEN, "replace_flow %s of database %u", role, database);
	worker.bgw_notify_pid = MyProcPid;
	if (*handle != NULL)
		pfree(*handle);
	*handle = NULL;
	started = RegisterDynamicBackgroundWorker(&worker, handle);
	MemoryContextSwitchTo(caller);
	return started;
}

/*
 * Whether a process that was started has ended, or never came.
 */
bool
rf_process_has_ended(BackgroundWorkerHandle *handle)
{
	pid_t		pid;

	return handle != NULL && GetBackgroundWorkerPid(handle, &pid) == BGWH_STOPPED;
}

/*
 * The server has no room for another process.
 */
void
rf_process_report_shortage(const char *what)
{
	static TimestampTz reported_at = 0;
	TimestampTz now = GetCurrentTimestamp();

	/* it may last, and we try again and again */
	if (reported_at != 0 && !TimestampDifferenceExceeds(reported_at, now, 10 * 60 * 1000))
		return;
	reported_at = now;
	ereport(LOG,
			(errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
			 errmsg("replace_flow could not start a %s process", what),
			 errdetail("All %d background workers of the server are in use; it tries again.",
					   max_worker_processes),
			 errhint("Consider increasing the configuration parameter \"max_worker_processes\".")));
}

static void
read_configuration(void)
{
	ConfigReloadPending = false;
	ProcessConfigFile(PGC_SIGHUP);
}

/*
 * Begin to answer to signals.  The server has a new process ignore SIGHUP; what was
 * reloaded between the fork and here would otherwise be missed until the next reload.
 */
void
rf_process_begin(void)
{
	pqsignal(SIGHUP, SignalHandlerForConfigReload);
	pqsignal(SIGTERM, die);
	BackgroundWorkerUnblockSignals();
	read_configuration();
}

static void
override(const char *setting, const char *value)
{
	SetConfigOption(setting, value, PGC_SUSET, PGC_S_OVERRIDE);
}

/*
 * Connect to a database, as who installed the server: a run acts as its flow's
 * owner.  Settings that are meant for clients must not keep runs from working.
 */
void
rf_process_connect(Oid database)
{
	BackgroundWorkerInitializeConnectionByOid(database, InvalidOid, 0);
	override("search_path", "pg_catalog, pg_temp");
	override("default_transaction_isolation", "read committed");
	override("default_transaction_deferrable", "false");
	override("default_transaction_read_only", "false");
	/* only some versions of the server have this one */
	if (GetConfigOption("transaction_timeout", true, false) != NULL)
		override("transaction_timeout", "0");
}

/*
 * Sleep until the latch is set, or until a time (DT_NOEND: never).
 */
void
rf_process_sleep(TimestampTz until, const char *wait_event)
{
	int			events = WL_LATCH_SET | WL_EXIT_ON_PM_DEATH;
	long		timeout = -1;

	if (until != DT_NOEND)
	{
		events |= WL_TIMEOUT;
		/* at least a moment: the rest of a millisecond is rounded down */
		timeout = TimestampDifferenceMilliseconds(GetCurrentTimestamp(), until) + 1;
	}
	(void) WaitLatch(MyLatch, events, timeout, rf_wait_event(wait_event));
	ResetLatch(MyLatch);
	/* who sleeps does nothing that could be cancelled */
	QueryCancelPending = false;
	CHECK_FOR_INTERRUPTS();
	if (ConfigReloadPending)
		read_configuration();
}
