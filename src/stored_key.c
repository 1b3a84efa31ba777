/*-------------------------------------------------------------------------
 *
 * stored_key.c
 *	  Whether rows are stored under the key that they were sent with.
 *
 * A BEFORE trigger may change a row, and that is the user's business, but for
 * the key and the sequence: the next run finds a key's rows by the key that is
 * sent, and would miss those that were stored under another, so that they
 * would be doubled or never go; and it takes the stored sequence for the floor.
 * So where there are such triggers, a statement returns the rows as
 * they were stored, and they are compared with those that were handed in.
 *
 * An UPDATE returns both.  An INSERT returns only what it stored, but in the
 * order in which the rows were handed in.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "catalog/pg_inherits.h"
#include "executor/executor.h"
#include "utils/rel.h"

#include "row_image.h"
#include "stored_key.h"

struct RfStoredKeys
{
	int			ncolumns;
	Oid		   *types;			/* of the columns, twice */
	RfRowImage *image;
	bool		differ;

	/* rows handed in; NULL when the statement returns them itself */
	Tuplestorestate *sent;
	TupleTableSlot *sent_slot;
};

static bool
has_before_row_trigger(Oid relid)
{
	bool		found = false;
	ListCell   *cell;

	foreach(cell, find_all_inheritors(relid, AccessShareLock, NULL))
	{
		Relation	part = table_open(lfirst_oid(cell), NoLock);

		if (part->trigdesc != NULL)
			found |= part->trigdesc->trig_insert_before_row ||
				part->trigdesc->trig_update_before_row;
		table_close(part, NoLock);
	}
	return found;
}

/*
 * Begin to watch the keys of rows of a table, which agree by a rule with what
 * was sent; NULL when nothing can change them.
 */
RfStoredKeys *
rf_stored_keys_begin(Oid relid, TupleDesc columns, RfAgreement rule)
{
	RfStoredKeys *keys;

	if (bms_is_empty(rule.columns) || !has_before_row_trigger(relid))
		return NULL;
	keys = palloc0(sizeof(RfStoredKeys));
	keys->ncolumns = columns->natts;
	keys->types = palloc(2 * columns->natts * sizeof(Oid));
	for (int i = 0; i < columns->natts; i++)
		keys->types[i] = keys->types[columns->natts + i] = TupleDescAttr(columns, i)->atttypid;
	keys->image = rf_image_begin(columns, rule);
	return keys;
}

/*
 * A statement is about to run over rows that were handed in; NULL if it is one
 * that returns them itself, after the rows as they were stored.
 */
void
rf_stored_keys_expect(RfStoredKeys *keys, TupleDesc desc, Tuplestorestate *rows)
{
	keys->sent = rows;
	if (rows != NULL)
		keys->sent_slot = MakeSingleTupleTableSlot(desc, &TTSOpsMinimalTuple);
}

void
rf_stored_keys_end(RfStoredKeys *keys)
{
	if (keys->sent_slot != NULL)
		ExecDropSingleTupleTableSlot(keys->sent_slot);
}

/*
 * The types of what a statement returns.
 */
const Oid  *
rf_stored_keys_types(const RfStoredKeys *keys)
{
	return keys->types;
}

/*
 * Take a row that the statement returns.
 */
void
rf_stored_keys_take(TupleTableSlot *slot, void *arg)
{
	RfStoredKeys *keys = arg;
	Datum	   *sent_values;
	bool	   *sent_nulls;

	slot_getallattrs(slot);
	if (keys->sent == NULL)
	{
		sent_values = slot->tts_values + keys->ncolumns;
		sent_nulls = slot->tts_isnull + keys->ncolumns;
	}
	else
	{
		tuplestore_select_read_pointer(keys->sent, 0);
		if (!tuplestore_gettupleslot(keys->sent, true, false, keys->sent_slot))
			elog(ERROR, "unexpected row returned");
		slot_getallattrs(keys->sent_slot);
		sent_values = keys->sent_slot->tts_values;
		sent_nulls = keys->sent_slot->tts_isnull;
	}
	if (!rf_rows_agree(keys->image, slot->tts_values, slot->tts_isnull, sent_values, sent_nulls))
		keys->differ = true;
}

/*
 * Whether a row was stored under another key than it was sent with.
 */
bool
rf_stored_keys_differ(const RfStoredKeys *keys)
{
	return keys->differ;
}
