/*-------------------------------------------------------------------------
 *
 * definition.c
 *	  What a flow's definition must satisfy: one small check to a rule.
 *
 * A definition is checked when a flow is created and when it is altered, in
 * the order in which flow_define.c and flow_alter.c call what is here and, for
 * a using flow, in using_definition.c.  Names are looked up as the caller sees
 * them; rights are the owner's.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "nodes/makefuncs.h"
#include "utils/builtins.h"
#include "utils/jsonb.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"

#include "captured.h"
#include "conversion.h"
#include "definition.h"
#include "flow_query.h"
#include "query.h"
#include "query_reads.h"
#include "regcolumn.h"
#include "role.h"
#include "sql_text.h"
#include "target_shape.h"
#include "wake_up_trigger.h"
#include "where_predicate.h"

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
 * Nobody must be writing what a where flow reads while it gets its triggers.  What
 * is to wake the flow must be allowed to.
 */
void
rf_definition_lock_sources(const RfDefinition *definition)
{
	RfTextOrigin origin = {.flow_name = definition->name, .parameter = "query"};
	List	   *relids = rf_reads_of_query(&origin, rf_view_inner_query(definition->view));

	if (definition->row.refresh_on_change)
		rf_wake_up_check_rights(relids, definition->owner, definition->name);
	rf_captured_lock(relids, definition->owner);
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

/* The columns in the predicate get the target's types. */
static void
check_casts(const RfDefinition *definition, TupleDesc columns)
{
	Node	  **by = palloc(columns->natts * sizeof(Node *));

	for (int i = 0; i < columns->natts; i++)
	{
		RfType		type = definition->output_types[i];
		Var		   *value = makeVar(1, i + 1, type.type, type.typmod, type.collation, 0);

		by[i] = rf_conversion_cast((Node *) value, type, rf_type_of(TupleDescAttr(columns, i)));
	}
	rf_predicate_check_casts(definition->name,
							 rf_predicate_replace(rf_view_added(definition->window), by));
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
	check_casts(definition, scope.columns);
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
