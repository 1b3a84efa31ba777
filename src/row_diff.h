/*-------------------------------------------------------------------------
 *
 * row_diff.h
 *	  Old rows and new rows in, per group; the smallest change out.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RF_ROW_DIFF_H
#define RF_ROW_DIFF_H

#include "row_image.h"
#include "target_write.h"

typedef struct RfRowDiff RfRowDiff;

/* How old and new rows may meet. */
typedef struct RfDiffRules
{
	bool		one_group;		/* there is no other */
	bool		matching;		/* identical rows may be left in place */
	bool		pairing;		/* others may be updated in place */
	RfAgreement pair_rule;		/* if this says so */
	const Bitmapset *guarded_columns;	/* and they are identical in these */
} RfDiffRules;

extern RfRowDiff *rf_diff_begin(TupleDesc columns, RfDiffRules rules,
								RfTargetWriter *writer);
extern bool rf_diff_needs_column(const RfDiffRules *rules, int column);
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
