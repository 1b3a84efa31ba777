/*-------------------------------------------------------------------------
 *
 * flow_define.c
 *	  Definition of flows: create, drop, expectations.
 *
 * Everything that can be checked is checked when a flow is defined, one small
 * function to a rule; a refused definition leaves nothing behind, since it is
 * an error in the middle of a transaction.
 *
 * The creator's rights decide throughout: the catalog's owner acts only to
 * write the catalog and to place the flow's view and ledger into the
 * extension's schema.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "access/xact.h"
#include "catalog/namespace.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "argument.h"
#include "conversion.h"
#include "flow.h"
#include "flow_catalog.h"
#include "flow_query.h"
#include "flow_view.h"
#include "query.h"
#include "reentry.h"
#include "sql_text.h"
#include "stream.h"
#include "target.h"

PG_FUNCTION_INFO_V1(replace_flow_create_using_flow);
PG_FUNCTION_INFO_V1(replace_flow_drop_flow);
PG_FUNCTION_INFO_V1(replace_flow_add_expectation);
PG_FUNCTION_INFO_V1(replace_flow_drop_expectation);

/* A ledger's unique index has a column per key column. */
#define MAX_KEYS INDEX_MAX_KEYS

/* A definition while it is being checked. */
typedef struct RfDefinition
{
	RfFlowRow	row;			/* what will be stored */
	const char *name;
	const char *query_text;
	int			nkeys;
	char	  **keys;

	RfView	   *view;
	int			noutputs;
	char	  **outputs;
	RfType	   *output_types;

	RfTargetName target;
	bool		created_target;
	AttrNumber *output_attnums; /* the target's column for each output, or 0 */
	AttrNumber *key_attnums;
	bool		stored;			/* the target stores the sequence */
} RfDefinition;

static void
read_keys(RfDefinition *definition)
{
	Datum	   *values;
	bool	   *nulls;

	deconstruct_array(DatumGetArrayTypeP(definition->row.replace_using), TEXTOID, -1,
					  false, TYPALIGN_INT, &values, &nulls, &definition->nkeys);
	definition->keys = palloc(definition->nkeys * sizeof(char *));
	for (int i = 0; i < definition->nkeys; i++)
	{
		if (nulls[i])
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("\"replace_using\" of flow \"%s\" has a null element",
							definition->name)));
		definition->keys[i] = TextDatumGetCString(values[i]);
	}
}

static void
read_arguments(RfDefinition *definition, FunctionCallInfo fcinfo)
{
	RfFlowRow  *row = &definition->row;
	char	   *target = rf_argument_text(fcinfo, 0, "target");

	row->source = DatumGetObjectId(rf_argument(fcinfo, 1, "source"));
	row->replace_using = rf_argument(fcinfo, 2, "replace_using");
	row->sequence_by = rf_argument_text(fcinfo, 3, "sequence_by");
	row->name = PG_ARGISNULL(4) ? target : rf_argument_text_or_null(fcinfo, 4);
	definition->query_text = rf_argument_text_or_null(fcinfo, 5);
	row->delete_when = rf_argument_text_or_null(fcinfo, 6);
	row->on_tie = rf_tie_name(rf_tie_parse(rf_argument_text(fcinfo, 7, "on_tie")));
	row->auto_apply = rf_argument_bool(fcinfo, 8, "auto_apply");
	row->keep_rejected = rf_argument_bool(fcinfo, 9, "keep_rejected");
	row->quarantine = rf_argument_bool(fcinfo, 10, "quarantine");
	row->comment = rf_argument_text_or_null(fcinfo, 11);
	row->settings = rf_argument(fcinfo, 12, "settings");
	row->owner = GetUserId();
	definition->name = row->name;
	definition->target = rf_target_find(target);
	read_keys(definition);
}

static void
check_name(const RfDefinition *definition)
{
	RfRow		row;

	if (definition->name[0] == '\0')
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_NAME),
				 errmsg("the name of a flow must not be empty")));
	if (rf_catalog_find_flow(definition->name, &row))
		ereport(ERROR,
				(errcode(ERRCODE_DUPLICATE_OBJECT),
				 errmsg("flow \"%s\" already exists", definition->name),
				 errhint("Give the parameter \"name\", or remove the other flow with replace_flow.drop_flow().")));
}

