/*-------------------------------------------------------------------------
 *
 * group_join.h
 *	  A query that is to give the rows of some groups alone.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RF_GROUP_JOIN_H
#define RF_GROUP_JOIN_H

#include "nodes/parsenodes.h"

#include "flow.h"
#include "query.h"

/* Values of group columns. */
typedef struct RfGroup
{
	Datum	   *values;
	bool	   *nulls;
} RfGroup;

/* Groups that have NULLs in the same columns. */
typedef struct RfGroupPart
{
	uint32		pattern;		/* bit i set: column i is NULL */
	List	   *groups;			/* of RfGroup */
} RfGroupPart;

typedef struct RfGroupJoin RfGroupJoin;

extern RfGroupJoin *rf_group_join_begin(const RfFlow *flow, int ncolumns, const int *columns,
										const RfGroupPart *part, bool probing);
extern RfGivenRows *rf_group_join_query(RfGroupJoin *join, Query *query, Node **expressions);

#endif							/* RF_GROUP_JOIN_H */
