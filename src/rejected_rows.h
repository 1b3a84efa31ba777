/*-------------------------------------------------------------------------
 *
 * rejected_rows.h
 *	  Rows that a run leaves out, to be kept in replace_flow.rejected.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RF_REJECTED_ROWS_H
#define RF_REJECTED_ROWS_H

#include "flow.h"

struct ErrorData;
typedef struct RfRejected RfRejected;

extern RfRejected *rf_rejected_begin(void);
extern void rf_rejected_add(RfRejected *rejected, const char *expectation, TupleDesc desc,
							const Datum *values, const bool *nulls);
extern int64 rf_rejected_count(const RfRejected *rejected);
extern void rf_rejected_record(RfRejected *rejected, const RfFlow *flow, int64 run_id,
							   const struct ErrorData *error);
extern void rf_rejected_end(RfRejected *rejected);

#endif							/* RF_REJECTED_ROWS_H */