static void
check_source(const RfDefinition *definition)
{
	Oid			source = definition->row.source;

	if (get_rel_name(source) == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("the stream of flow \"%s\" does not exist", definition->name),
				 errdetail("There is no relation with OID %u.", source)));
	LockRelationOid(source, AccessShareLock);
	rf_stream_check(source, definition->name);
	rf_stream_check_parts(source, definition->name);
	if (pg_class_aclcheck(source, GetUserId(), ACL_SELECT) != ACLCHECK_OK ||
		pg_class_aclcheck(source, GetUserId(), ACL_DELETE) != ACLCHECK_OK)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied for the stream \"%s\" of flow \"%s\"",
						get_rel_name(source), definition->name),
				 errdetail("A flow consumes its stream: its owner needs SELECT and DELETE."),
				 errhint("GRANT SELECT, DELETE ON %s TO %s", rf_sql_relation(source),
						 rf_sql_name(GetUserNameFromId(GetUserId(), false)))));
}

/* The query, and the start of the view over it. */
static void
read_query(RfDefinition *definition)
{
	RfTextOrigin origin = {definition->name, "query"};
	Oid			source = definition->row.source;
	const char *text = definition->query_text;
	Query	   *query;

	if (text == NULL)
		text = rf_sql_select_all(source);
	query = rf_query_parse(&origin, text);
	rf_query_check_stream(&origin, query, source);
	definition->view = rf_view_begin(definition->name, query);
	definition->noutputs = rf_view_outputs(definition->view, &definition->outputs,
										   &definition->output_types);
}

static int
output_position(const RfDefinition *definition, const char *name)
{
	for (int i = 0; i < definition->noutputs; i++)
	{
		if (strcmp(definition->outputs[i], name) == 0)
			return i;
	}
	return -1;
}

static void
report_key_not_given(const RfDefinition *definition, const char *key)
{
	char	   *closest = rf_closest_name(key, definition->noutputs, definition->outputs);

	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_COLUMN),
			 errmsg("key column \"%s\" of flow \"%s\" is not in the query's output",
					key, definition->name),
			 errdetail("The query gives the columns %s.",
					   rf_sql_names(definition->noutputs, definition->outputs)),
			 closest != NULL ? errhint("Perhaps you meant the column \"%s\".", closest) :
			 errhint("Name one of these columns, or give it in the query.")));
}

static void
check_key_names(const RfDefinition *definition)
{
	if (definition->nkeys < 1 || definition->nkeys > MAX_KEYS)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("\"replace_using\" of flow \"%s\" has %d columns",
						definition->name, definition->nkeys),
				 errhint("Name between 1 and %d key columns.", MAX_KEYS)));
	for (int i = 0; i < definition->nkeys; i++)
	{
		if (output_position(definition, definition->keys[i]) < 0)
			report_key_not_given(definition, definition->keys[i]);
		for (int j = 0; j < i; j++)
		{
			if (strcmp(definition->keys[i], definition->keys[j]) == 0)
				ereport(ERROR,
						(errcode(ERRCODE_DUPLICATE_COLUMN),
						 errmsg("key column \"%s\" of flow \"%s\" is named twice",
								definition->keys[i], definition->name),
						 errhint("Name each key column once.")));
		}
	}
}

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
check_key_type(const RfDefinition *definition, const char *key, Oid type)
{
	if (!rf_type_is_sortable(type))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_FUNCTION),
				 errmsg("column \"%s\" cannot be a key of flow \"%s\"", key, definition->name),
				 errdetail("Type %s has no default btree operator class.", format_type_be(type)),
				 errhint("Use columns of a sortable type, or cast the column in query and target.")));
}

/* A target that exists is checked; one that does not is created. */
static void
settle_target(RfDefinition *definition)
{
	RfTargetName *target = &definition->target;

	if (!OidIsValid(target->relid))
	{
		for (int i = 0; i < definition->nkeys; i++)
		{
			const char *key = definition->keys[i];

			check_key_type(definition, key,
						   definition->output_types[output_position(definition, key)].type);
		}
		rf_target_create(target, definition->name, definition->noutputs,
						 definition->outputs, definition->output_types,
						 definition->nkeys, definition->keys);
		definition->created_target = true;
	}
	LockRelationOid(target->relid, ShareRowExclusiveLock);
	rf_target_check(target->relid, definition->row.owner, definition->name);
	definition->row.target = target->relid;
}

