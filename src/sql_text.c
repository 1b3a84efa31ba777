/*-------------------------------------------------------------------------
 *
 * sql_text.c
 *	  The only builder of SQL for users' tables.
 *
 * Each identifier goes through quote_identifier, each relation and type is
 * qualified, and operators on users' values are named by their schema.  What
 * is left unqualified is found in pg_catalog, since statements run with that
 * as their search path (see role.c).
 *
 * Rows that we hand in come as ephemeral named relations, whose columns we
 * name ourselves, so that no name of a user's column can meet one of ours.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/ruleutils.h"
#include "utils/typcache.h"

#include "sql_text.h"

/*
 * Name the columns of a tuplestore's rows c1, c2, ..., beginning with the one
 * at position "first".
 */
void
rf_sql_number_columns(TupleDesc desc, int first)
{
	for (int i = first; i < desc->natts; i++)
		namestrcpy(&TupleDescAttr(desc, i)->attname,
				   psprintf("c%d", i - first + 1));
}

char *
rf_sql_name(const char *name)
{
	return pstrdup(quote_identifier(name));
}

/*
 * A relation's qualified name.
 */
char *
rf_sql_relation(Oid relid)
{
	return quote_qualified_identifier(get_namespace_name(get_rel_namespace(relid)),
									  get_rel_name(relid));
}

/*
 * Names with commas between them.
 */
char *
rf_sql_names(int nnames, char **names)
{
	StringInfoData sql;

	initStringInfo(&sql);
	for (int i = 0; i < nnames; i++)
		appendStringInfo(&sql, "%s%s", i > 0 ? ", " : "", quote_identifier(names[i]));
	return sql.data;
}

static void
append_column_names(StringInfo sql, TupleDesc columns)
{
	for (int i = 0; i < columns->natts; i++)
		appendStringInfo(sql, "%s%s", i > 0 ? ", " : "",
						 quote_identifier(NameStr(TupleDescAttr(columns, i)->attname)));
}

static char *
type_name(RfType type)
{
	return format_type_extended(type.type, type.typmod,
								FORMAT_TYPE_TYPEMOD_GIVEN | FORMAT_TYPE_FORCE_QUALIFY);
}

/*
 * A type with its modifier, and its collation where that is not the type's own.
 */
static void
append_type(StringInfo sql, RfType type)
{
	appendStringInfoString(sql, type_name(type));
	if (OidIsValid(type.collation) && type.collation != get_typcollation(type.type))
		appendStringInfo(sql, " COLLATE %s", generate_collation_name(type.collation));
}

/*
 * All columns of a table.
 */
char *
rf_sql_select_all(Oid relid)
{
	StringInfoData sql;
	Relation	relation = table_open(relid, AccessShareLock);
	TupleDesc	desc = RelationGetDescr(relation);
	const char *separator = "SELECT ";

	initStringInfo(&sql);
	for (int i = 0; i < desc->natts; i++)
	{
		if (TupleDescAttr(desc, i)->attisdropped)
			continue;
		appendStringInfo(&sql, "%ss.%s", separator,
						 quote_identifier(NameStr(TupleDescAttr(desc, i)->attname)));
		separator = ", ";
	}
	table_close(relation, NoLock);
	/* a table may have no columns */
	appendStringInfo(&sql, "%s FROM %s AS s", sql.len == 0 ? "SELECT" : "", rf_sql_relation(relid));
	return sql.data;
}

char *
rf_sql_create_table(const char *schema, const char *name, TupleDesc columns)
{
	StringInfoData sql;

	initStringInfo(&sql);
	appendStringInfo(&sql, "CREATE TABLE %s (", quote_qualified_identifier(schema, name));
	for (int i = 0; i < columns->natts; i++)
	{
		Form_pg_attribute column = TupleDescAttr(columns, i);

		appendStringInfo(&sql, "%s%s ", i > 0 ? ", " : "",
						 quote_identifier(NameStr(column->attname)));
		append_type(&sql, rf_type_of(column));
	}
	appendStringInfoChar(&sql, ')');
	return sql.data;
}

