/*-------------------------------------------------------------------------
 *
 * flow_alter.c
 *	  Flows are altered.
 *
 * To alter a flow is to define it again: what is not given is taken from the
 * definition as it is.  Its expressions are carried over as parse trees, so
 * that their names go on to mean what they meant; what the target and the
 * ledger hold stays.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "argument.h"
#include "conversion.h"
#include "failpoint.h"
#include "flow_change.h"
#include "flow_define.h"
#include "ledger.h"
#include "query.h"
#include "query_reads.h"
#include "role.h"
#include "sql_text.h"
#include "table_trigger.h"
#include "using_definition.h"
#include "wake_up_trigger.h"
#include "where_predicate.h"

PG_FUNCTION_INFO_V1(replace_flow_alter_flow);

/* The arguments of alter_flow, in its order. */
enum
{
	ALTER_FLOW,
	ALTER_SOURCE,
	ALTER_REPLACE_USING,
	ALTER_SEQUENCE_BY,
	ALTER_NAME,
	ALTER_QUERY,
	ALTER_DELETE_WHEN,
	ALTER_ON_TIE,
	ALTER_AUTO_APPLY,
	ALTER_KEEP_REJECTED,
	ALTER_QUARANTINE,
	ALTER_COMMENT,
	ALTER_SETTINGS,
	ALTER_REPLACE_WHERE,
	ALTER_RESET_ALLOWED,
	ALTER_ALLOW_EMPTY,
	ALTER_REFRESH_ON_CHANGE,
	ALTER_MIN_INTERVAL
};

/* Those that flows of one kind have. */
static const struct
{
	int			number;
	const char *name;
	RfFlowKind	kind;
}			kind_arguments[] =

{
	{ALTER_SOURCE, "source", RF_USING},
	{ALTER_REPLACE_USING, "replace_using", RF_USING},
	{ALTER_SEQUENCE_BY, "sequence_by", RF_USING},
	{ALTER_DELETE_WHEN, "delete_when", RF_USING},
	{ALTER_ON_TIE, "on_tie", RF_USING},
	{ALTER_AUTO_APPLY, "auto_apply", RF_USING},
	{ALTER_QUARANTINE, "quarantine", RF_USING},
	{ALTER_REPLACE_WHERE, "replace_where", RF_WHERE},
	{ALTER_RESET_ALLOWED, "reset_allowed", RF_WHERE},
	{ALTER_ALLOW_EMPTY, "allow_empty", RF_WHERE},
	{ALTER_REFRESH_ON_CHANGE, "refresh_on_change", RF_WHERE},
	{ALTER_MIN_INTERVAL, "min_interval", RF_WHERE}
};

/* What an alter_flow is given. */
typedef struct RfAlteration
{
	RfFlow	   *flow;
	RfView	   *old_view;
	char	   *new_name;		/* or NULL */
	bool		new_source;
	bool		new_sequence;
	bool		new_query;
	bool		new_tombstone;
	bool		new_quarantine;
	bool		new_predicate;
	bool		new_settings;
	bool		new_waking;		/* whether changes of what it reads refresh it */
	bool		reads_anew;		/* what is read changes, and how */
	bool		counts;			/* runs will do something else */
} RfAlteration;

static void
see_what_is_given(RfAlteration *alteration, FunctionCallInfo fcinfo)
{
	bool		new_keys = !PG_ARGISNULL(ALTER_REPLACE_USING);

	alteration->new_source = !PG_ARGISNULL(ALTER_SOURCE);
	alteration->new_sequence = !PG_ARGISNULL(ALTER_SEQUENCE_BY);
	alteration->new_name = rf_argument_text_or_null(fcinfo, ALTER_NAME);
	alteration->new_query = !PG_ARGISNULL(ALTER_QUERY);
	alteration->new_tombstone = !PG_ARGISNULL(ALTER_DELETE_WHEN);
	alteration->new_quarantine = !PG_ARGISNULL(ALTER_QUARANTINE);
	alteration->new_predicate = !PG_ARGISNULL(ALTER_REPLACE_WHERE);
	alteration->new_settings = !PG_ARGISNULL(ALTER_SETTINGS);
	alteration->new_waking = !PG_ARGISNULL(ALTER_REFRESH_ON_CHANGE);
	alteration->reads_anew = alteration->new_source || new_keys || alteration->new_sequence ||
		alteration->new_query || alteration->new_tombstone || alteration->new_predicate;
	alteration->counts = alteration->reads_anew || alteration->new_settings ||
		!PG_ARGISNULL(ALTER_ON_TIE);
}

