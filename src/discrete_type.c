/*-------------------------------------------------------------------------
 *
 * discrete_type.c
 *	  Types whose values can be counted: integers, dates and timestamps.
 *
 * Each value has a number, and the numbers rise with the values.  Infinite dates
 * and timestamps have the first and the last one.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "datatype/timestamp.h"
#include "nodes/makefuncs.h"
#include "utils/date.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "discrete_type.h"

/* The days of 2700 BC to 292,000 AD, counted from 2000 on. */
#define FIRST_USUAL_DAY (-1716000)
#define LAST_USUAL_DAY 106000000

bool
rf_discrete_is(Oid type)
{
	return type == INT2OID || type == INT4OID || type == INT8OID ||
		type == DATEOID || type == TIMESTAMPOID || type == TIMESTAMPTZOID;
}

bool
rf_discrete_is_time(Oid type)
{
	return type == DATEOID || type == TIMESTAMPOID || type == TIMESTAMPTZOID;
}

/*
 * The number of a value of a discrete type; the numbers rise with the values.
 */
int64
rf_discrete_number(Oid type, Datum value)
{
	switch (type)
	{
		case INT2OID:
			return DatumGetInt16(value);
		case INT4OID:
			return DatumGetInt32(value);
		case DATEOID:
			return DatumGetDateADT(value);
		default:
			return DatumGetInt64(value);
	}
}

Datum
rf_discrete_value(Oid type, int64 number)
{
	switch (type)
	{
		case INT2OID:
			return Int16GetDatum((int16) number);
		case INT4OID:
			return Int32GetDatum((int32) number);
		case DATEOID:
			return DateADTGetDatum((DateADT) number);
		default:
			return Int64GetDatum(number);
	}
}

/*
 * The range of values that functions can be called with.
 */
void
rf_discrete_usual(Oid type, int64 *first, int64 *last)
{
	switch (type)
	{
		case INT2OID:
			*first = PG_INT16_MIN;
			*last = PG_INT16_MAX;
			break;
		case INT4OID:
			*first = PG_INT32_MIN;
			*last = PG_INT32_MAX;
			break;
		case DATEOID:
			*first = FIRST_USUAL_DAY;
			*last = LAST_USUAL_DAY;
			break;
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
			*first = FIRST_USUAL_DAY * USECS_PER_DAY;
			*last = LAST_USUAL_DAY * USECS_PER_DAY;
			break;
		default:
			*first = PG_INT64_MIN;
			*last = PG_INT64_MAX;
	}
}

/*
 * The comparison of a column of a discrete type, or of a domain over it, with the value
 * that has a number, by an operator of btree.
 */
Node *
rf_discrete_comparison(const Var *var, Oid type, int strategy, int64 number)
{
	TypeCacheEntry *entry = lookup_type_cache(type, TYPECACHE_BTREE_OPFAMILY);
	Expr	   *column = copyObject((Expr *) var);
	Const	   *constant = makeConst(type, -1, InvalidOid, get_typlen(type),
									 rf_discrete_value(type, number), false,
									 get_typbyval(type));
	Oid			operator = get_opfamily_member(entry->btree_opf, type, type, strategy);

	/* a domain is compared as the type that it is made of */
	if (var->vartype != type)
		column = (Expr *) makeRelabelType(column, type, -1, InvalidOid, COERCE_IMPLICIT_CAST);
	return (Node *) make_opclause(operator, BOOLOID, false, column, (Expr *) constant,
								  InvalidOid, InvalidOid);
}