char *
rf_sql_create_index(const char *schema, const char *name, int ncolumns, char **columns)
{
	return psprintf("CREATE INDEX ON %s (%s)",
					quote_qualified_identifier(schema, name),
					rf_sql_names(ncolumns, columns));
}

char *
rf_sql_drop_table(Oid relid)
{
	return psprintf("DROP TABLE %s", rf_sql_relation(relid));
}

/*
 * To give back pages would take a lock that stagers wait for.
 */
char *
rf_sql_vacuum(Oid relid)
{
	return psprintf("VACUUM (SKIP_LOCKED, TRUNCATE false, PARALLEL 0) %s", rf_sql_relation(relid));
}

/* Our own objects live in one schema. */
static const char *
own(const char *name)
{
	return quote_qualified_identifier("replace_flow", name);
}

/*
 * Views of others on our own objects go with them: anybody can make one, and
 * must not be able to hinder a flow by it.
 */
char *
rf_sql_drop_own_view(Oid relid)
{
	return psprintf("DROP VIEW %s CASCADE", rf_sql_relation(relid));
}

char *
rf_sql_drop_own_table(Oid relid)
{
	return psprintf("DROP TABLE %s CASCADE", rf_sql_relation(relid));
}

/*
 * What the view $1 uses of temporary schemas.
 */
const char *
rf_sql_temporary_references(void)
{
	return "SELECT pg_describe_object(d.refclassid, d.refobjid, d.refobjsubid) AS object"
		" FROM pg_rewrite AS r JOIN pg_depend AS d"
		" ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid,"
		" pg_identify_object(d.refclassid, d.refobjid, 0) AS o"
		" WHERE r.ev_class = $1 AND o.schema LIKE 'pg\\_temp%' LIMIT 1";
}

/*
 * The views $1, by their places in this array, and what they read, through other
 * views too.
 */
const char *
rf_sql_read_relations(void)
{
	return "WITH RECURSIVE reads (place, relid) AS ("
		"SELECT v.place, v.relid FROM pg_catalog.unnest($1) WITH ORDINALITY AS v (relid, place)"
		" UNION SELECT r.place, d.refobjid FROM reads AS r"
		" JOIN pg_catalog.pg_class AS c ON c.oid OPERATOR(pg_catalog.=) r.relid"
		" AND c.relkind OPERATOR(pg_catalog.=) 'v'"
		" JOIN pg_catalog.pg_rewrite AS w ON w.ev_class OPERATOR(pg_catalog.=) c.oid"
		" JOIN pg_catalog.pg_depend AS d"
		" ON d.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_rewrite'::pg_catalog.regclass"
		" AND d.objid OPERATOR(pg_catalog.=) w.oid"
		" AND d.refclassid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass)"
		" SELECT place, relid FROM reads ORDER BY place, relid";
}

/*
 * The name of a ledger's column for a key column, by position.
 */
char *
rf_sql_ledger_key(int key)
{
	return psprintf("key_%d", key + 1);
}

/*
 * The ledger of floors: the key, and the highest sequence applied for it.
 * Sequences change in place, so pages keep room for that.
 */
char *
rf_sql_create_ledger(const char *name, int nkeys, const RfType *key_types,
					 RfType sequence)
{
	StringInfoData sql;
	StringInfoData keys;

	initStringInfo(&sql);
	initStringInfo(&keys);
	appendStringInfo(&sql, "CREATE TABLE %s (", own(name));
	for (int i = 0; i < nkeys; i++)
	{
		appendStringInfo(&sql, "%s ", rf_sql_ledger_key(i));
		append_type(&sql, key_types[i]);
		appendStringInfoString(&sql, ", ");
		appendStringInfo(&keys, "%s%s", i > 0 ? ", " : "", rf_sql_ledger_key(i));
	}
	appendStringInfoString(&sql, RF_LEDGER_SEQUENCE " ");
	append_type(&sql, sequence);
	appendStringInfo(&sql, " NOT NULL, UNIQUE NULLS NOT DISTINCT (%s)) WITH (fillfactor = 80)",
					 keys.data);
	return sql.data;
}

char *
rf_sql_set_table_owner(const char *name, const char *owner)
{
	return psprintf("ALTER TABLE %s OWNER TO %s", own(name), quote_identifier(owner));
}