static void
check_kind_of_arguments(const RfFlow *flow, FunctionCallInfo fcinfo)
{
	for (size_t i = 0; i < lengthof(kind_arguments); i++)
	{
		if (kind_arguments[i].kind != flow->kind && !PG_ARGISNULL(kind_arguments[i].number))
			ereport(ERROR,
					(errcode(ERRCODE_WRONG_OBJECT_TYPE),
					 errmsg("flow \"%s\" has no \"%s\"", flow->name, kind_arguments[i].name),
					 errdetail("It is a %s flow, and only %s flows have it.",
							   rf_flow_kind_name(flow->kind),
							   rf_flow_kind_name(kind_arguments[i].kind)),
					 errhint("Leave the parameter out.")));
	}
}

static Oid
argument_oid(FunctionCallInfo fcinfo, int number, Oid current)
{
	return PG_ARGISNULL(number) ? current : PG_GETARG_OID(number);
}

static bool
argument_flag(FunctionCallInfo fcinfo, int number, bool current)
{
	return PG_ARGISNULL(number) ? current : PG_GETARG_BOOL(number);
}

static Datum
argument_datum(FunctionCallInfo fcinfo, int number, Datum current)
{
	return PG_ARGISNULL(number) ? current : PG_GETARG_DATUM(number);
}

static const char *
argument_string(FunctionCallInfo fcinfo, int number, const char *current)
{
	return PG_ARGISNULL(number) ? current : rf_argument_text_or_null(fcinfo, number);
}

/* A text that can be taken away: an empty one says so. */
static const char *
argument_removable(FunctionCallInfo fcinfo, int number, const char *current)
{
	const char *text = argument_string(fcinfo, number, current);

	return text == NULL || text[0] == '\0' ? NULL : text;
}

static void
read_using_alterations(RfDefinition *definition, RfAlteration *alteration,
					   FunctionCallInfo fcinfo)
{
	RfFlowRow  *row = &definition->row;

	if (alteration->new_sequence)
		alteration->new_sequence = strcmp(rf_argument_text(fcinfo, ALTER_SEQUENCE_BY,
														   "sequence_by"),
										  row->sequence_by) != 0;
	/* all columns of the stream are those of the new stream */
	alteration->new_query |= alteration->new_source && row->query == NULL;

	row->source = argument_oid(fcinfo, ALTER_SOURCE, row->source);
	row->replace_using = argument_datum(fcinfo, ALTER_REPLACE_USING, row->replace_using);
	row->sequence_by = argument_string(fcinfo, ALTER_SEQUENCE_BY, row->sequence_by);
	row->query = argument_removable(fcinfo, ALTER_QUERY, row->query);
	row->delete_when = argument_removable(fcinfo, ALTER_DELETE_WHEN, row->delete_when);
	row->on_tie = rf_tie_name(rf_tie_parse(argument_string(fcinfo, ALTER_ON_TIE, row->on_tie)));
	row->auto_apply = argument_flag(fcinfo, ALTER_AUTO_APPLY, row->auto_apply);
	row->quarantine = argument_flag(fcinfo, ALTER_QUARANTINE, row->quarantine);
	rf_definition_set_keys(definition);
}

static void
read_where_alterations(RfDefinition *definition, FunctionCallInfo fcinfo)
{
	RfFlowRow  *row = &definition->row;

	row->query = argument_string(fcinfo, ALTER_QUERY, row->query);
	row->replace_where = argument_string(fcinfo, ALTER_REPLACE_WHERE, row->replace_where);
	row->reset_allowed = argument_flag(fcinfo, ALTER_RESET_ALLOWED, row->reset_allowed);
	row->allow_empty = argument_flag(fcinfo, ALTER_ALLOW_EMPTY, row->allow_empty);
	row->refresh_on_change = argument_flag(fcinfo, ALTER_REFRESH_ON_CHANGE,
										   row->refresh_on_change);
	row->min_interval = argument_datum(fcinfo, ALTER_MIN_INTERVAL, row->min_interval);
	rf_definition_check_interval(definition);
}

/* Lay the arguments of alter_flow over the definition as it is. */
static void
read_alterations(RfDefinition *definition, RfAlteration *alteration, FunctionCallInfo fcinfo)
{
	RfFlowRow  *row = &definition->row;

	check_kind_of_arguments(alteration->flow, fcinfo);
	if (row->kind == RF_USING)
		read_using_alterations(definition, alteration, fcinfo);
	else
		read_where_alterations(definition, fcinfo);
	row->keep_rejected = argument_flag(fcinfo, ALTER_KEEP_REJECTED, row->keep_rejected);
	row->comment = argument_removable(fcinfo, ALTER_COMMENT, row->comment);
	row->settings = argument_datum(fcinfo, ALTER_SETTINGS, row->settings);
}

