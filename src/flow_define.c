/*-------------------------------------------------------------------------
 *
 * flow_define.c
 *	  Flows are created.
 *
 * Everything that can be checked is checked here, rule by rule (definition.c);
 * a refused definition leaves nothing behind, since it is an error in the
 * middle of a transaction.
 *
 * The creator's rights decide throughout: the catalog's owner acts only to
 * write the catalog and to place the flow's view and ledger into the
 * extension's schema.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "argument.h"
#include "capture_wanted.h"
#include "captured.h"
#include "definition.h"
#include "failpoint.h"
#include "flow.h"
#include "flow_change.h"
#include "flow_define.h"
#include "key_range.h"
#include "ledger.h"
#include "query.h"
#include "refresh_advice.h"
#include "refresh_base.h"
#include "regcolumn.h"
#include "role.h"
#include "sql_text.h"
#include "using_definition.h"
#include "wake_up_trigger.h"

PG_FUNCTION_INFO_V1(replace_flow_create_using_flow);
PG_FUNCTION_INFO_V1(replace_flow_create_where_flow);

/* What both kinds of flow begin with. */
static void
begin(RfDefinition *definition, RfFlowKind kind, char *target, char *name)
{
	definition->row.kind = kind;
	definition->row.name = definition->name = name != NULL ? name : target;
	definition->owner = GetUserId();
	definition->target = rf_target_find(target);
	rf_flow_check_isolation(definition->name, "be created");
}

static void
read_using_arguments(RfDefinition *definition, FunctionCallInfo fcinfo)
{
	RfFlowRow  *row = &definition->row;

	begin(definition, RF_USING, rf_argument_text(fcinfo, 0, "target"),
		  rf_argument_text_or_null(fcinfo, 4));
	row->source = DatumGetObjectId(rf_argument(fcinfo, 1, "source"));
	row->replace_using = rf_argument(fcinfo, 2, "replace_using");
	row->sequence_by = rf_argument_text(fcinfo, 3, "sequence_by");
	row->query = rf_argument_text_or_null(fcinfo, 5);
	row->delete_when = rf_argument_text_or_null(fcinfo, 6);
	row->on_tie = rf_tie_name(rf_tie_parse(rf_argument_text(fcinfo, 7, "on_tie")));
	row->auto_apply = rf_argument_bool(fcinfo, 8, "auto_apply");
	row->keep_rejected = rf_argument_bool(fcinfo, 9, "keep_rejected");
	row->quarantine = rf_argument_bool(fcinfo, 10, "quarantine");
	row->comment = rf_argument_text_or_null(fcinfo, 11);
	row->settings = rf_argument(fcinfo, 12, "settings");
	rf_definition_set_keys(definition);
}

static void
read_where_arguments(RfDefinition *definition, FunctionCallInfo fcinfo)
{
	RfFlowRow  *row = &definition->row;

	begin(definition, RF_WHERE, rf_argument_text(fcinfo, 0, "target"),
		  rf_argument_text_or_null(fcinfo, 3));
	row->query = rf_argument_text(fcinfo, 1, "query");
	row->replace_where = rf_argument_text(fcinfo, 2, "replace_where");
	row->reset_allowed = rf_argument_bool(fcinfo, 4, "reset_allowed");
	row->allow_empty = rf_argument_bool(fcinfo, 5, "allow_empty");
	row->keep_rejected = rf_argument_bool(fcinfo, 6, "keep_rejected");
	row->refresh_on_change = rf_argument_bool(fcinfo, 7, "refresh_on_change");
	row->min_interval = rf_argument(fcinfo, 8, "min_interval");
	row->comment = rf_argument_text_or_null(fcinfo, 9);
	row->settings = rf_argument(fcinfo, 10, "settings");
	rf_definition_check_interval(definition);
}

/* A new flow's expressions become columns of its view. */
static void
read_expressions(RfDefinition *definition)
{
	RfFlowRow  *row = &definition->row;

	row->sequence_column = rf_view_add(definition->view, "sequence_by", row->sequence_by,
									   InvalidOid, "sequence");
	if (row->delete_when != NULL)
		row->tombstone_column = rf_view_add(definition->view, "delete_when",
											row->delete_when, BOOLOID, "tombstone");
}

static void
create_target(RfDefinition *definition)
{
	for (int i = 0; i < definition->nkeys; i++)
	{
		const char *key = definition->keys[i];
		int			output = rf_definition_output(definition, key);

		rf_definition_check_key_type(definition, key, definition->output_types[output].type);
	}
	rf_target_create(&definition->target, definition->name, definition->noutputs,
					 definition->outputs, definition->output_types,
					 definition->nkeys, definition->keys);
	definition->created_target = true;
}

/* A target that exists is checked; one that does not is created. */
static void
settle_target(RfDefinition *definition)
{
	if (!OidIsValid(definition->target.relid))
		create_target(definition);
	definition->row.target = definition->target.relid;
	rf_target_check_owner(definition->row.target, definition->owner, definition->name);
	if (definition->row.kind == RF_WHERE)
		rf_captured_lock(list_make1_oid(definition->row.target), definition->owner);
	LockRelationOid(definition->row.target, ShareRowExclusiveLock);
	rf_target_check(definition->row.target, definition->owner, definition->name);
}

/*
 * Put what was found out about the columns into the row to be stored.
 */
