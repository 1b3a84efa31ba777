/*-------------------------------------------------------------------------
 *
 * flow_define.c
 *	  Flows are created and altered.
 *
 * Everything that can be checked is checked here, rule by rule (definition.c);
 * a refused definition leaves nothing behind, since it is an error in the
 * middle of a transaction.
 *
 * To alter a flow is to define it again: what is not given is taken from the
 * definition as it is.  Its expressions are carried over as parse trees, so
 * that their names go on to mean what they meant; what the target and the
 * ledger hold stays.
 *
 * The creator's rights decide throughout: the catalog's owner acts only to
 * write the catalog and to place the flow's view and ledger into the
 * extension's schema.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "argument.h"
#include "conversion.h"
#include "definition.h"
#include "failpoint.h"
#include "flow.h"
#include "flow_change.h"
#include "query.h"
#include "regcolumn.h"
#include "sql_text.h"

PG_FUNCTION_INFO_V1(replace_flow_create_using_flow);
PG_FUNCTION_INFO_V1(replace_flow_alter_flow);

static void
read_arguments(RfDefinition *definition, FunctionCallInfo fcinfo)
{
	RfFlowRow  *row = &definition->row;
	char	   *target = rf_argument_text(fcinfo, 0, "target");

	row->source = DatumGetObjectId(rf_argument(fcinfo, 1, "source"));
	row->replace_using = rf_argument(fcinfo, 2, "replace_using");
	row->sequence_by = rf_argument_text(fcinfo, 3, "sequence_by");
	row->name = PG_ARGISNULL(4) ? target : rf_argument_text_or_null(fcinfo, 4);
	row->query = rf_argument_text_or_null(fcinfo, 5);
	row->delete_when = rf_argument_text_or_null(fcinfo, 6);
	row->on_tie = rf_tie_name(rf_tie_parse(rf_argument_text(fcinfo, 7, "on_tie")));
	row->auto_apply = rf_argument_bool(fcinfo, 8, "auto_apply");
	row->keep_rejected = rf_argument_bool(fcinfo, 9, "keep_rejected");
	row->quarantine = rf_argument_bool(fcinfo, 10, "quarantine");
	row->comment = rf_argument_text_or_null(fcinfo, 11);
	row->settings = rf_argument(fcinfo, 12, "settings");
	definition->owner = GetUserId();
	definition->name = row->name;
	definition->target = rf_target_find(target);
	rf_definition_set_keys(definition);
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
	LockRelationOid(definition->row.target, ShareRowExclusiveLock);
	rf_target_check(definition->row.target, definition->owner, definition->name);
}

static Datum
text_array(int ntexts, char **texts)
{
	Datum	   *values = palloc(ntexts * sizeof(Datum));

	for (int i = 0; i < ntexts; i++)
		values[i] = CStringGetTextDatum(texts[i]);
	return PointerGetDatum(construct_array(values, ntexts, TEXTOID, -1, false, TYPALIGN_INT));
}

/* Put what was found out about the columns into the row to be stored. */
static void
describe_columns(RfDefinition *definition)
{
	RfFlowRow  *row = &definition->row;

	row->output_columns = text_array(definition->noutputs, definition->outputs);
	row->target_columns = rf_regcolumn_array(row->target, definition->noutputs,
											 definition->output_attnums);
}

/* Default privileges of the catalog's owner are not meant for a ledger. */
static void
revoke_all(Oid relid)
{
	RfArgs		args = {0};
	RfRow	   *rows;
	int			nrows;

	rf_arg(&args, OIDOID, ObjectIdGetDatum(relid));
	nrows = rf_query_all("SELECT DISTINCT grantee FROM pg_class, aclexplode(relacl)"
						 " WHERE pg_class.oid = $1 AND grantee <> relowner", &args, &rows);
	for (int i = 0; i < nrows; i++)
		(void) rf_query_execute(rf_sql_revoke_all(relid, rf_row_oid(&rows[i], "grantee")), NULL);
}

static void
create_ledger(const RfDefinition *definition, int32 flow_id)
{
	char	   *name = rf_flow_ledger_name(flow_id);
	RfType	   *types = palloc(definition->nkeys * sizeof(RfType));
	RfRoleGuard guard;

	for (int i = 0; i < definition->nkeys; i++)
		types[i] = rf_type_of_column(definition->row.target, definition->key_attnums[i]);
	rf_role_assume(&guard, rf_role_of_catalog());
	(void) rf_query_execute(rf_sql_create_ledger(name, definition->nkeys, types,
												 rf_definition_sequence_type(definition)),
							NULL);
	revoke_all(get_relname_relid(name, rf_flow_namespace()));
	(void) rf_query_execute(rf_sql_set_table_owner(name, GetUserNameFromId(definition->owner,
																		   false)), NULL);
	rf_flow_depend_on_extension(get_relname_relid(name, rf_flow_namespace()));
	rf_role_restore(&guard);
}

