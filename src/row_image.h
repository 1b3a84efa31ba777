/*-------------------------------------------------------------------------
 *
 * row_image.h
 *	  Rows as they are stored: hash, identity, agreement.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RF_ROW_IMAGE_H
#define RF_ROW_IMAGE_H

#include "access/tupdesc.h"
#include "nodes/bitmapset.h"

/* When two rows agree: as a pair, or in their keys. */
typedef struct RfAgreement
{
	const Bitmapset *columns;	/* in these, by position */
	bool		by_equality;	/* as their types compare, not as stored */
	bool		nulls_agree;	/* NULL agrees with NULL */
} RfAgreement;

typedef struct RfRowImage RfRowImage;

extern RfRowImage *rf_image_begin(TupleDesc desc, RfAgreement agreement);

/*
 * A row's place among the rows of its group.  The upper half hashes the pair
 * columns, the lower half all columns: rows that may become a pair are
 * neighbours, and so are identical rows among them.
 */
extern int64 rf_row_hash(RfRowImage *image, const Datum *values, const bool *nulls);
extern bool rf_rows_identical(const RfRowImage *image, const Bitmapset *columns,
							  const Datum *values1, const bool *nulls1,
							  const Datum *values2, const bool *nulls2);
extern bool rf_row_may_agree(const RfRowImage *image, const bool *nulls);
extern bool rf_rows_agree(RfRowImage *image,
						  const Datum *values1, const bool *nulls1,
						  const Datum *values2, const bool *nulls2);

/* The half of the hash that pairs share; it orders rows as the whole does. */
static inline int32
rf_row_hash_of_pair(int64 hash)
{
	return (int32) ((uint64) hash >> 32);
}

#endif							/* RF_ROW_IMAGE_H */
