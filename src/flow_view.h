/*-------------------------------------------------------------------------
 *
 * flow_view.h
 *	  The view that holds what a flow's creator wrote.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RF_FLOW_VIEW_H
#define RF_FLOW_VIEW_H

#include "nodes/parsenodes.h"

#include "flow.h"
#include "flow_query.h"

typedef struct RfView RfView;

extern RfView *rf_view_begin(const char *flow_name, Query *query);
extern RfView *rf_view_begin_row(const char *flow_name, const char *alias,
								 TupleDesc columns);
extern RfView *rf_view_load(const RfFlow *flow);
extern RfView *rf_view_load_row(const RfFlow *flow, Oid relid);
extern RfView *rf_view_again(const RfView *view);
extern Query *rf_view_inner_query(const RfView *view);
extern Query *rf_view_query(const RfView *view, List *added);
extern void rf_view_check(const RfFlow *flow);
extern int	rf_view_outputs(const RfView *view, char ***names, RfType **types);
extern char *rf_view_add(RfView *view, const char *parameter, const char *text,
						 Oid required_type, const char *name);
extern char *rf_view_add_parsed(RfView *view, const RfTextOrigin *origin, Node *raw,
								const char *text, Oid required_type, const char *name);
extern Node *rf_view_added(const RfView *view);
extern char *rf_view_carry(RfView *view, const RfView *from, const char *column,
						   const char *parameter, const char *name);
extern void rf_view_carry_added(RfView *view, const RfView *from,
								const char *parameter, const char *name);
extern void rf_view_rename(RfView *view, int column, const char *name);
extern void rf_view_remove(RfView *view, const char *name);
extern bool rf_view_uses(const RfView *view, const char *column);
extern RfType rf_view_column_type(const RfView *view, const char *name);
extern void rf_view_store(RfView *view, const char *name, Oid owner);

#endif							/* RF_FLOW_VIEW_H */