char *
rf_sql_add_column(Oid relid, const char *column, RfType type)
{
	StringInfoData sql;

	initStringInfo(&sql);
	appendStringInfo(&sql, "ALTER TABLE %s ADD COLUMN %s ", rf_sql_relation(relid),
					 quote_identifier(column));
	append_type(&sql, type);
	/* a domain may have a default of its own */
	if (get_typdefault(type.type) != NULL)
		appendStringInfoString(&sql, " DEFAULT NULL");
	return sql.data;
}

/*
 * A row of a table, if there is one in which the column, if given, is NULL.
 */
char *
rf_sql_first_row(Oid relid, const char *null_column)
{
	if (null_column == NULL)
		return psprintf("SELECT FROM %s LIMIT 1", rf_sql_relation(relid));
	return psprintf("SELECT FROM %s WHERE %s IS NOT DISTINCT FROM NULL LIMIT 1",
					rf_sql_relation(relid), quote_identifier(null_column));
}

/*
 * InvalidOid stands for PUBLIC.
 */
char *
rf_sql_revoke_all(Oid relid, Oid role)
{
	return psprintf("REVOKE ALL ON TABLE %s FROM %s", rf_sql_relation(relid),
					OidIsValid(role) ? quote_identifier(GetUserNameFromId(role, false)) : "PUBLIC");
}

char *
rf_sql_alter_column_type(Oid relid, const char *column, RfType type)
{
	StringInfoData sql;

	initStringInfo(&sql);
	appendStringInfo(&sql, "ALTER TABLE %s ALTER COLUMN %s TYPE ", rf_sql_relation(relid),
					 quote_identifier(column));
	append_type(&sql, type);
	return sql.data;
}

/*
 * A query that reads nothing but needs all rights that the flow's query needs.
 */
char *
rf_sql_dry_run(const char *view_name)
{
	return psprintf("SELECT * FROM %s LIMIT 0", own(view_name));
}

/*
 * What a run reads: the query's output, the sequence where it is not one of
 * these columns, the tombstone mark, and a truth value per expectation.
 */
char *
rf_sql_read_batch(const RfFlow *flow)
{
	StringInfoData sql;
	ListCell   *cell;

	initStringInfo(&sql);
	appendStringInfo(&sql, "SELECT %s", rf_sql_names(flow->noutputs, flow->outputs));
	foreach(cell, flow->extras)
		appendStringInfo(&sql, ", %s", quote_identifier(lfirst(cell)));
	appendStringInfo(&sql, " FROM %s", rf_sql_relation(flow->view));
	return sql.data;
}

/*
 * The name under which statements see the keys with a pattern of NULLs.
 */
char *
rf_sql_keys_name(uint32 pattern)
{
	return psprintf("rf_keys_%u", pattern);
}

/*
 * Equality of two values of a type.  An operator for any enum takes no domain
 * over one, so values are taken as what the domain is made of.
 */
static void
append_equality(StringInfo sql, char *left, char *right, Oid type, Oid equal)
{
	Oid			base = getBaseType(type);

	if (base != type)
	{
		char	   *name = format_type_be_qualified(base);

		left = psprintf("CAST(%s AS %s)", left, name);
		right = psprintf("CAST(%s AS %s)", right, name);
	}
	generate_operator_clause(sql, left, base, equal, right, base);
}

/*
 * One branch: rows of the table whose key is among the keys with a pattern.
 *
 * IS NOT DISTINCT FROM NULL is a plain null test that an index can serve, and
 * unlike IS NULL it does not take a row value of NULLs for NULL.
 */