void
rf_define_columns(RfDefinition *definition)
{
	RfFlowRow  *row = &definition->row;
	List	   *outputs = NIL;

	for (int i = 0; i < definition->noutputs; i++)
		outputs = lappend(outputs, definition->outputs[i]);
	row->output_columns = rf_catalog_array_of_texts(outputs);
	row->target_columns = rf_regcolumn_array(row->target, definition->noutputs,
											 definition->output_attnums);
}

static void
add_reading_context(void *arg)
{
	const RfDefinition *definition = arg;

	errcontext("reading, as role \"%s\", what the query of flow \"%s\" reads",
			   rf_role_name(definition->owner), definition->name);
}

/*
 * The owner must be able to read what the query reads.
 */
void
rf_define_check_reading(const RfDefinition *definition, int32 flow_id)
{
	ErrorContextCallback callback = {
		error_context_stack, add_reading_context, unconstify(RfDefinition *, definition)
	};
	RfRoleGuard guard;

	error_context_stack = &callback;
	rf_role_assume(&guard, definition->owner);
	(void) rf_query_execute(rf_sql_dry_run(rf_flow_view_name(flow_id)), NULL);
	rf_role_restore(&guard);
	error_context_stack = callback.previous;
}

/*
 * Keys can be set aside where the stream can be cut by key.  The flow is stored.
 */
void
rf_define_check_quarantine(const RfDefinition *definition)
{
	RfFlow	   *flow;

	if (!definition->row.quarantine)
		return;
	flow = rf_flow_find(definition->name);
	rf_flow_open(flow);
	(void) rf_key_cut_require(flow);
}

/*
 * Store the views that hold a definition's texts.
 */
void
rf_define_views(const RfDefinition *definition, int32 flow_id)
{
	rf_view_store(definition->view, rf_flow_view_name(flow_id), definition->owner);
	rf_failpoint("view", "stored");
	if (definition->window != NULL)
		rf_view_store(definition->window, rf_flow_window_name(flow_id), definition->owner);
	rf_failpoint("window", "stored");
}

/*
 * Tables get the triggers that the flow needs.  It is stored.
 */
void
rf_define_triggers(const RfDefinition *definition, int32 flow_id)
{
	RfFlow	   *flow;
	RfSources  *sources;

	if (definition->row.kind == RF_WHERE)
	{
		flow = rf_flow_find(definition->name);
		rf_flow_open(flow);
		sources = rf_sources_of_flow(flow);
		(void) rf_captured_place(flow, rf_capture_wanted(flow, sources), true);
		rf_seen_nothing(flow_id, rf_refresh_tables(flow, sources));
		rf_refresh_warn(flow, sources);
	}
	rf_wake_up_triggers_place(flow_id);
}

static void
store(RfDefinition *definition)
{
	int32		flow_id;

	rf_define_columns(definition);
	flow_id = rf_catalog_add_flow(&definition->row);
	rf_failpoint("flow", "added");
	rf_define_views(definition, flow_id);
	if (definition->row.has_ledger)
		rf_ledger_create(definition, flow_id);
	rf_define_check_reading(definition, flow_id);
	rf_define_triggers(definition, flow_id);
}

/*
 * Find the target, and keep others from defining flows from then on.
 *
 * The lock on all definitions comes after those on tables, as for everybody
 * else who changes the catalog of flows.
 */
static void
take_target(RfDefinition *definition)
{
	settle_target(definition);
	rf_catalog_lock_definitions();
	rf_flow_drop_lost();
	rf_definition_check_name(definition);
	rf_target_check_free(definition->name, 0, definition->row.target, definition->row.source);
}

/*
 * create_using_flow(target, source, replace_using, sequence_by, ...)
 */
Datum
replace_flow_create_using_flow(PG_FUNCTION_ARGS)
{
	RfDefinition definition = {0};

	PreventCommandIfReadOnly("replace_flow.create_using_flow()");
	read_using_arguments(&definition, fcinfo);
	rf_query_begin();
	rf_definition_check_source(&definition);
	rf_definition_check_settings(&definition);
	rf_definition_read_query(&definition);
	rf_definition_check_reads(&definition);
	rf_definition_check_key_names(&definition);
	read_expressions(&definition);
	take_target(&definition);
	rf_definition_check_unread(&definition);
	rf_definition_match_columns(&definition);
	rf_definition_check_keys(&definition);
	rf_definition_check_sequence(&definition);
	store(&definition);
	rf_define_check_quarantine(&definition);
	rf_definition_warn(&definition);
	rf_query_end();
	PG_RETURN_TEXT_P(cstring_to_text(definition.name));
}

/*
 * create_where_flow(target, query, replace_where, ...)
 */
Datum
replace_flow_create_where_flow(PG_FUNCTION_ARGS)
{
	RfDefinition definition = {0};

	PreventCommandIfReadOnly("replace_flow.create_where_flow()");
	read_where_arguments(&definition, fcinfo);
	rf_query_begin();
	rf_definition_check_settings(&definition);
	rf_definition_read_query(&definition);
	rf_definition_lock_sources(&definition);
	take_target(&definition);
	rf_definition_check_reads(&definition);
	rf_definition_match_columns(&definition);
	rf_definition_read_predicate(&definition, NULL);
	store(&definition);
	rf_definition_warn(&definition);
	rf_query_end();
	PG_RETURN_TEXT_P(cstring_to_text(definition.name));
}
