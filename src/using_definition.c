/*-------------------------------------------------------------------------
 *
 * using_definition.c
 *	  What the definition of a using flow must satisfy besides: its stream, its
 *	  key and its sequence.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_inherits.h"
#include "catalog/pg_type.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "flow_query.h"
#include "query.h"
#include "query_reads.h"
#include "role.h"
#include "sql_text.h"
#include "stream.h"
#include "table_family.h"
#include "using_definition.h"

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
 * The stream must be one, and the owner must be able to consume it.  Nobody
 * must be writing it while it gets its triggers.
 */
void
rf_definition_check_source(const RfDefinition *definition)
{
	Oid			source = definition->row.source;
	Oid			owner = definition->owner;
	ListCell   *cell;

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
	foreach(cell, rf_table_to_watch(source, owner))
		LockRelationOid(lfirst_oid(cell), ShareRowExclusiveLock);
	(void) find_all_inheritors(source, ShareRowExclusiveLock, NULL);
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