static void
append_find_branch(StringInfo sql, Oid relid, TupleDesc columns, const bool *needed,
				   const RfKeyJoin *join, uint32 pattern)
{
	appendStringInfo(sql, "SELECT k." RF_KEYS_GROUP ", t.tableoid, t.ctid");
	for (int i = 0; i < columns->natts; i++)
	{
		if (needed[i])
			appendStringInfo(sql, ", t.%s",
							 quote_identifier(NameStr(TupleDescAttr(columns, i)->attname)));
		else
			appendStringInfoString(sql, ", NULL");
	}
	appendStringInfo(sql, " FROM %s AS t JOIN %s AS k ON ",
					 rf_sql_relation(relid), rf_sql_keys_name(pattern));
	for (int i = 0; i < join->nkeys; i++)
	{
		char	   *column = psprintf("t.%s", quote_identifier(join->columns[i]));

		if (i > 0)
			appendStringInfoString(sql, " AND ");
		if (pattern & (1U << i))
			appendStringInfo(sql, "%s IS NOT DISTINCT FROM NULL", column);
		else
			append_equality(sql, column, psprintf("k.c%d", i + 1), join->types[i].type,
							join->equal[i]);
	}
}

/*
 * Rows of a table whose keys are in the batch: group, address, columns.  A
 * column that is not needed comes as NULL.
 */
char *
rf_sql_find_rows(Oid relid, TupleDesc columns, const bool *needed, const RfKeyJoin *join)
{
	StringInfoData sql;
	ListCell   *cell;

	initStringInfo(&sql);
	foreach(cell, join->patterns)
	{
		if (sql.len > 0)
			appendStringInfoString(&sql, " UNION ALL ");
		append_find_branch(&sql, relid, columns, needed, join, (uint32) lfirst_int(cell));
	}
	return sql.data;
}

/*
 * Delete the stream rows that the snapshot sees, or those of them for which a
 * condition on row s is true.  The first condition holds for all rows that the
 * scan finds; it matters when one of them was updated meanwhile and the new
 * version is checked again: nobody has read that one.
 */
char *
rf_sql_consume(Oid stream, const char *condition)
{
	return psprintf("DELETE FROM %s AS s WHERE replace_flow.in_snapshot(s.xmin) AND %s",
					rf_sql_relation(stream), condition != NULL ? condition : "true");
}

/*
 * The same rows, to be read.
 */
char *
rf_sql_read_staged(Oid stream, const char *condition)
{
	return psprintf("%s WHERE %s", rf_sql_select_all(stream),
					condition != NULL ? condition : "true");
}

/*
 * The hash of the key of row s of the stream.
 *
 * Values are hashed as the target compares them.  These casts are explicit, so
 * that they cut off what is too long; it fails later, on its way into the target.
 * Blanks at the end of a character value count for nothing, but before 16 not for
 * its hash under some collations.
 */
char *
rf_sql_key_hash(int nkeys, const RfStreamKey *keys)
{
	char	   *hash = "0";

	for (int i = 0; i < nkeys; i++)
	{
		const RfStreamKey *key = &keys[i];
		char	   *value = psprintf("CAST(CAST(s.%s AS %s) AS %s)", quote_identifier(key->column),
									 type_name(key->given), type_name(key->stored));

		if (key->stored.type == BPCHAROID)
			value = psprintf("CAST(%s AS text)", value);
		if (OidIsValid(key->stored.collation))
			value = psprintf("%s COLLATE %s", value,
							 generate_collation_name(key->stored.collation));
		hash = psprintf("replace_flow.key_hash(%s, %s)", hash, value);
	}
	return hash;
}

char *
rf_sql_hash_in_range(const char *hash, int64 first, int64 last)
{
	return psprintf("%s BETWEEN CAST('" INT64_FORMAT "' AS bigint)"
					" AND CAST('" INT64_FORMAT "' AS bigint)", hash, first, last);
}

/*
 * The lowest and the highest hash among the stream's rows for which a condition
 * is true.
 */
char *
rf_sql_hash_limits(Oid stream, const char *hash, const char *condition)
{
	return psprintf("SELECT min(h.hash) AS first, max(h.hash) AS last, count(*) > 0 AS found"
					" FROM (SELECT %s AS hash FROM %s AS s WHERE %s) AS h",
					hash, rf_sql_relation(stream), condition);
}

/*
 * The address finds the row; place_columns, which the row has as given, tell the
 * executor where to look.
 */
