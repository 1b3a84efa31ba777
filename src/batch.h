/*-------------------------------------------------------------------------
 *
 * batch.h
 *	  The rows that a run read, by key and sequence.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RF_BATCH_H
#define RF_BATCH_H

#include "flow.h"

typedef struct RfBatch RfBatch;

/* A row of the batch; it points into the batch until the next call. */
typedef struct RfBatchRow
{
	bool		new_key;		/* the first row of its key */
	bool		winner;			/* it has its key's highest sequence */
	bool		tombstone;
	int64		hash;
	Datum		sequence;
	Datum	   *values;			/* the stored columns */
	bool	   *nulls;
} RfBatchRow;

extern RfBatch *rf_batch_begin(const RfFlow *flow);
extern void rf_batch_add(RfBatch *batch, int64 hash, bool tombstone, Datum sequence,
						 const Datum *values, const bool *nulls);
extern void rf_batch_complete(RfBatch *batch);
extern bool rf_batch_next(RfBatch *batch, RfBatchRow *row);
extern void rf_batch_rewind(RfBatch *batch);
extern int	rf_batch_compare_sequences(RfBatch *batch, Datum a, Datum b);
extern void rf_batch_end(RfBatch *batch);

#endif							/* RF_BATCH_H */
