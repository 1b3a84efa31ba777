/*-------------------------------------------------------------------------
 *
 * definition.c
 *	  What a flow's definition must satisfy: one small check to a rule.
 *
 * A definition is checked when a flow is created and when it is altered, in
 * the order in which flow_define.c calls what is here.  Names are looked up as
 * the caller sees them; rights are the owner's.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "catalog/namespace.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/jsonb.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"

#include "conversion.h"
#include "definition.h"
#include "flow_query.h"
#include "query.h"
#include "query_reads.h"
#include "regcolumn.h"
#include "role.h"
#include "sql_text.h"
#include "stream.h"
#include "target_shape.h"
#include "where_predicate.h"

/* A ledger's unique index has a column per key column. */
#define MAX_KEYS INDEX_MAX_KEYS

/*
 * Take the names of the key columns out of the array.
 */
void
rf_definition_set_keys(RfDefinition *definition)
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

/*
 * The name must be free.
 */
void
rf_definition_check_name(const RfDefinition *definition)
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

/*
 * The stream must be one, and the owner must be able to consume it.
 */
void
rf_definition_check_source(const RfDefinition *definition)
{
	Oid			source = definition->row.source;
	Oid			owner = definition->owner;

	if (get_rel_name(source) == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("the stream of flow \"%s\" does not exist", definition->name),
				 errdetail("There is no relation with OID %u.", source)));
	LockRelationOid(source, AccessShareLock);
	rf_stream_check(source, definition->name);
	rf_stream_check_parts(source, definition->name);
	if (pg_class_aclcheck(source, owner, ACL_SELECT) != ACLCHECK_OK ||
		pg_class_aclcheck(source, owner, ACL_DELETE) != ACLCHECK_OK)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied for the stream \"%s\" of flow \"%s\"",
						get_rel_name(source), definition->name),
				 errdetail("A flow consumes its stream: its owner needs SELECT and DELETE."),
				 errhint("GRANT SELECT, DELETE ON %s TO %s", rf_sql_relation(source),
						 rf_sql_name(rf_role_name(owner)))));
}

/*
 * Read the query, and begin the view over it.
 */
void
rf_definition_read_query(RfDefinition *definition)
{
	RfTextOrigin origin = {.flow_name = definition->name, .parameter = "query"};
	Oid			source = definition->row.source;
	const char *text = definition->row.query;
	Query	   *query;

	if (text == NULL)
		text = rf_sql_select_all(source);
	query = rf_query_parse(&origin, text);
	definition->view = rf_view_begin(definition->name, query);
	definition->noutputs = rf_view_outputs(definition->view, &definition->outputs,
										   &definition->output_types);
	if (definition->noutputs == 0)
		ereport(ERROR,
				(errcode(ERRCODE_SYNTAX_ERROR),
				 errmsg("the query of flow \"%s\" gives no column", definition->name),
				 errhint("Name the columns that are to be stored.")));
}

/*
 * An interval that a where flow keeps between refreshes by the worker.
 */
void
rf_definition_check_interval(const RfDefinition *definition)
{
	Interval	zero = {0};

	if (DatumGetBool(DirectFunctionCall2(interval_lt, definition->row.min_interval,
										 IntervalPGetDatum(&zero))))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("\"min_interval\" of flow \"%s\" is negative", definition->name),
				 errhint("Give an interval of zero or more.")));
}

/*
 * A using flow reads its stream, once; a where flow reads tables that keep their
 * rows, and not its target, which is known.
 */
void
rf_definition_check_reads(const RfDefinition *definition)
{
	RfTextOrigin origin = {.flow_name = definition->name, .parameter = "query"};
	Query	   *query = rf_view_inner_query(definition->view);

	if (definition->row.kind == RF_USING)
		rf_reads_check_stream(&origin, query, definition->row.source);
	else
		rf_reads_check_sources(&origin, query, definition->flow_id, definition->row.target);
}

/*
 * The position of an output column, or -1.
 */
int
rf_definition_output(const RfDefinition *definition, const char *name)
{
	return rf_name_position(name, definition->noutputs, definition->outputs);
}

/*
 * A stream's rows vanish: no where flow may read it.  The caller keeps others
 * from defining flows.
 */