static void
append_address_join(StringInfo sql, TupleDesc columns, const Bitmapset *place_columns)
{
	int			i = -1;

	appendStringInfoString(sql, "t.ctid = w." RF_ADDRESS_CTID
						   " AND t.tableoid = w." RF_ADDRESS_TABLEOID);
	while ((i = bms_next_member(place_columns, i)) >= 0)
	{
		Form_pg_attribute column = TupleDescAttr(columns, i);
		TypeCacheEntry *type = lookup_type_cache(column->atttypid, TYPECACHE_EQ_OPR);

		appendStringInfoString(sql, " AND ");
		append_equality(sql, psprintf("t.%s", quote_identifier(NameStr(column->attname))),
						psprintf("w." RF_OLD_COLUMN, i), column->atttypid, type->eq_opr);
	}
}

char *
rf_sql_write_deletes(Oid relid, TupleDesc columns, const Bitmapset *place_columns)
{
	StringInfoData sql;

	initStringInfo(&sql);
	appendStringInfo(&sql, "DELETE FROM %s AS t USING " RF_WRITE_SET " AS w WHERE ",
					 rf_sql_relation(relid));
	append_address_join(&sql, columns, place_columns);
	return sql.data;
}

static void
append_set_columns(StringInfo sql, int ncolumns)
{
	for (int i = 0; i < ncolumns; i++)
		appendStringInfo(sql, "%sw.c%d", i > 0 ? ", " : "", i + 1);
}

/* The rows as they were stored. */
static void
append_returning(StringInfo sql, TupleDesc columns)
{
	for (int i = 0; i < columns->natts; i++)
		appendStringInfo(sql, "%st.%s", i > 0 ? ", " : " RETURNING ",
						 quote_identifier(NameStr(TupleDescAttr(columns, i)->attname)));
}

/*
 * With "returning", the statement gives each row as it was stored and then as
 * it was handed in.
 */
char *
rf_sql_write_updates(Oid relid, TupleDesc columns, const Bitmapset *place_columns,
					 const Bitmapset *fixed_columns, bool returning)
{
	StringInfoData sql;
	const char *separator = "";

	initStringInfo(&sql);
	appendStringInfo(&sql, "UPDATE %s AS t SET ", rf_sql_relation(relid));
	for (int i = 0; i < columns->natts; i++)
	{
		if (bms_is_member(i, fixed_columns))
			continue;
		appendStringInfo(&sql, "%s%s = w.c%d", separator,
						 quote_identifier(NameStr(TupleDescAttr(columns, i)->attname)),
						 i + 1);
		separator = ", ";
	}
	appendStringInfoString(&sql, " FROM " RF_WRITE_SET " AS w WHERE ");
	append_address_join(&sql, columns, place_columns);
	if (returning)
	{
		append_returning(&sql, columns);
		appendStringInfoString(&sql, ", ");
		append_set_columns(&sql, columns->natts);
	}
	return sql.data;
}

/*
 * With "returning", the statement gives each row as it was stored.
 */
char *
rf_sql_write_inserts(Oid relid, TupleDesc columns, bool returning)
{
	StringInfoData sql;

	initStringInfo(&sql);
	appendStringInfo(&sql, "INSERT INTO %s AS t (", rf_sql_relation(relid));
	append_column_names(&sql, columns);
	appendStringInfoString(&sql, ") SELECT ");
	append_set_columns(&sql, columns->natts);
	appendStringInfoString(&sql, " FROM " RF_WRITE_SET " AS w");
	if (returning)
		append_returning(&sql, columns);
	return sql.data;
}

/* One source of floors: the target's rows, or the ledger's. */
static void
append_floor_source(StringInfo sql, Oid relid, int nkeys, char **keys, char *sequence)
{
	if (sql->len > 0)
		appendStringInfoString(sql, " UNION ALL ");
	appendStringInfoString(sql, "SELECT ");
	for (int i = 0; i < nkeys; i++)
		appendStringInfo(sql, "%s AS k%d, ", quote_identifier(keys[i]), i + 1);
	appendStringInfo(sql, "%s AS s FROM %s WHERE %s IS DISTINCT FROM NULL",
					 quote_identifier(sequence), rf_sql_relation(relid),
					 quote_identifier(sequence));
}

/*
 * The floor of each key that has one.
 */
