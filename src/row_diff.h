/*-------------------------------------------------------------------------
 *
 * row_diff.h
 *	  Old rows and new rows in, per group; the smallest change out.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RF_ROW_DIFF_H
#define RF_ROW_DIFF_H

#include "target_write.h"

typedef struct RfRowDiff RfRowDiff;

extern RfRowDiff *rf_diff_begin(TupleDesc columns, bool pairing,
								const Bitmapset *pair_columns,
								RfTargetWriter *writer);
extern int64 rf_diff_hash(const RfRowDiff *diff,
						  const Datum *values, const bool *nulls);
extern void rf_diff_add_old(RfRowDiff *diff, int64 group,
							const RfRowAddress *address,
							const Datum *values, const bool *nulls);
extern void rf_diff_old_complete(RfRowDiff *diff);
extern void rf_diff_open_group(RfRowDiff *diff, int64 group);
extern void rf_diff_add_new(RfRowDiff *diff, int64 hash,
							Datum *values, bool *nulls);
extern void rf_diff_close_group(RfRowDiff *diff);
extern int64 rf_diff_unchanged(const RfRowDiff *diff);
extern void rf_diff_end(RfRowDiff *diff);

#endif							/* RF_ROW_DIFF_H */
