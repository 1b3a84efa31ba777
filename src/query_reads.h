/*-------------------------------------------------------------------------
 *
 * query_reads.h
 *	  The relations that a flow's query reads.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RF_QUERY_READS_H
#define RF_QUERY_READS_H

#include "nodes/parsenodes.h"

#include "flow.h"
#include "flow_query.h"

extern void rf_reads_check_stream(const RfTextOrigin *origin, Query *query, Oid stream);
extern void rf_reads_check_sources(const RfTextOrigin *origin, Query *query,
								   int32 flow_id, Oid target);
extern bool rf_reads_lock(RfFlow *flow, bool wait);
extern List *rf_reads_of_query(const RfTextOrigin *origin, Query *query);
extern List **rf_reads_of_flows(int nflows, const int32 *flow_ids);
extern List *rf_reads_of_flow(int32 flow_id);

#endif							/* RF_QUERY_READS_H */