static void
refuse_shared(const RfDefinition *definition, Oid relid, const char *other, const char *role)
{
	if (other != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_DUPLICATE_OBJECT),
				 errmsg("table \"%s\" cannot serve flow \"%s\"",
						get_rel_name(relid), definition->name),
				 errdetail("It is, or is a part or a parent of, %s of flow \"%s\".", role, other),
				 errhint("Use a table of its own for each flow.")));
}

static bool
have_common_member(List *relids1, List *relids2)
{
	ListCell   *cell;

	foreach(cell, relids1)
	{
		if (list_member_oid(relids2, lfirst_oid(cell)))
			return true;
	}
	return false;
}

/* A table is the target of one flow, or the stream of one flow. */
static void
check_tables_are_free(const RfDefinition *definition)
{
	Oid			target = definition->row.target;
	Oid			source = definition->row.source;
	List	   *target_family = rf_table_family(target);
	List	   *source_family = rf_table_family(source);

	if (have_common_member(target_family, source_family))
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" cannot be the stream of flow \"%s\"",
						get_rel_name(source), definition->name),
				 errdetail("It is, or is a part or a parent of, the flow's target."),
				 errhint("Stage the rows in an ordinary or partitioned table of their own.")));
	refuse_shared(definition, target, rf_catalog_flow_of_target(target_family), "the target");
	refuse_shared(definition, target, rf_catalog_flow_of_source(target_family), "the stream");
	refuse_shared(definition, source, rf_catalog_flow_of_target(source_family), "the target");
	refuse_shared(definition, source, rf_catalog_flow_of_source(source_family), "the stream");
}

/* Whether an output column is wanted although the target lacks it. */
static bool
serves_an_expression(const RfDefinition *definition, const char *output)
{
	return strcmp(output, definition->row.sequence_column) == 0 ||
		rf_view_uses(definition->view, output);
}

static void
check_column(const RfDefinition *definition, int output, AttrNumber attnum)
{
	Oid			target = definition->row.target;
	const char *name = definition->outputs[output];
	HeapTuple	tuple = SearchSysCacheCopyAttNum(target, attnum);
	Form_pg_attribute column = (Form_pg_attribute) GETSTRUCT(tuple);
	RfType		type = rf_type_of(column);

	if (column->attgenerated != '\0' || column->attidentity == ATTRIBUTE_IDENTITY_ALWAYS)
		ereport(ERROR,
				(errcode(ERRCODE_GENERATED_ALWAYS),
				 errmsg("column \"%s\" of the target of flow \"%s\" cannot be written",
						name, definition->name),
				 errdetail("It is %s.", column->attgenerated != '\0' ? "a generated column" :
						   "an identity column defined as GENERATED ALWAYS"),
				 errhint("Leave the column out of the query.")));
	if (!rf_conversion_exists(definition->output_types[output], type))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("column \"%s\" of flow \"%s\" does not fit the target",
						name, definition->name),
				 errdetail("The query gives type %s, the target has type %s, and there is no assignment cast.",
						   format_type_be(definition->output_types[output].type),
						   format_type_be(type.type)),
				 errhint("Cast the column in the query.")));
	heap_freetuple(tuple);
}

static void
report_column_not_in_target(const RfDefinition *definition, const char *output)
{
	Relation	target = table_open(definition->row.target, NoLock);
	TupleDesc	desc = RelationGetDescr(target);
	char	  **names = palloc(desc->natts * sizeof(char *));
	int			nnames = 0;
	char	   *closest;

	for (int i = 0; i < desc->natts; i++)
	{
		if (!TupleDescAttr(desc, i)->attisdropped)
			names[nnames++] = NameStr(TupleDescAttr(desc, i)->attname);
	}
	closest = rf_closest_name(output, nnames, names);
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_COLUMN),
			 errmsg("column \"%s\" of flow \"%s\" is not in the target \"%s\"",
					output, definition->name, definition->target.name),
			 errdetail("Columns are matched by name, and the query gives this one."),
			 closest != NULL ? errhint("Perhaps you meant the column \"%s\".", closest) :
			 errhint("Add the column to the target, or leave it out of the query.")));
}

