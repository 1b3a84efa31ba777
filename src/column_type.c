/*-------------------------------------------------------------------------
 *
 * column_type.c
 *	  A value's type, as a column has it.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "column_type.h"

RfType
rf_type_of(Form_pg_attribute column)
{
	RfType		type = {column->atttypid, column->atttypmod, column->attcollation};

	return type;
}

RfType
rf_type_of_column(Oid relid, AttrNumber attnum)
{
	RfType		type;

	get_atttypetypmodcoll(relid, attnum, &type.type, &type.typmod, &type.collation);
	return type;
}

bool
rf_type_is_same(RfType type1, RfType type2)
{
	return type1.type == type2.type && type1.typmod == type2.typmod &&
		type1.collation == type2.collation;
}

/*
 * Make a column of a row description.
 */
void
rf_type_describe(TupleDesc desc, AttrNumber number, const char *name, RfType type)
{
	TupleDescInitEntry(desc, number, name, type.type, type.typmod, 0);
	TupleDescInitEntryCollation(desc, number, type.collation);
}

/*
 * Whether values of a type can be keys and sequences.
 */
bool
rf_type_is_sortable(Oid type)
{
	TypeCacheEntry *entry = lookup_type_cache(type, TYPECACHE_LT_OPR | TYPECACHE_EQ_OPR |
											  TYPECACHE_CMP_PROC);

	return OidIsValid(entry->lt_opr) && OidIsValid(entry->eq_opr) && OidIsValid(entry->cmp_proc);
}

/*
 * A type with its modifier, for messages.
 */
char *
rf_type_name(RfType type)
{
	return format_type_with_typemod(type.type, type.typmod);
}
