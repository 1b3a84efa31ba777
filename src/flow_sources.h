/*-------------------------------------------------------------------------
 *
 * flow_sources.h
 *	  The tables that a where flow reads, and what of their changes it needs.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RF_FLOW_SOURCES_H
#define RF_FLOW_SOURCES_H

#include "nodes/bitmapset.h"
#include "nodes/parsenodes.h"

#include "flow.h"

/* A table, as the query names it. */
typedef struct RfSource
{
	Oid			relid;
	List	   *occurrences;	/* of RfOccurrence: the places where it is
								 * read */
	Bitmapset  *groups;			/* columns of the flow, by position, that tell
								 * which rows a change affects */
} RfSource;

typedef struct RfSources
{
	Query	   *query;			/* rewritten */
	char	   *culprit;		/* what makes it give something else each
								 * time, or NULL */
	List	   *sources;		/* of RfSource */
} RfSources;

extern RfSources *rf_sources_of_flow(const RfFlow *flow);
extern Bitmapset *rf_source_columns(const RfSource *source);
extern char *rf_source_obstacle(const RfSource *source);

#endif							/* RF_FLOW_SOURCES_H */
