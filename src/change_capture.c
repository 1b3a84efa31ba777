/*-------------------------------------------------------------------------
 *
 * change_capture.c
 *	  Changes of tables that where flows read, or own, are logged.
 *
 * A statement that writes such a table ends with our trigger, which is given
 * the rows as they were and as they are.  It writes one entry into the change log
 * for all of them: the values of the few columns that tell flows which rows of
 * theirs can be affected (change_set.c).  The entry is part of the writer's
 * transaction, and is seen by a flow's run if and only if the change itself is.
 *
 * Rows that a subscription applies come one by one, each with its entry.  A client
 * that acts as a replica fires the triggers of rows, too, for statements whose own
 * triggers say all.
 *
 * A log that nobody reads must not grow for ever.  So once in a while, and more often
 * the more it writes, a writer looks how large its table's part of it is, and puts
 * entries together when they are too many: those that it can lock at once, as one of
 * its own.  Who has seen some of them sees them again, which costs a run some work
 * and makes no difference.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "commands/trigger.h"
#include "common/pg_prng.h"
#include "executor/executor.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "portability/instr_time.h"
#include "utils/rel.h"

#include "apply_worker.h"
#include "captured_columns.h"
#include "change_log.h"
#include "change_set.h"
#include "reentry.h"

PG_FUNCTION_INFO_V1(replace_flow_capture_change);

/* One writer in this many looks how long the log is; or once for so many bytes. */
#define LOOK_ONCE_IN 512
#define LOOK_ONCE_FOR (4 * 1024 * 1024)

/* A session looks for no more than one part in this many of its time. */
#define LOOK_SHARE 20

static bool
has_to_look(Size written)
{
	uint64		chances = LOOK_ONCE_FOR / LOOK_ONCE_IN + written;

	return pg_prng_uint64_range(&pg_global_prng_state, 1, LOOK_ONCE_FOR) <= chances;
}

static uint64
now(void)
{
	instr_time	time;

	INSTR_TIME_SET_CURRENT(time);
	return INSTR_TIME_GET_MICROSEC(time);
}

/*
 * Look, and shorten the log if need be.  While a transaction is open, this one or
 * another, what was removed is still there, and to pass it takes ever longer.
 */
static void
look(Relation table, const Bitmapset *columns)
{
	static uint64 not_before = 0;
	uint64		begin = now();
	bool		is_long;

	if (begin < not_before)
		return;
	is_long = rf_change_log_is_long(RelationGetRelid(table));
	not_before = now() + LOOK_SHARE * (now() - begin);
	if (is_long)
		rf_change_log_shorten(table, columns);
}

static void
add_transition_table(RfChangeSet *changes, Tuplestorestate *rows, TupleDesc desc)
{
	TupleTableSlot *slot;

	if (rows == NULL)
		return;
	/* others who read it keep their places */
	tuplestore_select_read_pointer(rows, tuplestore_alloc_read_pointer(rows, EXEC_FLAG_REWIND));
	tuplestore_rescan(rows);
	slot = MakeSingleTupleTableSlot(desc, &TTSOpsMinimalTuple);
	while (tuplestore_gettupleslot(rows, true, false, slot))
		rf_changes_add_row(changes, slot);
	ExecDropSingleTupleTableSlot(slot);
}

static void
add_replicated_row(RfChangeSet *changes, const TriggerData *data)
{
	rf_changes_add_row(changes, data->tg_trigslot);
	if (TRIGGER_FIRED_BY_UPDATE(data->tg_event))
		rf_changes_add_row(changes, data->tg_newslot);
}

static void
add_changes(RfChangeSet *changes, const TriggerData *data)
{
	TupleDesc	desc = RelationGetDescr(data->tg_relation);

	if (TRIGGER_FIRED_BY_TRUNCATE(data->tg_event))
		rf_changes_add_all(changes);
	else if (TRIGGER_FIRED_FOR_ROW(data->tg_event))
		add_replicated_row(changes, data);
	else
	{
		add_transition_table(changes, data->tg_oldtable, desc);
		add_transition_table(changes, data->tg_newtable, desc);
	}
}

/*
 * capture_change(): trigger, of statements and of replicated rows.
 */
Datum
replace_flow_capture_change(PG_FUNCTION_ARGS)
{
	TriggerData *data = (TriggerData *) fcinfo->context;
	Bitmapset  *columns;
	RfChangeSet *changes;

	if (!CALLED_AS_TRIGGER(fcinfo))
		elog(ERROR, "unexpected call of replace_flow.capture_change()");
	if (TRIGGER_FIRED_FOR_ROW(data->tg_event) && MyBackendType == B_BACKEND)
		return PointerGetDatum(NULL);
	if (TRIGGER_FIRED_FOR_ROW(data->tg_event))
		rf_apply_worker_clean_up(data->tg_relation);
	columns = rf_captured_columns(data->tg_relation);
	if (columns == NULL)
		return PointerGetDatum(NULL);
	changes = rf_changes_begin(RelationGetDescr(data->tg_relation), columns);
	add_changes(changes, data);
	if (!rf_changes_is_empty(changes))
	{
		Oid			relid = RelationGetRelid(data->tg_relation);
		bytea	   *content = rf_changes_content(changes);

		rf_change_log_add(relid, rf_reentry_writer(relid),
						  TRIGGER_FIRED_BY_INSERT(data->tg_event), content);
		if (has_to_look(VARSIZE(content)))
			look(data->tg_relation, columns);
	}
	rf_changes_end(changes);
	return PointerGetDatum(NULL);
}
