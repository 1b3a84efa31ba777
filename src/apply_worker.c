/*-------------------------------------------------------------------------
 *
 * apply_worker.c
 *	  Triggers for rows that a subscription applies.
 *
 * Since PostgreSQL 18 an apply worker that routes a row into a partition opens the
 * partition once more, to fire the row's AFTER triggers, and never closes it.  At
 * the end of the transaction the server does, and warns of each row.  Where one
 * process applies a transaction for another (streaming = parallel, the default),
 * it sends these warnings to one that waits for it and reads none: after some dozens
 * of rows both wait for ever.  Any trigger does that; but with ours the owner of
 * the subscription would not know of one.
 *
 * So when the message with the row has been worked off, we close what is open of
 * the partition.  Nothing is meant to be open then, and where the server has
 * closed it itself there is nothing to do.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "apply_worker.h"
#include "compat.h"

/* A partition that may have been left open. */
typedef struct RfLeftOpen
{
	Oid			relid;
	MemoryContextCallback callback;
} RfLeftOpen;

/* The last one of the message; or NULL. */
static RfLeftOpen *latest;

/* The message has been worked off, or an error has closed everything. */
static void
close_partition(void *arg)
{
	const RfLeftOpen *left = arg;
	Relation	partition;

	latest = NULL;
	if (!IsTransactionState())
		return;
	partition = RelationIdGetRelation(left->relid);
	if (partition == NULL)
		return;
	/* one reference is that which we have just taken */
	while (partition->rd_refcnt > 1)
		RelationClose(partition);
	RelationClose(partition);
}

/*
 * Called by a trigger of a row: see to it that nothing of the table stays open after
 * the trigger, if it fires in an apply worker.
 */
void
rf_apply_worker_clean_up(Relation table)
{
	MemoryContext message = rf_leaky_apply_context();
	RfLeftOpen *left;

	if (message == NULL || !table->rd_rel->relispartition ||
		(latest != NULL && latest->relid == RelationGetRelid(table)))
		return;
	left = MemoryContextAllocZero(message, sizeof(RfLeftOpen));
	left->relid = RelationGetRelid(table);
	left->callback.func = close_partition;
	left->callback.arg = left;
	MemoryContextRegisterResetCallback(message, &left->callback);
	latest = left;
}