/* Columns are matched by name. */
static void
match_columns(RfDefinition *definition)
{
	definition->output_attnums = palloc0(definition->noutputs * sizeof(AttrNumber));
	for (int i = 0; i < definition->noutputs; i++)
	{
		const char *name = definition->outputs[i];
		AttrNumber	attnum = get_attnum(definition->row.target, name);

		if (attnum > 0)
			check_column(definition, i, attnum);
		else if (!serves_an_expression(definition, name))
			report_column_not_in_target(definition, name);
		definition->output_attnums[i] = Max(attnum, 0);
	}
}

static void
check_key(RfDefinition *definition, int key)
{
	const char *name = definition->keys[key];
	AttrNumber	attnum = definition->output_attnums[output_position(definition, name)];

	if (attnum == 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("key column \"%s\" of flow \"%s\" is not in the target \"%s\"",
						name, definition->name, definition->target.name),
				 errdetail("Rows of a key are found by its columns in the target."),
				 errhint("Add the column to the target, or choose another key.")));
	check_key_type(definition, name, get_atttype(definition->row.target, attnum));
	definition->key_attnums[key] = attnum;
}

static void
check_keys(RfDefinition *definition)
{
	definition->key_attnums = palloc(definition->nkeys * sizeof(AttrNumber));
	for (int i = 0; i < definition->nkeys; i++)
		check_key(definition, i);
}

/* The sequence's type, as floors keep it. */
static RfType
sequence_type(const RfDefinition *definition)
{
	const char *column = definition->row.sequence_column;

	if (definition->stored)
		return rf_type_of_column(definition->row.target,
								 get_attnum(definition->row.target, column));
	return rf_view_column_type(definition->view, column);
}

static void
check_sequence(RfDefinition *definition)
{
	RfFlowRow  *row = &definition->row;
	int			output = output_position(definition, row->sequence_column);
	RfType		type;

	definition->stored = output >= 0 && definition->output_attnums[output] > 0;
	row->has_ledger = !definition->stored || row->delete_when != NULL;
	type = sequence_type(definition);
	if (!rf_type_is_sortable(type.type) || get_typtype(type.type) == TYPTYPE_PSEUDO)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_FUNCTION),
				 errmsg("\"%s\" cannot be the sequence of flow \"%s\"",
						row->sequence_by, definition->name),
				 errdetail("Type %s %s.", format_type_be(type.type),
						   get_typtype(type.type) == TYPTYPE_PSEUDO ?
						   "is no type that a column can have" :
						   "has no default btree operator class"),
				 errhint("Give one value of a sortable type, such as a number or a timestamp.")));
}

/* Settings that would undo what a run relies on. */
static bool
is_reserved_setting(const char *name)
{
	static const char *const reserved[] = {
		"search_path", "role", "session_authorization", "row_security",
		"session_replication_role", "transaction_isolation", "transaction_read_only",
		"transaction_deferrable", "default_transaction_isolation",
		"default_transaction_read_only", "default_transaction_deferrable",
	};

	for (size_t i = 0; i < lengthof(reserved); i++)
	{
		if (pg_strcasecmp(name, reserved[i]) == 0)
			return true;
	}
	return false;
}

static void
check_setting(const RfDefinition *definition, const char *name, const char *value)
{
	if (is_reserved_setting(name) || value == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("setting \"%s\" of flow \"%s\" cannot be used", name, definition->name),
				 errdetail("%s", value == NULL ? "Its value is null." :
						   "Runs set it themselves."),
				 errhint("Use settings such as work_mem or lock_timeout.")));
	rf_role_set(name, value);
}

