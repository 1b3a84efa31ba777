/*-------------------------------------------------------------------------
 *
 * flow_query.h
 *	  The texts that define a flow: its query, and expressions over what the
 *	  query gives.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RF_FLOW_QUERY_H
#define RF_FLOW_QUERY_H

#include "nodes/parsenodes.h"
#include "parser/parse_node.h"

/* Which text is being read, for errors. */
typedef struct RfTextOrigin
{
	const char *flow_name;
	const char *parameter;
	bool		is_predicate;	/* of a where flow */
} RfTextOrigin;

/* What says so, while it is being read. */
typedef struct RfTextContext
{
	ErrorContextCallback callback;
	const RfTextOrigin *origin;
	const char *text;			/* or NULL */
} RfTextContext;

extern void rf_query_push_context(RfTextContext *context, const RfTextOrigin *origin,
								  const char *text);
extern Query *rf_query_parse(const RfTextOrigin *origin, const char *text);
extern void rf_query_refuse(const RfTextOrigin *origin, const char *detail);
extern Node *rf_expression_parse(const RfTextOrigin *origin, const char *text);
extern const char *rf_expression_column(Node *raw);
extern Node *rf_expression_analyze(const RfTextOrigin *origin, ParseState *pstate,
								   Node *raw, const char *text, Oid required_type);
extern int	rf_name_position(const char *name, int nnames, char **names);
extern char *rf_closest_name(const char *name, int nnames, char **names);

#endif							/* RF_FLOW_QUERY_H */
