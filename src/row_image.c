/*-------------------------------------------------------------------------
 *
 * row_image.c
 *	  Rows as they are stored: hash, identity, agreement.
 *
 * Two rows are identical when their stored images are, not when an operator
 * says that they are equal: 1.0 and 1.00 are one key but two images, and a
 * type without an equality operator (json, point) has an image all the same.
 * Toasted and compressed values are compared by their content.
 *
 * Whether two rows agree in some columns can also be asked of the types'
 * equality operators: then 1.0 and 1.00 agree.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "common/hashfn.h"
#include "fmgr.h"
#include "utils/datum.h"
#include "utils/typcache.h"

#include "row_image.h"

struct RfRowImage
{
	TupleDesc	desc;
	RfAgreement agreement;
	TypeCacheEntry **types;		/* of pair columns that are compared by
								 * equality */
};

/*
 * Begin to compare rows; what this takes is allocated in the current context.
 */
RfRowImage *
rf_image_begin(TupleDesc desc, RfAgreement agreement)
{
	RfRowImage *image = palloc(sizeof(RfRowImage));

	image->desc = desc;
	image->agreement = agreement;
	image->types = palloc0(desc->natts * sizeof(TypeCacheEntry *));
	for (int i = 0; i < desc->natts; i++)
	{
		TypeCacheEntry *type;

		if (!agreement.by_equality || !bms_is_member(i, agreement.columns))
			continue;
		type = lookup_type_cache(TupleDescAttr(desc, i)->atttypid,
								 TYPECACHE_EQ_OPR_FINFO | TYPECACHE_HASH_PROC_FINFO);
		/* a key may use an operator class that is not the type's default */
		if (OidIsValid(type->eq_opr_finfo.fn_oid))
			image->types[i] = type;
	}
	return image;
}

static uint32
hash_as_stored(Form_pg_attribute column, Datum value)
{
	return datum_image_hash(value, column->attbyval, column->attlen);
}

/* A type that cannot be hashed so makes all its values collide, no more. */
static uint32
hash_by_equality(TypeCacheEntry *type, Form_pg_attribute column, Datum value)
{
	if (!OidIsValid(type->hash_proc_finfo.fn_oid))
		return 0;
	return DatumGetUInt32(FunctionCall1Coll(&type->hash_proc_finfo, column->attcollation, value));
}

int64
rf_row_hash(RfRowImage *image, const Datum *values, const bool *nulls)
{
	uint32		pair = 0;
	uint32		all = 0;

	for (int i = 0; i < image->desc->natts; i++)
	{
		Form_pg_attribute column = TupleDescAttr(image->desc, i);
		uint32		hash = nulls[i] ? 0 : hash_as_stored(column, values[i]);

		all = hash_combine(all, hash);
		if (!bms_is_member(i, image->agreement.columns))
			continue;
		if (image->types[i] != NULL && !nulls[i])
			hash = hash_by_equality(image->types[i], column, values[i]);
		pair = hash_combine(pair, hash);
	}
	return (int64) (((uint64) pair << 32) | all);
}

/*
 * Whether two rows are the same as stored, in some columns, or in all when
 * "columns" is NULL.
 */
bool
rf_rows_identical(const RfRowImage *image, const Bitmapset *columns,
				  const Datum *values1, const bool *nulls1,
				  const Datum *values2, const bool *nulls2)
{
	for (int i = 0; i < image->desc->natts; i++)
	{
		Form_pg_attribute column = TupleDescAttr(image->desc, i);

		if (columns != NULL && !bms_is_member(i, columns))
			continue;
		if (nulls1[i] != nulls2[i])
			return false;
		if (!nulls1[i] &&
			!datum_image_eq(values1[i], values2[i], column->attbyval, column->attlen))
			return false;
	}
	return true;
}

static bool
column_agrees(RfRowImage *image, int position, Datum value1, Datum value2)
{
	Form_pg_attribute column = TupleDescAttr(image->desc, position);
	TypeCacheEntry *type = image->types[position];

	if (type == NULL)
		return datum_image_eq(value1, value2, column->attbyval, column->attlen);
	return DatumGetBool(FunctionCall2Coll(&type->eq_opr_finfo, column->attcollation,
										  value1, value2));
}

/*
 * Whether there can be a row that agrees with one that has these NULLs.
 */
bool
rf_row_may_agree(const RfRowImage *image, const bool *nulls)
{
	int			i = -1;

	while (!image->agreement.nulls_agree &&
		   (i = bms_next_member(image->agreement.columns, i)) >= 0)
	{
		if (nulls[i])
			return false;
	}
	return true;
}

/*
 * Whether two rows agree in the columns that count.
 */
bool
rf_rows_agree(RfRowImage *image,
			  const Datum *values1, const bool *nulls1,
			  const Datum *values2, const bool *nulls2)
{
	int			i = -1;

	while ((i = bms_next_member(image->agreement.columns, i)) >= 0)
	{
		if (nulls1[i] != nulls2[i] || (nulls1[i] && !image->agreement.nulls_agree))
			return false;
		if (!nulls1[i] && !column_agrees(image, i, values1[i], values2[i]))
			return false;
	}
	return true;
}