char *
rf_sql_floors(const RfFlow *flow)
{
	StringInfoData sql;
	StringInfoData sources;
	StringInfoData order;
	char	  **target_keys = palloc(flow->nkeys * sizeof(char *));
	char	  **ledger_keys = palloc(flow->nkeys * sizeof(char *));

	initStringInfo(&sql);
	initStringInfo(&sources);
	initStringInfo(&order);
	for (int i = 0; i < flow->nkeys; i++)
	{
		target_keys[i] = NameStr(TupleDescAttr(flow->columns, flow->keys[i])->attname);
		ledger_keys[i] = rf_sql_ledger_key(i);
		appendStringInfo(&order, "%sf.k%d", i > 0 ? ", " : "", i + 1);
	}
	if (flow->sequence_column >= 0)
		append_floor_source(&sources, flow->target, flow->nkeys, target_keys,
							NameStr(TupleDescAttr(flow->columns, flow->sequence_column)->attname));
	if (OidIsValid(flow->ledger))
		append_floor_source(&sources, flow->ledger, flow->nkeys, ledger_keys, RF_LEDGER_SEQUENCE);

	appendStringInfo(&sql, "SELECT DISTINCT ON (%s) jsonb_build_object(", order.data);
	for (int i = 0; i < flow->nkeys; i++)
		appendStringInfo(&sql, "%s%s, f.k%d", i > 0 ? ", " : "",
						 quote_literal_cstr(target_keys[i]), i + 1);
	appendStringInfo(&sql, ") AS key, CAST(f.s AS text) AS floor FROM (%s) AS f"
					 " ORDER BY %s, f.s DESC", sources.data, order.data);
	return sql.data;
}

/*
 * The statement that lets a published table be written without a primary key.
 */
char *
rf_sql_replica_identity_hint(Oid relid)
{
	return psprintf("ALTER TABLE %s REPLICA IDENTITY FULL", rf_sql_relation(relid));
}

/*
 * $1, a text, as a value of a type, and as text again.
 */
char *
rf_sql_canonical(const char *type)
{
	return psprintf("SELECT CAST(CAST($1 AS %s) AS text) AS value", type);
}

/*
 * Whether there is nothing from $1 to before $2.
 */
char *
rf_sql_range_is_empty(const RfRangeType *range)
{
	const char *type = format_type_be_qualified(range->type);

	return psprintf("SELECT CAST($1 AS %s) >= CAST($2 AS %s) AS is_empty", type, type);
}

/* Where the slice that an argument numbers begins; not behind the range's end. */
static char *
slice_limit(const RfRangeType *range, const char *number)
{
	return psprintf("CAST(least(CAST($1 AS %s) + CAST($2 AS %s) * CAST(%s AS %s),"
					" CAST($5 AS %s)) AS %s)", range->computed_as, range->step_type, number,
					range->count_type, range->computed_as,
					format_type_be_qualified(range->type));
}

/*
 * The limits of a slice, of a range from $1 in steps of $2 to $5; $3 is its
 * number and $4 that of the next one.  All of them are texts.
 */
char *
rf_sql_slice_limits(const RfRangeType *range)
{
	const char *type = format_type_be_qualified(range->type);

	return psprintf("SELECT CAST(s.l AS text) AS lower_limit, CAST(s.u AS text) AS upper_limit,"
					" s.l < s.u OR s.l >= CAST($5 AS %s) AS advances,"
					" s.u < CAST($5 AS %s) AS goes_on"
					" FROM (SELECT %s AS l, %s AS u) AS s", type, type,
					slice_limit(range, "$3"), slice_limit(range, "$4"));
}

/*
 * What is true for the rows of a slice; read with the caller's search path.
 */
char *
rf_sql_slice_predicate(const char *column, Oid type, const char *lower, const char *upper)
{
	const char *name = format_type_be_qualified(type);

	return psprintf("%s OPERATOR(pg_catalog.>=) CAST(%s AS %s)"
					" AND %s OPERATOR(pg_catalog.<) CAST(%s AS %s)",
					quote_identifier(column), quote_literal_cstr(lower), name,
					quote_identifier(column), quote_literal_cstr(upper), name);
}