static void
begin_alteration(RfDefinition *definition, RfAlteration *alteration, FunctionCallInfo fcinfo)
{
	RfFlow	   *flow = alteration->flow;

	definition->flow_id = flow->id;
	definition->before = flow;
	definition->name = flow->name;
	definition->owner = flow->owner;
	definition->target.relid = flow->target;
	definition->target.name = get_rel_name(flow->target);
	definition->target.schema = get_namespace_name(get_rel_namespace(flow->target));
	rf_catalog_read_flow(flow->id, &definition->row);
	read_alterations(definition, alteration, fcinfo);
}

/* A view over the query as it is or as it is to be. */
static void
begin_view(RfDefinition *definition, RfAlteration *alteration)
{
	alteration->old_view = rf_view_load(alteration->flow);
	if (alteration->new_query)
		rf_definition_read_query(definition);
	else
		definition->view = rf_view_again(alteration->old_view);
	definition->noutputs = rf_view_outputs(definition->view, &definition->outputs,
										   &definition->output_types);
}

/* Expressions come anew, or are carried over. */
static void
settle_expressions(RfDefinition *definition, const RfAlteration *alteration)
{
	RfFlowRow  *row = &definition->row;
	RfView	   *view = definition->view;

	row->sequence_column = alteration->new_sequence ?
		rf_view_add(view, "sequence_by", row->sequence_by, InvalidOid, "sequence") :
		rf_view_carry(view, alteration->old_view, row->sequence_column,
					  "\"sequence_by\"", "sequence");
	if (row->delete_when == NULL)
		row->tombstone_column = NULL;
	else
		row->tombstone_column = alteration->new_tombstone ?
			rf_view_add(view, "delete_when", row->delete_when, BOOLOID, "tombstone") :
			rf_view_carry(view, alteration->old_view, row->tombstone_column,
						  "\"delete_when\"", "tombstone");
}

static void
carry_expectations(RfDefinition *definition, const RfAlteration *alteration)
{
	ListCell   *cell;

	foreach(cell, alteration->flow->expectations)
	{
		RfExpectation *expectation = lfirst(cell);
		char	   *column = rf_view_carry(definition->view, alteration->old_view,
										   expectation->view_column,
										   psprintf("expectation \"%s\"", expectation->name),
										   "expectation");

		rf_catalog_move_expectation(definition->flow_id, expectation->name, column);
	}
}

/* What the target lacks of a new query is added to it. */
static void
add_columns(const RfDefinition *definition)
{
	RfRoleGuard guard;

	rf_role_assume(&guard, definition->owner);
	for (int i = 0; i < definition->noutputs; i++)
	{
		const char *name = definition->outputs[i];

		if (rf_definition_target_column(definition, name) == InvalidAttrNumber &&
			!rf_definition_serves_expression(definition, name))
			(void) rf_query_execute(rf_sql_add_column(definition->target.relid, name,
													  definition->output_types[i]), NULL);
	}
	rf_role_restore(&guard);
}

/*
 * A column that a new query gives in another type than before must fit the
 * target as it comes.
 */
static void
check_new_types(const RfDefinition *definition, const RfAlteration *alteration)
{
	const RfFlow *flow = alteration->flow;

	for (int i = 0; i < flow->noutputs; i++)
	{
		const char *name = flow->outputs[i];
		int			output = rf_definition_output(definition, name);
		RfType		before = rf_view_column_type(alteration->old_view, name);
		RfType		stored;

		if (output < 0 || definition->output_attnums[output] == 0 ||
			definition->output_types[output].type == before.type)
			continue;
		stored = rf_type_of_column(flow->target, definition->output_attnums[output]);
		if (rf_conversion_is_needed(definition->output_types[output], stored))
			ereport(ERROR,
					(errcode(ERRCODE_DATATYPE_MISMATCH),
					 errmsg("column \"%s\" of flow \"%s\" cannot change its type", name, flow->name),
					 errdetail("The query gave type %s and now gives type %s; the target has type %s.",
							   rf_type_name(before), rf_type_name(definition->output_types[output]),
							   rf_type_name(stored)),
					 errhint("Cast the column in the query, or change the type of the target's column first.")));
	}
}