static void
check_settings(const RfDefinition *definition)
{
	RfArgs		args = {0};
	RfRow		shape;
	RfRow	   *rows;
	int			nrows;
	RfRoleGuard guard;

	rf_role_assume(&guard, GetUserId());
	rf_arg(&args, JSONBOID, definition->row.settings);
	(void) rf_query_first("SELECT jsonb_typeof($1) = 'object' AS is_object", &args, &shape);
	if (!rf_row_bool(&shape, "is_object"))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("\"settings\" of flow \"%s\" is not a JSON object", definition->name),
				 errhint("Give an object such as {\"work_mem\": \"256MB\"}.")));
	nrows = rf_query_all("SELECT key AS name, value FROM jsonb_each_text($1)", &args, &rows);
	for (int i = 0; i < nrows; i++)
		check_setting(definition, rf_row_text(&rows[i], "name"), rf_row_text(&rows[i], "value"));
	rf_role_restore(&guard);
}

static Datum
text_array(int ntexts, char **texts)
{
	Datum	   *values = palloc(ntexts * sizeof(Datum));

	for (int i = 0; i < ntexts; i++)
		values[i] = CStringGetTextDatum(texts[i]);
	return PointerGetDatum(construct_array(values, ntexts, TEXTOID, -1, false, TYPALIGN_INT));
}

static Datum
attnum_array(int count, const AttrNumber *attnums)
{
	Datum	   *values = palloc(count * sizeof(Datum));

	for (int i = 0; i < count; i++)
		values[i] = Int16GetDatum(attnums[i]);
	return PointerGetDatum(construct_array(values, count, INT2OID, sizeof(int16), true,
										   TYPALIGN_SHORT));
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
												 sequence_type(definition)), NULL);
	(void) rf_query_execute(rf_sql_set_table_owner(name, GetUserNameFromId(definition->row.owner,
																		   false)), NULL);
	rf_flow_depend_on_extension(get_relname_relid(name, rf_flow_namespace()));
	rf_role_restore(&guard);
}

/* The owner must be able to read what the query reads. */
static void
check_reading(const RfDefinition *definition, int32 flow_id)
{
	RfRoleGuard guard;

	rf_role_assume(&guard, definition->row.owner);
	(void) rf_query_execute(rf_sql_dry_run(rf_flow_view_name(flow_id)), NULL);
	rf_role_restore(&guard);
}

static void
store(RfDefinition *definition)
{
	RfFlowRow  *row = &definition->row;
	int32		flow_id;

	row->output_columns = text_array(definition->noutputs, definition->outputs);
	row->target_attnums = attnum_array(definition->noutputs, definition->output_attnums);
	flow_id = rf_catalog_add_flow(row);
	rf_view_store(definition->view, flow_id, row->owner, false);
	if (row->has_ledger)
		create_ledger(definition, flow_id);
	check_reading(definition, flow_id);
}

static void
warn(const RfDefinition *definition)
{
	if (!definition->created_target)
		rf_target_warn_of_index(&definition->target, definition->name, definition->nkeys,
								definition->key_attnums, definition->keys);
	rf_target_warn_of_publication(definition->row.source, "stream", definition->name);
	rf_target_warn_of_publication(definition->row.target, "target", definition->name);
}

/*
 * create_using_flow(target, source, replace_using, sequence_by, ...)
 */
Datum
replace_flow_create_using_flow(PG_FUNCTION_ARGS)
{
	RfDefinition definition = {0};

	read_arguments(&definition, fcinfo);
	rf_query_begin();
	rf_catalog_lock_definitions();
	check_name(&definition);
	check_source(&definition);
	check_settings(&definition);
	read_query(&definition);
	check_key_names(&definition);
	read_expressions(&definition);
	settle_target(&definition);
	check_tables_are_free(&definition);
	match_columns(&definition);
	check_keys(&definition);
	check_sequence(&definition);
	store(&definition);
	warn(&definition);
	rf_query_end();
	PG_RETURN_TEXT_P(cstring_to_text(definition.name));
}

/*
 * Lock a flow for a change by the caller.  The context is the connection's.
 */
static RfFlow *
lock_for_change(const char *name, MemoryContext context)
{
	RfFlow	   *flow = rf_flow_find(name);

	rf_flow_check_caller(flow);
	rf_reentry_enter(flow, context);
	flow = rf_flow_lock(name, true);
	/* it may have been created anew meanwhile */
	rf_flow_check_caller(flow);
	return flow;
}

