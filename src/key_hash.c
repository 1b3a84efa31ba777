/*-------------------------------------------------------------------------
 *
 * key_hash.c
 *	  The hash of a key, as a function of SQL.
 *
 * Keys that count as equal have the same hash: each column is hashed by its
 * type's own function, under the collation of the call, and NULL as a value of
 * its own.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "common/hashfn.h"
#include "fmgr.h"
#include "utils/builtins.h"
#include "utils/typcache.h"

PG_FUNCTION_INFO_V1(replace_flow_key_hash);

/* Any number; the hash of zero should be another. */
#define HASH_OF_NULL UINT64CONST(0x6e756c6c6b657921)

/* The hash function of the argument's type, looked up at the first call. */
static FmgrInfo *
find_function(FmgrInfo *caller)
{
	Oid			type;
	TypeCacheEntry *entry;

	if (caller->fn_extra != NULL)
		return caller->fn_extra;
	type = get_fn_expr_argtype(caller, 1);
	/* one that does not fit the type's equality does not count */
	entry = lookup_type_cache(type, TYPECACHE_EQ_OPR | TYPECACHE_HASH_EXTENDED_PROC);
	if (!OidIsValid(entry->hash_extended_proc))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_FUNCTION),
				 errmsg("could not identify an extended hash function for type %s",
						format_type_be(type))));
	caller->fn_extra = MemoryContextAlloc(caller->fn_mcxt, sizeof(FmgrInfo));
	fmgr_info_cxt(entry->hash_extended_proc, caller->fn_extra, caller->fn_mcxt);
	return caller->fn_extra;
}

/*
 * key_hash(seed, value): the hash of a key whose last column is the value; the
 * seed is that of the columns before, or 0.
 */
Datum
replace_flow_key_hash(PG_FUNCTION_ARGS)
{
	FmgrInfo   *function = find_function(fcinfo->flinfo);
	uint64		hash = HASH_OF_NULL;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	if (!PG_ARGISNULL(1))
		hash = DatumGetUInt64(FunctionCall2Coll(function, PG_GET_COLLATION(),
												PG_GETARG_DATUM(1), UInt64GetDatum(0)));
	PG_RETURN_INT64((int64) hash_combine64((uint64) PG_GETARG_INT64(0), hash));
}
