/*-------------------------------------------------------------------------
 *
 * flow.h
 *	  A flow in memory.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RF_FLOW_H
#define RF_FLOW_H

#include "access/tupdesc.h"
#include "nodes/pg_list.h"

#include "column_type.h"
#include "role.h"

/* What a run replaces: the sets of keys, or the window of a predicate. */
typedef enum RfFlowKind
{
	RF_USING,
	RF_WHERE
} RfFlowKind;

/* What to do with a set whose sequence equals the floor. */
typedef enum RfTie
{
	RF_TIE_APPEND,
	RF_TIE_IGNORE,
	RF_TIE_REPLACE
} RfTie;

/* What to do with a row that violates an expectation. */
typedef enum RfAction
{
	RF_ACTION_WARN,
	RF_ACTION_DROP,
	RF_ACTION_FAIL
} RfAction;

/* A server setting that holds during the flow's runs. */
typedef struct RfSetting
{
	char	   *name;
	char	   *value;
} RfSetting;

typedef struct RfExpectation
{
	char	   *name;
	RfAction	action;
	char	   *view_column;
} RfExpectation;

typedef struct RfFlow
{
	int32		id;
	RfFlowKind	kind;
	char	   *name;
	Oid			owner;
	Oid			target;
	int32		definition_version;
	bool		keep_rejected;
	bool		paused;
	List	   *settings;		/* of RfSetting */

	/* of a using flow */
	Oid			source;
	RfTie		on_tie;
	bool		has_ledger;

	/* of a where flow */
	bool		reset_allowed;
	bool		allow_empty;

	/* what the query gives, as columns of the flow's view */
	int			noutputs;
	char	  **outputs;
	AttrNumber *output_attnums; /* the target's column for each, or 0 */
	int			nkeys;			/* none in a where flow */
	char	  **key_outputs;
	char	   *sequence_view_column;	/* NULL in a where flow */
	char	   *tombstone_view_column;	/* or NULL */

	/* What a run has locked because the query reads it, its parts included. */
	List	   *read_relids;

	/* What follows is known once the definition is open. */
	Oid			view;
	Oid			ledger;			/* or InvalidOid */
	Oid			window;			/* the view with the predicate, or InvalidOid */
	List	   *expectations;	/* of RfExpectation, by name */

	/*
	 * And the rest once the whole flow is.
	 *
	 * The stored ones among the outputs, under the target's names and types.
	 */
	TupleDesc	columns;
	int		   *column_outputs; /* position among outputs */
	int		   *keys;			/* positions among columns */

	/* the sequence: a stored column, or else kept in the ledger */
	int			sequence_column;	/* position among columns, or -1 */
	RfType		sequence_type;

	/* what a run reads of the view after the outputs, and where it is */
	List	   *extras;			/* names of the view's columns */
	RfType	   *output_types;
	Oid		   *read_types;		/* of outputs and extras */
	int			sequence_extra; /* -1: the sequence is stored */
	int			tombstone_extra;	/* -1: there are no tombstones */
	int			first_expectation;
} RfFlow;

extern const char *rf_flow_kind_name(RfFlowKind kind);
extern RfFlowKind rf_flow_kind_parse(const char *name);
extern const char *rf_tie_name(RfTie tie);
extern RfTie rf_tie_parse(const char *name);
extern RfAction rf_action_parse(const char *name);
extern const char *rf_action_name(RfAction action);
extern char *rf_flow_view_name(int32 flow_id);
extern char *rf_flow_ledger_name(int32 flow_id);
extern char *rf_flow_window_name(int32 flow_id);
extern bool rf_flow_extension_exists(void);
extern Oid	rf_flow_namespace(void);
extern Oid	rf_flow_find_view(int32 flow_id);
extern Oid	rf_flow_find_ledger(int32 flow_id);
extern Oid	rf_flow_find_window(int32 flow_id);
extern void rf_flow_depend_on_extension(Oid class, Oid object_id);
extern Oid	rf_flow_owner(int32 flow_id, Oid target);
extern RfFlow *rf_flow_find(const char *name);
extern RfFlow *rf_flow_lock(const char *name, bool wait);
extern bool rf_flow_is_visible(int32 flow_id, Oid target);
extern void rf_flow_check_caller(const RfFlow *flow);
extern void rf_flow_check_kind(const RfFlow *flow, RfFlowKind kind);
extern void rf_flow_check_isolation(const char *name, const char *deed);
extern void rf_flow_report_changed_view(const RfFlow *flow, Oid view);
extern void rf_flow_open_definition(RfFlow *flow);
extern void rf_flow_open(RfFlow *flow);
extern void rf_flow_assume(RfRoleGuard *guard, const RfFlow *flow);
extern void rf_flow_set_creator_settings(const RfFlow *flow);
extern RfType rf_flow_column_type(const RfFlow *flow, int column);
extern AttrNumber rf_flow_column_attnum(const RfFlow *flow, int column);
extern Node *rf_flow_column_var(const RfFlow *flow, int column);
extern int	rf_flow_output(const RfFlow *flow, const char *name);
extern AttrNumber rf_flow_attnum(const RfFlow *flow, const char *output);

#endif							/* RF_FLOW_H */
