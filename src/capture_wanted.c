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
#include "flow_view.h"
#include "where_predicate.h"

static List *
add_table(List *wanted, Oid relid, Bitmapset *columns)
{
	RfCapturedTable *table = palloc0(sizeof(RfCapturedTable));

	table->relid = relid;
	table->columns = columns;
	return lappend(wanted, table);
}

/* The numbers of the target's columns that the flow's own predicate looks at. */
static Bitmapset *
predicate_columns(const RfFlow *flow)
{
	Bitmapset  *positions = rf_predicate_columns(rf_view_added(rf_predicate_stored(flow)));
	Bitmapset  *attnums = NULL;
	int			position = -1;

	while ((position = bms_next_member(positions, position)) >= 0)
		attnums = bms_add_member(attnums, flow->output_attnums[flow->column_outputs[position]]);
	return attnums;
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
	return add_table(wanted, flow->target, predicate_columns(flow));
}
