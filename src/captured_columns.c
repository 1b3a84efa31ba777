/*-------------------------------------------------------------------------
 *
 * captured_columns.c
 *	  Which columns of a table are captured.
 *
 * Each statement that changes a captured table asks for that, in a session that
 * has nothing to do with flows.  So it is kept in the session, by table, until the
 * server says that the table has changed; who changes what is captured has the
 * server say so (rf_captured_look_anew()).  Where that is to take effect at once,
 * nobody writes the table while it is done, as with a trigger: so who has locked a
 * table to write it finds what is captured from then on.
 *
 * The catalog is read here without SQL.  The session's role has no right to it, and
 * whatever a statement needs should not be in the way of every writer.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/namespace.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "utils/array.h"
#include "utils/hsearch.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "captured_columns.h"
#include "table_family.h"

/* The columns of the table "captured". */
#define CAPTURED_RELID 2
#define CAPTURED_COLUMNS 3

/* What is known of a table. */
typedef struct RfKnown
{
	Oid			relid;			/* hash key */
	Bitmapset  *columns;
} RfKnown;

static HTAB *known_tables;

/* How often something that was known, or was just being read, became void. */
static uint64 changes;

static void
forget(RfKnown *known)
{
	bms_free(known->columns);
	(void) hash_search(known_tables, &known->relid, HASH_REMOVE, NULL);
}

/* A table has changed, or all have. */
static void
table_changed(Datum arg, Oid relid)
{
	HASH_SEQ_STATUS scan;
	RfKnown    *known;

	(void) arg;
	changes++;
	if (OidIsValid(relid))
	{
		known = hash_search(known_tables, &relid, HASH_FIND, NULL);
		if (known != NULL)
			forget(known);
		return;
	}
	hash_seq_init(&scan, known_tables);
	while ((known = hash_seq_search(&scan)) != NULL)
		forget(known);
}

static void
begin_to_know(void)
{
	HASHCTL		control = {
		.keysize = sizeof(Oid),
		.entrysize = sizeof(RfKnown),
		.hcxt = CacheMemoryContext
	};

	known_tables = hash_create("replace_flow captured tables", 16, &control,
							   HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	CacheRegisterRelcacheCallback(table_changed, (Datum) 0);
}

/* Remember what was found. */
static void
know(Oid relid, const Bitmapset *columns)
{
	MemoryContext caller = MemoryContextSwitchTo(CacheMemoryContext);
	Bitmapset  *copy = bms_copy(columns);
	RfKnown    *known;
	bool		found;

	MemoryContextSwitchTo(caller);
	known = hash_search(known_tables, &relid, HASH_ENTER, &found);
	known->columns = copy;
}

/*
 * Attribute numbers, as the catalog has them.
 */
Bitmapset *
rf_captured_columns_of_array(Datum array)
{
	Bitmapset  *columns = NULL;
	Datum	   *values;
	int			count;

	deconstruct_array(DatumGetArrayTypeP(array), INT2OID, sizeof(int16), true, TYPALIGN_SHORT,
					  &values, NULL, &count);
	for (int i = 0; i < count; i++)
		columns = bms_add_member(columns, DatumGetInt16(values[i]));
	return columns;
}

/* The column that another table of the family calls the same; 0: there is none (any more). */
static AttrNumber
column_called_the_same(Oid relid, Oid captured, AttrNumber attnum)
{
	HeapTuple	tuple = SearchSysCacheAttNum(captured, attnum);
	AttrNumber	found;

	if (!HeapTupleIsValid(tuple))
		return InvalidAttrNumber;
	found = relid == captured ? attnum :
		get_attnum(relid, NameStr(((Form_pg_attribute) GETSTRUCT(tuple))->attname));
	ReleaseSysCache(tuple);
	return found;
}

/* Add those of the columns of a captured table that another one of its family has. */
static Bitmapset *
add_columns(Bitmapset *columns, Oid relid, Oid captured, const Bitmapset *wanted)
{
	int			attnum = -1;

	if (bms_is_empty(wanted))
		return bms_add_member(columns, 0);
	while ((attnum = bms_next_member(wanted, attnum)) >= 0)
		columns = bms_add_member(columns, column_called_the_same(relid, captured, attnum));
	return columns;
}

/* The table of the catalog that says what is captured; or InvalidOid. */
static Oid
catalog_of_captured(void)
{
	Oid			namespace = get_namespace_oid("replace_flow", true);

	return OidIsValid(namespace) ? get_relname_relid("captured", namespace) : InvalidOid;
}

/* Whether rows of a captured table change when another one is written. */
static bool
is_written_through(Oid captured, Oid relid, List *ancestors, bool has_parts)
{
	if (captured == relid || list_member_oid(ancestors, captured))
		return true;
	if (!has_parts)
		return false;
	/* partitions have one parent */
	return list_member_oid(get_rel_relkind(relid) == RELKIND_RELATION ?
						   rf_table_relatives(captured) : rf_table_ancestors(captured), relid);
}

/* What a row of it says. */
static Bitmapset *
add_row(Bitmapset *columns, Oid relid, List *ancestors, bool has_parts,
		HeapTuple row, TupleDesc desc)
{
	bool		isnull;
	Oid			captured = DatumGetObjectId(heap_getattr(row, CAPTURED_RELID, desc, &isnull));

	if (is_written_through(captured, relid, ancestors, has_parts))
		return add_columns(columns, relid, captured,
						   rf_captured_columns_of_array(heap_getattr(row, CAPTURED_COLUMNS,
																	 desc, &isnull)));
	return columns;
}

static Bitmapset *
read_columns(Relation relation)
{
	Oid			relid = RelationGetRelid(relation);
	Oid			catalog = catalog_of_captured();
	bool		has_parts = relation->rd_rel->relhassubclass;
	Bitmapset  *columns = NULL;
	List	   *ancestors;
	Relation	captured;
	SysScanDesc scan;
	HeapTuple	row;

	if (!OidIsValid(catalog))
		return NULL;
	ancestors = rf_table_ancestors(relid);
	captured = table_open(catalog, AccessShareLock);
	/* under a new snapshot, whatever the transaction's own is */
	scan = systable_beginscan(captured, InvalidOid, false, NULL, 0, NULL);
	while (HeapTupleIsValid(row = systable_getnext(scan)))
		columns = add_row(columns, relid, ancestors, has_parts, row,
						  RelationGetDescr(captured));
	systable_endscan(scan);
	table_close(captured, AccessShareLock);
	return columns;
}

/*
 * Those columns of a table, locked to be written, that matter to flows which read
 * it, a part of it or what it is a part of.  That 0 is one of them means that to
 * some flow all changes matter: it has named no column, or one that this table has
 * not.  NULL: nobody wants to know.  It is the caller's.
 */
Bitmapset *
rf_captured_columns(Relation relation)
{
	Oid			relid = RelationGetRelid(relation);
	RfKnown    *known;
	Bitmapset  *columns;
	uint64		changes_before;

	if (known_tables == NULL)
		begin_to_know();
	known = hash_search(known_tables, &relid, HASH_FIND, NULL);
	if (known != NULL)
		return bms_copy(known->columns);
	changes_before = changes;
	columns = read_columns(relation);
	if (changes == changes_before)
		know(relid, columns);
	return columns;
}