void
rf_definition_check_unread(const RfDefinition *definition)
{
	List	   *family = rf_table_family(definition->row.source);
	RfRow	   *rows;
	int			nrows = rf_catalog_all_flows(&rows);

	for (int i = 0; i < nrows; i++)
	{
		if (rf_flow_kind_parse(rf_row_text(&rows[i], "kind")) == RF_WHERE &&
			rf_have_common_member(rf_reads_of_flow((int32) rf_row_int64(&rows[i], "flow_id")),
								  family))
			ereport(ERROR,
					(errcode(ERRCODE_WRONG_OBJECT_TYPE),
					 errmsg("\"%s\" cannot be the stream of flow \"%s\"",
							get_rel_name(definition->row.source), definition->name),
					 errdetail("The where flow \"%s\" reads it, and a stream's rows vanish.",
							   rf_row_text(&rows[i], "name")),
					 errhint("Stage the rows in a table of their own.")));
	}
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

/*
 * The query must give the key columns.
 */
void
rf_definition_check_key_names(const RfDefinition *definition)
{
	if (definition->nkeys < 1 || definition->nkeys > MAX_KEYS)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("\"replace_using\" of flow \"%s\" has %d columns",
						definition->name, definition->nkeys),
				 errhint("Name between 1 and %d key columns.", MAX_KEYS)));
	for (int i = 0; i < definition->nkeys; i++)
	{
		if (rf_definition_output(definition, definition->keys[i]) < 0)
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

/*
 * Keys are sorted and compared.
 */
void
rf_definition_check_key_type(const RfDefinition *definition, const char *key, Oid type)
{
	if (!rf_type_is_sortable(type))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_FUNCTION),
				 errmsg("column \"%s\" cannot be a key of flow \"%s\"", key, definition->name),
				 errdetail("Type %s has no default btree operator class.", format_type_be(type)),
				 errhint("Use columns of a sortable type, or cast the column in query and target.")));
}

/*
 * Whether an output column is wanted although the target lacks it.
 */
bool
rf_definition_serves_expression(const RfDefinition *definition, const char *output)
{
	if (definition->row.kind == RF_WHERE)
		return false;
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

/*
 * The target's column for an output column: the one of its name, or 0.  A flow
 * that is altered keeps the column that it has, which may have been renamed.
 */
AttrNumber
rf_definition_target_column(const RfDefinition *definition, const char *output)
{
	Oid			target = definition->target.relid;
	const RfFlow *before = definition->before;
	AttrNumber	attnum = before != NULL ? rf_flow_attnum(before, output) : 0;

	if (attnum > 0 && rf_column_name(target, attnum) != NULL)
		return attnum;
	return Max(get_attnum(target, output), 0);
}

static bool
was_not_stored(const RfDefinition *definition, const char *output)
{
	const RfFlow *before = definition->before;

	return before != NULL && rf_flow_output(before, output) >= 0 &&
		rf_flow_attnum(before, output) == 0;
}

/* Two outputs meet when a column of the target got the name of the other. */
static void
check_column_is_free(const RfDefinition *definition, int output, AttrNumber attnum)
{
	for (int i = 0; i < output; i++)
	{
		if (definition->output_attnums[i] == attnum)
			ereport(ERROR,
					(errcode(ERRCODE_DUPLICATE_COLUMN),
					 errmsg("columns \"%s\" and \"%s\" of flow \"%s\" meet in column \"%s\" of the target",
							definition->outputs[i], definition->outputs[output],
							definition->name,
							rf_column_name(definition->row.target, attnum)),
					 errdetail("The column was renamed after the flow was created, and keeps what it was given then."),
					 errhint("Give only one of the two in the query.")));
	}
}

/*
 * Match the query's columns to those of the target, by name.
 */
void
rf_definition_match_columns(RfDefinition *definition)
{
	definition->output_attnums = palloc0(definition->noutputs * sizeof(AttrNumber));
	for (int i = 0; i < definition->noutputs; i++)
	{
		const char *name = definition->outputs[i];
		AttrNumber	attnum = rf_definition_target_column(definition, name);

		if (attnum > 0)
		{
			check_column(definition, i, attnum);
			check_column_is_free(definition, i, attnum);
		}
		else if (!was_not_stored(definition, name) &&
				 !rf_definition_serves_expression(definition, name))
			report_column_not_in_target(definition, name);
		definition->output_attnums[i] = attnum;
	}
}

static void
check_key(RfDefinition *definition, int key)
{
	const char *name = definition->keys[key];
	AttrNumber	attnum = definition->output_attnums[rf_definition_output(definition, name)];

	if (attnum == 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("key column \"%s\" of flow \"%s\" is not in the target \"%s\"",
						name, definition->name, definition->target.name),
				 errdetail("Rows of a key are found by its columns in the target."),
				 errhint("Add the column to the target, or choose another key.")));
	rf_definition_check_key_type(definition, name, get_atttype(definition->row.target, attnum));
	definition->key_attnums[key] = attnum;
}

