/*-------------------------------------------------------------------------
 *
 * rejected_rows.c
 *	  Rows that a run leaves out, to be kept in replace_flow.rejected.
 *
 * They are rows of the query that an expectation drops, or rows of the stream
 * whose key is set aside because it fails.
 *
 * They are turned into jsonb as they come, under the flow's owner, since that
 * may call functions of the row's types; they are written in the end, by the
 * catalog's owner, as mere values.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/tuplestore.h"

#include "flow_catalog.h"
#include "rejected_rows.h"
#include "row_json.h"

struct RfRejected
{
	TupleDesc	desc;			/* expectation, row */
	Tuplestorestate *rows;
	int64		count;
};

RfRejected *
rf_rejected_begin(void)
{
	RfRejected *rejected = palloc0(sizeof(RfRejected));

	rejected->desc = CreateTemplateTupleDesc(2);
	TupleDescInitEntry(rejected->desc, 1, "expectation", TEXTOID, -1, 0);
	TupleDescInitEntry(rejected->desc, 2, "row", JSONBOID, -1, 0);
	rejected->rows = tuplestore_begin_heap(false, false, work_mem);
	return rejected;
}

/*
 * Keep a row, whose description is blessed, for an expectation or for none.
 */
void
rf_rejected_add(RfRejected *rejected, const char *expectation, TupleDesc desc,
				const Datum *values, const bool *nulls)
{
	Datum		columns[2] = {0};
	bool		column_nulls[2] = {expectation == NULL, false};

	if (expectation != NULL)
		columns[0] = CStringGetTextDatum(expectation);
	columns[1] = rf_row_to_jsonb(desc, values, nulls);
	tuplestore_putvalues(rejected->rows, rejected->desc, columns, column_nulls);
	rejected->count++;
}

int64
rf_rejected_count(const RfRejected *rejected)
{
	return rejected->count;
}

/*
 * Write the rows, with the error that is their reason if no expectation is.
 */
void
rf_rejected_record(RfRejected *rejected, const RfFlow *flow, int64 run_id,
				   const ErrorData *error)
{
	rf_catalog_add_rejected(flow, run_id, error, rejected->desc, rejected->rows,
							rejected->count);
}

void
rf_rejected_end(RfRejected *rejected)
{
	tuplestore_end(rejected->rows);
	pfree(rejected);
}