/* The owner must be able to read what the query reads. */
static void
check_reading(const RfDefinition *definition, int32 flow_id)
{
	RfRoleGuard guard;

	rf_role_assume(&guard, definition->owner);
	(void) rf_query_execute(rf_sql_dry_run(rf_flow_view_name(flow_id)), NULL);
	rf_role_restore(&guard);
}

static void
store(RfDefinition *definition)
{
	int32		flow_id;

	describe_columns(definition);
	flow_id = rf_catalog_add_flow(&definition->row);
	rf_failpoint("flow", "added");
	rf_view_store(definition->view, flow_id, definition->owner, false);
	rf_failpoint("view", "stored");
	if (definition->row.has_ledger)
		create_ledger(definition, flow_id);
	check_reading(definition, flow_id);
}

/*
 * create_using_flow(target, source, replace_using, sequence_by, ...)
 *
 * The lock on all definitions comes after those on tables, as for everybody
 * else who changes the catalog of flows.
 */
Datum
replace_flow_create_using_flow(PG_FUNCTION_ARGS)
{
	RfDefinition definition = {0};

	PreventCommandIfReadOnly("replace_flow.create_using_flow()");
	read_arguments(&definition, fcinfo);
	rf_flow_check_isolation(definition.name, "be created");
	rf_query_begin();
	rf_definition_check_source(&definition);
	rf_definition_check_settings(&definition);
	rf_definition_read_query(&definition);
	rf_definition_check_key_names(&definition);
	read_expressions(&definition);
	settle_target(&definition);
	rf_catalog_lock_definitions();
	rf_flow_drop_lost();
	rf_definition_check_name(&definition);
	rf_target_check_free(definition.name, 0, definition.row.target, definition.row.source);
	rf_definition_match_columns(&definition);
	rf_definition_check_keys(&definition);
	rf_definition_check_sequence(&definition);
	store(&definition);
	rf_definition_warn(&definition);
	rf_query_end();
	PG_RETURN_TEXT_P(cstring_to_text(definition.name));
}

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
	bool		new_settings;
	bool		reads_anew;		/* what is read changes, and how */
} RfAlteration;

static void
see_what_is_given(RfAlteration *alteration, FunctionCallInfo fcinfo)
{
	bool		new_keys = !PG_ARGISNULL(2);

	alteration->new_source = !PG_ARGISNULL(1);
	alteration->new_sequence = !PG_ARGISNULL(3);
	alteration->new_name = rf_argument_text_or_null(fcinfo, 4);
	alteration->new_query = !PG_ARGISNULL(5);
	alteration->new_tombstone = !PG_ARGISNULL(6);
	alteration->new_settings = !PG_ARGISNULL(12);
	alteration->reads_anew = alteration->new_source || new_keys || alteration->new_sequence ||
		alteration->new_query || alteration->new_tombstone;
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

/* Lay the arguments of alter_flow over the definition as it is. */
static void
read_alterations(RfDefinition *definition, RfAlteration *alteration, FunctionCallInfo fcinfo)
{
	RfFlowRow  *row = &definition->row;

	if (alteration->new_sequence)
		alteration->new_sequence = strcmp(rf_argument_text(fcinfo, 3, "sequence_by"),
										  row->sequence_by) != 0;
	/* all columns of the stream are those of the new stream */
	alteration->new_query |= alteration->new_source && row->query == NULL;

	row->source = argument_oid(fcinfo, 1, row->source);
	row->replace_using = argument_datum(fcinfo, 2, row->replace_using);
	row->sequence_by = argument_string(fcinfo, 3, row->sequence_by);
	row->query = argument_removable(fcinfo, 5, row->query);
	row->delete_when = argument_removable(fcinfo, 6, row->delete_when);
	row->on_tie = rf_tie_name(rf_tie_parse(argument_string(fcinfo, 7, row->on_tie)));
	row->auto_apply = argument_flag(fcinfo, 8, row->auto_apply);
	row->keep_rejected = argument_flag(fcinfo, 9, row->keep_rejected);
	row->quarantine = argument_flag(fcinfo, 10, row->quarantine);
	row->comment = argument_removable(fcinfo, 11, row->comment);
	row->settings = argument_datum(fcinfo, 12, row->settings);
	rf_definition_set_keys(definition);
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
	{
		definition->view = rf_view_again(alteration->old_view);
		rf_view_check_stream(definition->view, definition->row.source);
	}
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

static bool
is_kept_in_ledger(const RfFlow *flow, const char *column, RfType type)
{
	AttrNumber	attnum = get_attnum(flow->ledger, column);

	return attnum != InvalidAttrNumber &&
		rf_type_is_same(rf_type_of_column(flow->ledger, attnum), type);
}

/* Whether the ledger's floors would mean something else. */
static bool
outdates_ledger(const RfDefinition *definition, const RfAlteration *alteration)
{
	const RfFlow *flow = alteration->flow;
	bool		was_stored = rf_flow_attnum(flow, flow->sequence_view_column) > 0;

	if (alteration->new_sequence || definition->nkeys != flow->nkeys ||
		definition->stored != was_stored ||
		!is_kept_in_ledger(flow, RF_LEDGER_SEQUENCE, rf_definition_sequence_type(definition)))
		return true;
	for (int i = 0; i < flow->nkeys; i++)
	{
		AttrNumber	attnum = definition->key_attnums[i];

		if (attnum != rf_flow_attnum(flow, flow->key_outputs[i]) ||
			!is_kept_in_ledger(flow, rf_sql_ledger_key(i),
							   rf_type_of_column(flow->target, attnum)))
			return true;
	}
	return false;
}

static bool
finds_rows(const RfFlow *flow, const char *sql)
{
	RfRoleGuard guard;
	bool		found;

	rf_role_assume(&guard, flow->owner);
	found = rf_query_execute(sql, NULL) > 0;
	rf_role_restore(&guard);
	return found;
}

static void
refuse_new_floors(const RfFlow *flow, const char *where)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("key and sequence of flow \"%s\" cannot change any more", flow->name),
			 errdetail("Its %s holds floors under the old ones.", where),
			 errhint("Drop the flow, which forgets its floors, and create it again.")));
}

