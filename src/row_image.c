/*-------------------------------------------------------------------------
 *
 * row_image.c
 *	  Rows as they are stored: hash and identity.
 *
 * Two rows are identical when their stored images are, not when an operator
 * says that they are equal: 1.0 and 1.00 are one key but two images, and a
 * type without an equality operator (json, point) has an image all the same.
 * Toasted and compressed values are compared by their content.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "common/hashfn.h"
#include "utils/datum.h"

#include "row_image.h"

int64
rf_row_hash(TupleDesc desc, const Bitmapset *pair_columns,
			const Datum *values, const bool *nulls)
{
	uint32		pair = 0;
	uint32		all = 0;

	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute column = TupleDescAttr(desc, i);
		uint32		hash = 0;

		if (!nulls[i])
			hash = datum_image_hash(values[i], column->attbyval, column->attlen);
		all = hash_combine(all, hash);
		if (bms_is_member(i, pair_columns))
			pair = hash_combine(pair, hash);
	}
	return (int64) (((uint64) pair << 32) | all);
}

/*
 * Whether two rows agree in some columns, or in all when "columns" is NULL.
 */
bool
rf_rows_identical(TupleDesc desc, const Bitmapset *columns,
				  const Datum *values1, const bool *nulls1,
				  const Datum *values2, const bool *nulls2)
{
	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute column = TupleDescAttr(desc, i);

		if (columns != NULL && !bms_is_member(i, columns))
			continue;
		if (nulls1[i] != nulls2[i])
			return false;
		if (!nulls1[i] &&
			!datum_image_eq(values1[i], values2[i],
							column->attbyval, column->attlen))
			return false;
	}
	return true;
}
