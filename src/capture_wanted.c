/*-------------------------------------------------------------------------
 *
 * capture_wanted.c
 *	  Which columns of which tables matter to a where flow.
 *
 * Of the tables that its query reads those that tell which rows of the target a
 * change affects (flow_sources.c); of the target those by which the predicate
 * tells whether somebody has changed the window.  A flow that has to be recomputed
 * whole each time wants nothing.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "capture_wanted.h"
#include "captured.h"
#include "flow_sources.h"
#include "where_predicate.h"

static List *
add_table(List *wanted, Oid relid, Bitmapset *columns)
{
	RfCapturedTable *table = palloc0(sizeof(RfCapturedTable));

	table->relid = relid;
	table->columns = columns;
	return lappend(wanted, table);
}

/*
 * What is to be captured for a flow, as RfCapturedTable.
 */
List *
rf_capture_wanted(const RfFlow *flow, const RfSources *sources)
{
	List	   *wanted = NIL;
	ListCell   *cell;

	if (sources->culprit != NULL)
		return NIL;
	foreach(cell, sources->sources)
	{
		RfSource   *source = lfirst(cell);

		if (rf_source_obstacle(source) == NULL)
			wanted = add_table(wanted, source->relid, rf_source_columns(source));
	}
	return add_table(wanted, flow->target,
					 rf_predicate_target_columns(flow, rf_predicate_own(flow)));
}