/*
 * Floors that the target holds must stay what they are: the sequence may move
 * to another of its columns that has a value in each row, and else only while
 * there are no rows.
 */
static void
check_stored_floors(const RfDefinition *definition, const RfAlteration *alteration)
{
	const RfFlow *flow = alteration->flow;
	AttrNumber	before = rf_flow_attnum(flow, flow->sequence_view_column);
	int			output = rf_definition_output(definition, definition->row.sequence_column);
	AttrNumber	attnum = definition->stored ? definition->output_attnums[output] : 0;

	if (before > 0 && attnum != before &&
		finds_rows(flow, rf_sql_first_row(flow->target, attnum > 0 ?
										  rf_column_name(flow->target, attnum) : NULL)))
		refuse_new_floors(flow, "target");
}

/*
 * A ledger goes on to be kept once there is one: it may hold the floors of
 * emptied keys.
 */
static void
settle_ledger(RfDefinition *definition, const RfAlteration *alteration)
{
	const RfFlow *flow = alteration->flow;
	RfRoleGuard guard;

	if (flow->has_ledger && outdates_ledger(definition, alteration))
	{
		if (finds_rows(flow, rf_sql_first_row(flow->ledger, NULL)))
			refuse_new_floors(flow, "ledger");
		rf_role_assume(&guard, rf_role_of_catalog());
		(void) rf_query_execute(rf_sql_drop_own_table(flow->ledger), NULL);
		rf_role_restore(&guard);
		if (definition->row.has_ledger)
			create_ledger(definition, flow->id);
	}
	else if (flow->has_ledger)
		definition->row.has_ledger = true;
	else if (definition->row.has_ledger)
		create_ledger(definition, flow->id);
}

/* What is read and how changes: the definition is checked as a new one is. */
static void
alter_reading(RfDefinition *definition, RfAlteration *alteration)
{
	begin_view(definition, alteration);
	rf_definition_check_key_names(definition);
	settle_expressions(definition, alteration);
	carry_expectations(definition, alteration);
	if (alteration->new_query)
		add_columns(definition);
	rf_target_check(definition->target.relid, definition->owner, definition->name);
	rf_definition_match_columns(definition);
	check_new_types(definition, alteration);
	rf_definition_check_keys(definition);
	rf_definition_check_sequence(definition);
	check_stored_floors(definition, alteration);
	rf_view_store(definition->view, definition->flow_id, definition->owner, true);
	rf_failpoint("view", "stored");
	settle_ledger(definition, alteration);
	describe_columns(definition);
	check_reading(definition, definition->flow_id);
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
	}
	rf_catalog_change_flow(definition->flow_id, &definition->row);
	rf_failpoint("flow", "changed");
	if (alteration->new_name != NULL && strcmp(alteration->new_name, definition->name) != 0)
		rename_flow(definition, alteration->new_name);
	if (alteration->reads_anew)
		rf_definition_warn(definition);
}

/*
 * alter_flow(flow, source, replace_using, sequence_by, name, query, ...)
 */
Datum
replace_flow_alter_flow(PG_FUNCTION_ARGS)
{
	char	   *name = rf_argument_text(fcinfo, 0, "flow");
	RfDefinition definition = {0};
	RfAlteration alteration = {0};

	see_what_is_given(&alteration, fcinfo);
	alteration.flow = rf_flow_lock_for_change(name, rf_query_begin(),
											  alteration.reads_anew ?
											  ShareRowExclusiveLock : NoLock);
	rf_flow_open_definition(alteration.flow);
	begin_alteration(&definition, &alteration, fcinfo);
	alter(&definition, &alteration);
	rf_query_end();
	PG_RETURN_VOID();
}
