/*-------------------------------------------------------------------------
 *
 * failpoint.c
 *	  Points at which tests let the server fail.
 *
 * A point is a part and a step, such as "table inserted".  The setting
 * replace_flow.failpoint names one and what happens there:
 *
 *		error: table inserted	an error
 *		kill: table inserted	SIGKILL for this backend
 *		stop: table inserted	immediate shutdown of the server
 *
 * WAL is flushed first, so that a crash finds as much of the run as it can.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "failpoint.h"

#ifdef RF_FAILPOINTS

#include <signal.h>
#include <unistd.h>

#include "access/xlog.h"
#include "miscadmin.h"
#include "utils/guc.h"

static char *failpoint;

void
rf_failpoint_define(void)
{
	DefineCustomStringVariable("replace_flow.failpoint",
							   "Point at which the server is to fail, for tests.",
							   NULL, &failpoint, "", PGC_SUSET, 0, NULL, NULL, NULL);
}

static void
fail(const char *how)
{
	if (strcmp(how, "error") == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg("failpoint \"%s\"", failpoint)));

	/*
	 * where the next record would go may be past the head of a page that is
	 * not there
	 */
	XLogFlush(XactLastRecEnd);
	kill(strcmp(how, "kill") == 0 ? MyProcPid : PostmasterPid,
		 strcmp(how, "kill") == 0 ? SIGKILL : SIGQUIT);
	for (;;)
		pg_usleep(1000000L);
}

/*
 * Fail here, if the setting says so.
 */
void
rf_failpoint(const char *part, const char *step)
{
	static const char *const ways[] = {"error", "kill", "stop"};

	/* a test of memory must not find this */
	for (int i = 0; i < 3; i++)
	{
		char		point[NAMEDATALEN];

		snprintf(point, sizeof(point), "%s: %s %s", ways[i], part, step);
		if (strcmp(failpoint, point) == 0)
			fail(ways[i]);
	}
}

#endif
