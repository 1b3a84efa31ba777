/*-------------------------------------------------------------------------
 *
 * sql_text.h
 *	  The only builder of SQL for users' tables.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RF_SQL_TEXT_H
#define RF_SQL_TEXT_H

#include "access/tupdesc.h"
#include "nodes/bitmapset.h"
#include "nodes/pg_list.h"

#include "flow.h"

/* Names under which statements see our tuplestores, and their columns. */
#define RF_WRITE_SET "rf_write_set"
#define RF_ADDRESS_TABLEOID "row_tableoid"
#define RF_ADDRESS_CTID "row_ctid"
#define RF_ADDRESS_COLUMNS 2
#define RF_OLD_COLUMN "old_%d"	/* of the row as it was, by position */
/* A row that was found begins with its key's group and its address. */
#define RF_FOUND_COLUMNS 3
#define RF_KEYS_GROUP "key_group"
#define RF_LEDGER_SEQUENCE "sequence"

/*
 * How the key columns of a table are found by the keys of a batch.  A key with
 * NULLs needs another condition than one without, so each pattern of NULLs in
 * the batch has a set of keys, and a branch in the query, of its own.
 */
typedef struct RfKeyJoin
{
	int			nkeys;
	const char **columns;		/* the table's key columns */
	const RfType *types;
	const Oid  *equal;			/* equality operators */
	List	   *patterns;		/* of int: bit i set means key i is NULL */
} RfKeyJoin;

/* A key column, where a row of the stream has it. */
typedef struct RfStreamKey
{
	char	   *column;			/* of the stream */
	RfType		given;			/* as the flow's query gives it */
	RfType		stored;			/* as the target compares it */
} RfStreamKey;

/* A type whose values a range goes through, in steps. */
typedef struct RfRangeType
{
	Oid			type;
	const char *computed_as;	/* type to add steps to */
	const char *step_type;
	const char *count_type;		/* what a step is multiplied by */
} RfRangeType;

extern void rf_sql_number_columns(TupleDesc desc, int first);
extern char *rf_sql_name(const char *name);
extern char *rf_sql_relation(Oid relid);
extern char *rf_sql_names(int nnames, char **names);
extern char *rf_sql_keys_name(uint32 pattern);

extern char *rf_sql_select_all(Oid relid);
extern char *rf_sql_create_table(const char *schema, const char *name,
								 TupleDesc columns);
extern char *rf_sql_create_index(const char *schema, const char *name,
								 int ncolumns, char **columns);
extern char *rf_sql_drop_table(Oid relid);
extern char *rf_sql_vacuum(Oid relid);
extern char *rf_sql_drop_own_view(Oid relid);
extern char *rf_sql_drop_own_table(Oid relid);
extern const char *rf_sql_temporary_references(void);
extern const char *rf_sql_read_relations(void);
extern char *rf_sql_ledger_key(int key);
extern char *rf_sql_create_ledger(const char *name, int nkeys,
								  const RfType *key_types, RfType sequence);
extern char *rf_sql_set_table_owner(const char *name, const char *owner);
extern char *rf_sql_add_column(Oid relid, const char *column, RfType type);
extern char *rf_sql_first_row(Oid relid, const char *null_column);
extern char *rf_sql_revoke_all(Oid relid, Oid role);
extern char *rf_sql_alter_column_type(Oid relid, const char *column, RfType type);
extern char *rf_sql_dry_run(const char *view_name);

extern char *rf_sql_read_batch(const RfFlow *flow);
extern char *rf_sql_find_rows(Oid relid, TupleDesc columns, const bool *needed,
							  const RfKeyJoin *join);
extern char *rf_sql_consume(Oid stream, const char *condition);
extern char *rf_sql_read_staged(Oid stream, const char *condition);
extern char *rf_sql_key_hash(int nkeys, const RfStreamKey *keys);
extern char *rf_sql_hash_in_range(const char *hash, int64 first, int64 last);
extern char *rf_sql_hash_limits(Oid stream, const char *hash, const char *condition);
extern char *rf_sql_write_deletes(Oid relid, TupleDesc columns,
								  const Bitmapset *place_columns);
extern char *rf_sql_write_updates(Oid relid, TupleDesc columns,
								  const Bitmapset *place_columns,
								  const Bitmapset *fixed_columns, bool returning);
extern char *rf_sql_write_inserts(Oid relid, TupleDesc columns, bool returning);
extern char *rf_sql_floors(const RfFlow *flow);
extern char *rf_sql_replica_identity_hint(Oid relid);
extern char *rf_sql_canonical(const char *type);
extern char *rf_sql_range_is_empty(const RfRangeType *range);
extern char *rf_sql_slice_limits(const RfRangeType *range);
extern char *rf_sql_slice_predicate(const char *column, Oid type, const char *lower,
									const char *upper);

#endif							/* RF_SQL_TEXT_H */
