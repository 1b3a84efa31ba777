/*-------------------------------------------------------------------------
 *
 * regcolumn.c
 *	  Type regcolumn: a column of a table, as regclass is a table.
 *
 * It is stored as the table's OID and the column's number, so that it follows
 * renames, and is written as the names, so that a dump can be restored where
 * both numbers are others.  A column that is no longer there is written as
 * numbers, and these are read too.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/namespace.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/varlena.h"

#include "flow.h"
#include "regcolumn.h"
#include "sql_text.h"

PG_FUNCTION_INFO_V1(replace_flow_regcolumn_in);
PG_FUNCTION_INFO_V1(replace_flow_regcolumn_out);

static Datum
pack(Oid relid, AttrNumber attnum)
{
	return Int64GetDatum((int64) relid << 16 | (uint16) attnum);
}

static Oid
relid_of(Datum column)
{
	return (Oid) (DatumGetInt64(column) >> 16);
}

static AttrNumber
attnum_of(Datum column)
{
	return (AttrNumber) (DatumGetInt64(column) & 0xFFFF);
}

/*
 * A column's numbers, if that is how it is written.
 */
static bool
read_numbers(const char *text, Oid *relid, int *attnum)
{
	int			length = -1;

	return strspn(text, "0123456789.") == strlen(text) &&
		sscanf(text, "%u.%d%n", relid, attnum, &length) == 2 &&
		length == (int) strlen(text);
}

/*
 * A column's name, or NULL when it is gone.
 */
char *
rf_column_name(Oid relid, AttrNumber attnum)
{
	HeapTuple	tuple = SearchSysCacheAttNum(relid, attnum);
	char	   *name;

	if (!HeapTupleIsValid(tuple))
		return NULL;
	name = pstrdup(NameStr(((Form_pg_attribute) GETSTRUCT(tuple))->attname));
	ReleaseSysCache(tuple);
	return name;
}

/*
 * regcolumn_in(cstring): schema.table.column
 */
Datum
replace_flow_regcolumn_in(PG_FUNCTION_ARGS)
{
	char	   *text = PG_GETARG_CSTRING(0);
	List	   *names;
	char	   *column;
	Oid			relid;
	int			attnum;

	if (read_numbers(text, &relid, &attnum))
		return pack(relid, (AttrNumber) attnum);
	names = textToQualifiedNameList(cstring_to_text(text));
	if (list_length(names) < 2)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
				 errmsg("\"%s\" is not the name of a table's column", text),
				 errhint("Write it as schema.table.column.")));
	column = strVal(llast(names));
	relid = RangeVarGetRelid(makeRangeVarFromNameList(list_delete_last(names)), NoLock, false);
	attnum = get_attnum(relid, column);
	if (attnum == InvalidAttrNumber)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("table \"%s\" has no column \"%s\"", get_rel_name(relid), column)));
	return pack(relid, (AttrNumber) attnum);
}

/*
 * regcolumn_out(regcolumn)
 */
Datum
replace_flow_regcolumn_out(PG_FUNCTION_ARGS)
{
	Oid			relid = relid_of(PG_GETARG_DATUM(0));
	AttrNumber	attnum = attnum_of(PG_GETARG_DATUM(0));
	char	   *column = rf_column_name(relid, attnum);

	if (column == NULL)
		PG_RETURN_CSTRING(psprintf("%u.%d", relid, attnum));
	PG_RETURN_CSTRING(psprintf("%s.%s", rf_sql_relation(relid), rf_sql_name(column)));
}

/*
 * A column as a value of the type.
 */
Datum
rf_regcolumn_datum(Oid relid, AttrNumber attnum)
{
	return pack(relid, attnum);
}

/*
 * An array of a table's columns; a column 0 becomes a NULL.
 */
Datum
rf_regcolumn_array(Oid relid, int count, const AttrNumber *attnums)
{
	Oid			type = rf_regcolumn_type();
	Datum	   *values = palloc(count * sizeof(Datum));
	bool	   *nulls = palloc(count * sizeof(bool));
	int			lower_bound = 1;

	for (int i = 0; i < count; i++)
	{
		values[i] = pack(relid, attnums[i]);
		nulls[i] = attnums[i] == 0;
	}
	return PointerGetDatum(construct_md_array(values, nulls, 1, &count, &lower_bound, type,
											  sizeof(int64), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
}

/*
 * The columns' numbers in such an array.  One that is not of the table comes
 * as -1: it was gone already when the array was dumped.
 */
AttrNumber *
rf_regcolumn_attnums(Datum array, Oid relid, int *count)
{
	AttrNumber *attnums;
	Datum	   *values;
	bool	   *nulls;

	deconstruct_array(DatumGetArrayTypeP(array), rf_regcolumn_type(), sizeof(int64),
					  FLOAT8PASSBYVAL, TYPALIGN_DOUBLE, &values, &nulls, count);
	attnums = palloc(*count * sizeof(AttrNumber));
	for (int i = 0; i < *count; i++)
	{
		if (nulls[i])
			attnums[i] = 0;
		else
			attnums[i] = relid_of(values[i]) == relid ? attnum_of(values[i]) : -1;
	}
	return attnums;
}

Oid
rf_regcolumn_type(void)
{
	return GetSysCacheOid2(TYPENAMENSP, Anum_pg_type_oid, CStringGetDatum("regcolumn"),
						   ObjectIdGetDatum(rf_flow_namespace()));
}