/* Expectations and columns follow the query. */
static void
alter_columns(RfDefinition *definition, const RfAlteration *alteration)
{
	carry_expectations(definition, alteration);
	if (alteration->new_query)
		add_columns(definition);
	rf_target_check(definition->target.relid, definition->owner, definition->name);
	rf_definition_match_columns(definition);
	check_new_types(definition, alteration);
}

static void
alter_using_reading(RfDefinition *definition, const RfAlteration *alteration)
{
	rf_definition_check_key_names(definition);
	settle_expressions(definition, alteration);
	alter_columns(definition, alteration);
	rf_definition_check_keys(definition);
	rf_definition_check_sequence(definition);
	rf_ledger_check_target(definition);
	rf_define_views(definition, definition->flow_id);
	rf_ledger_settle(definition, alteration->new_sequence);
}

static void
alter_where_reading(RfDefinition *definition, const RfAlteration *alteration)
{
	alter_columns(definition, alteration);
	rf_definition_read_predicate(definition, alteration->new_predicate ? NULL :
								 rf_predicate_stored(alteration->flow));
	rf_define_views(definition, definition->flow_id);
}

/* What is read and how changes: the definition is checked as a new one is. */
static void
alter_reading(RfDefinition *definition, RfAlteration *alteration)
{
	begin_view(definition, alteration);
	rf_definition_check_reads(definition);
	if (definition->row.kind == RF_USING)
		alter_using_reading(definition, alteration);
	else
		alter_where_reading(definition, alteration);
	rf_define_columns(definition);
	rf_define_check_reading(definition, definition->flow_id);
}

/*
 * Other tables are to wake the flow, or none are; others are to be captured.  If it reads
 * what it did, what is captured and was seen stays, so that the next run is not complete.
 */
static void
settle_triggers(const RfDefinition *definition, bool reads_anew)
{
	if (definition->row.refresh_on_change)
		rf_wake_up_check_rights(rf_reads_of_flow(definition->flow_id),
								definition->owner, definition->name);
	if (reads_anew)
		rf_define_triggers(definition, definition->flow_id);
	else
		rf_wake_up_triggers_place(definition->flow_id);
	(void) rf_triggers_settle(false);
}

static void
rename_flow(RfDefinition *definition, const char *name)
{
	definition->name = name;
	rf_definition_check_name(definition);
	rf_catalog_rename_flow(definition->flow_id, name);
}

static void
alter(RfDefinition *definition, RfAlteration *alteration)
{
	RfRoleGuard guard;

	rf_role_read_as(&guard, definition->owner);
	rf_flow_set_creator_settings(alteration->flow);
	if (alteration->new_source)
		rf_definition_check_source(definition);
	if (alteration->new_settings)
		rf_definition_check_settings(definition);
	if (alteration->reads_anew)
		alter_reading(definition, alteration);
	if (alteration->new_source)
	{
		rf_catalog_lock_definitions();
		rf_flow_drop_lost();
		rf_target_check_free(definition->name, definition->flow_id,
							 definition->row.target, definition->row.source);
		rf_definition_check_unread(definition);
	}
	rf_catalog_change_flow(definition->flow_id, &definition->row, alteration->counts);
	rf_failpoint("flow", "changed");
	if (alteration->reads_anew || alteration->new_quarantine)
		rf_define_check_quarantine(definition);
	if (alteration->new_source || alteration->new_waking ||
		(alteration->reads_anew && definition->row.kind == RF_WHERE))
		settle_triggers(definition, alteration->reads_anew);
	if (alteration->new_name != NULL && strcmp(alteration->new_name, definition->name) != 0)
		rename_flow(definition, alteration->new_name);
	if (alteration->reads_anew)
		rf_definition_warn(definition);
	rf_role_restore(&guard);
}

/*
 * alter_flow(flow, source, replace_using, sequence_by, name, query, ...)
 */
Datum
replace_flow_alter_flow(PG_FUNCTION_ARGS)
{
	char	   *name = rf_argument_text(fcinfo, ALTER_FLOW, "flow");
	RfDefinition definition = {0};
	RfAlteration alteration = {0};
	bool		wakes = argument_flag(fcinfo, ALTER_REFRESH_ON_CHANGE, false);

	see_what_is_given(&alteration, fcinfo);
	alteration.flow = rf_flow_lock_for_change(name, rf_query_begin(),
											  alteration.reads_anew ?
											  ShareRowExclusiveLock : NoLock,
											  wakes ? ShareRowExclusiveLock : NoLock);
	rf_flow_open_definition(alteration.flow);
	begin_alteration(&definition, &alteration, fcinfo);
	alter(&definition, &alteration);
	rf_query_end();
	PG_RETURN_VOID();
}