static void
drop_helpers(const RfFlow *flow)
{
	RfRoleGuard guard;
	Oid			namespace = rf_flow_namespace();
	Oid			view = get_relname_relid(rf_flow_view_name(flow->id), namespace);
	Oid			ledger = get_relname_relid(rf_flow_ledger_name(flow->id), namespace);

	rf_role_assume(&guard, rf_role_of_catalog());
	if (OidIsValid(view))
		(void) rf_query_execute(rf_sql_drop_view(view), NULL);
	if (OidIsValid(ledger))
		(void) rf_query_execute(rf_sql_drop_table(ledger), NULL);
	rf_role_restore(&guard);
}

/*
 * drop_flow(flow, drop_target)
 */
Datum
replace_flow_drop_flow(PG_FUNCTION_ARGS)
{
	char	   *name = rf_argument_text(fcinfo, 0, "flow");
	bool		drop_target = rf_argument_bool(fcinfo, 1, "drop_target");
	RfFlow	   *flow;
	RfRoleGuard guard;

	flow = lock_for_change(name, rf_query_begin());
	drop_helpers(flow);
	rf_catalog_drop_flow(flow->id);
	if (drop_target && get_rel_name(flow->target) != NULL)
	{
		rf_role_assume(&guard, flow->owner);
		(void) rf_query_execute(rf_sql_drop_table(flow->target), NULL);
		rf_role_restore(&guard);
	}
	rf_query_end();
	PG_RETURN_VOID();
}

/* Take up a flow's view to change it. */
static RfFlow *
begin_change(const char *flow_name, RfView **view)
{
	RfFlow	   *flow = lock_for_change(flow_name, rf_query_begin());

	rf_flow_open(flow);
	*view = rf_view_load(flow);
	return flow;
}

static void
end_change(const RfFlow *flow, RfView *view)
{
	rf_view_store(view, flow->id, flow->owner, true);
	rf_catalog_raise_version(flow->id);
	rf_query_end();
}

/*
 * add_expectation(flow, name, condition, action)
 */
Datum
replace_flow_add_expectation(PG_FUNCTION_ARGS)
{
	char	   *flow_name = rf_argument_text(fcinfo, 0, "flow");
	char	   *name = rf_argument_text(fcinfo, 1, "name");
	char	   *condition = rf_argument_text(fcinfo, 2, "condition");
	RfAction	action = rf_action_parse(rf_argument_text(fcinfo, 3, "action"));
	RfFlow	   *flow;
	RfView	   *view;
	char	   *column;

	if (name[0] == '\0')
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_NAME),
				 errmsg("the name of an expectation of flow \"%s\" must not be empty", flow_name)));
	flow = begin_change(flow_name, &view);
	column = rf_view_add(view, "condition", condition, BOOLOID, "expectation");
	if (!rf_catalog_add_expectation(flow->id, name, action, condition, column))
		ereport(ERROR,
				(errcode(ERRCODE_DUPLICATE_OBJECT),
				 errmsg("flow \"%s\" already has an expectation \"%s\"", flow_name, name),
				 errhint("Remove it first with replace_flow.drop_expectation().")));
	end_change(flow, view);
	PG_RETURN_VOID();
}

/*
 * drop_expectation(flow, name)
 */
Datum
replace_flow_drop_expectation(PG_FUNCTION_ARGS)
{
	char	   *flow_name = rf_argument_text(fcinfo, 0, "flow");
	char	   *name = rf_argument_text(fcinfo, 1, "name");
	RfFlow	   *flow;
	RfView	   *view;
	ListCell   *cell;

	flow = begin_change(flow_name, &view);
	if (!rf_catalog_drop_expectation(flow->id, name))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("flow \"%s\" has no expectation \"%s\"", flow_name, name),
				 errhint("Table replace_flow.expectation lists those that there are.")));
	foreach(cell, flow->expectations)
	{
		RfExpectation *expectation = lfirst(cell);

		if (strcmp(expectation->name, name) == 0)
			rf_view_remove(view, expectation->view_column);
	}
	end_change(flow, view);
	PG_RETURN_VOID();
}