/*
 * Rows are found by the key's columns in the target.
 */
void
rf_definition_check_keys(RfDefinition *definition)
{
	definition->key_attnums = palloc(definition->nkeys * sizeof(AttrNumber));
	for (int i = 0; i < definition->nkeys; i++)
		check_key(definition, i);
}

/*
 * The sequence's type, as floors keep it.
 */
RfType
rf_definition_sequence_type(const RfDefinition *definition)
{
	const char *column = definition->row.sequence_column;
	int			output = rf_definition_output(definition, column);

	if (definition->stored)
		return rf_type_of_column(definition->row.target, definition->output_attnums[output]);
	return rf_view_column_type(definition->view, column);
}

/*
 * The sequence must be sortable; settle where floors are kept.
 */
void
rf_definition_check_sequence(RfDefinition *definition)
{
	RfFlowRow  *row = &definition->row;
	int			output = rf_definition_output(definition, row->sequence_column);
	RfType		type;

	definition->stored = output >= 0 && definition->output_attnums[output] > 0;
	row->has_ledger = !definition->stored || row->delete_when != NULL;
	type = rf_definition_sequence_type(definition);
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

/* The target's columns that the flow writes. */
static TupleDesc
written_columns(const RfDefinition *definition)
{
	Oid			target = definition->row.target;
	int			ncolumns = 0;
	TupleDesc	columns;

	for (int i = 0; i < definition->noutputs; i++)
	{
		if (definition->output_attnums[i] > 0)
			ncolumns++;
	}
	columns = CreateTemplateTupleDesc(ncolumns);
	for (int i = definition->noutputs - 1; i >= 0; i--)
	{
		AttrNumber	attnum = definition->output_attnums[i];

		if (attnum > 0)
			rf_type_describe(columns, ncolumns--, rf_column_name(target, attnum),
							 rf_type_of_column(target, attnum));
	}
	return columns;
}

/*
 * The predicate is about the target's columns that the query gives: a new one is
 * read, or that of the flow as it was is carried over.
 */
void
rf_definition_read_predicate(RfDefinition *definition, const RfView *before)
{
	RfPredicateScope scope = {
		.flow_name = definition->name,
		.parameter = "replace_where",
		.target = definition->row.target,
		.columns = written_columns(definition),
		.query = rf_view_inner_query(definition->view)
	};

	definition->window = before != NULL ? rf_predicate_carry(&scope, before) :
		rf_predicate_read(&scope, definition->row.replace_where);
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
		"exit_on_error", "client_encoding",
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

/*
 * The settings must be ones that the owner may set and that runs do not set.
 */
void
rf_definition_check_settings(const RfDefinition *definition)
{
	RfRow	   *rows;
	int			nrows;
	RfRoleGuard guard;

	if (!JB_ROOT_IS_OBJECT(DatumGetJsonbP(definition->row.settings)))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("\"settings\" of flow \"%s\" is not a JSON object", definition->name),
				 errhint("Give an object such as {\"work_mem\": \"256MB\"}.")));
	nrows = rf_catalog_settings(definition->row.settings, &rows);
	rf_role_assume(&guard, definition->owner);
	for (int i = 0; i < nrows; i++)
		check_setting(definition, rf_row_text(&rows[i], "name"), rf_row_text(&rows[i], "value"));
	rf_role_restore(&guard);
}

static void
warn_of_unkept_references(const RfDefinition *definition)
{
	char	   *key = rf_unkept_foreign_key(definition->row.target, written_columns(definition));

	if (key != NULL)
		ereport(WARNING,
				(errmsg("rows of \"%s\" that foreign key \"%s\" references cannot be updated in place by flow \"%s\"",
						definition->target.name, key, definition->name),
				 errdetail("The flow does not give the referenced columns, and no unique index on NOT NULL columns that it gives tells which row is which: a changed row is deleted and inserted."),
				 errhint("Create a unique index on columns that tell the rows of a set apart, and make them NOT NULL.")));
}

/*
 * Warn of what makes runs slow or makes the server refuse them.
 */
void
rf_definition_warn(const RfDefinition *definition)
{
	bool		using = definition->row.kind == RF_USING;

	if (using && !definition->created_target)
		rf_target_warn_of_index(&definition->target, definition->name, definition->nkeys,
								definition->key_attnums, definition->keys);
	rf_target_warn_of_cascades(definition->row.target, definition->name);
	warn_of_unkept_references(definition);
	if (using)
		rf_target_warn_of_publication(definition->row.source, "stream", definition->name);
	rf_target_warn_of_publication(definition->row.target, "target", definition->name);
}
