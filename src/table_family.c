/*-------------------------------------------------------------------------
 *
 * table_family.c
 *	  Tables that hold rows of each other.
 *
 * Rows of a table are also in its partitions and children, which can be written
 * by their own names; and they come through each table that it is a part of.  A
 * statement fires the triggers of statements of the table that it names, and of
 * no other.  So who wants to know what happens to a table needs triggers on all
 * of these.  A child can have several parents, and its rows come through each.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/catalog.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "utils/acl.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

#include "table_family.h"

/*
 * A view, a materialized view and a foreign table cannot, as we want them; and
 * nobody else sees a temporary child.
 */
bool
rf_table_can_have_triggers(Oid relid)
{
	char		relkind = get_rel_relkind(relid);

	return (relkind == RELKIND_RELATION || relkind == RELKIND_PARTITIONED_TABLE) &&
		get_rel_persistence(relid) != RELPERSISTENCE_TEMP && !IsCatalogRelationOid(relid);
}

/* The tables that a table is a part of directly. */
static List *
parents(Relation inherits, Oid relid)
{
	List	   *parents = NIL;
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;

	ScanKeyInit(&key, Anum_pg_inherits_inhrelid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(relid));
	scan = systable_beginscan(inherits, InheritsRelidSeqnoIndexId, true, NULL, 1, &key);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
		parents = lappend_oid(parents, ((Form_pg_inherits) GETSTRUCT(tuple))->inhparent);
	systable_endscan(scan);
	return parents;
}

static List *
add_ancestors(List *ancestors, Relation inherits, Oid relid)
{
	ListCell   *cell;

	foreach(cell, parents(inherits, relid))
	{
		ancestors = add_ancestors(ancestors, inherits, lfirst_oid(cell));
		ancestors = list_append_unique_oid(ancestors, lfirst_oid(cell));
	}
	return ancestors;
}

/*
 * The tables that a table is a part of, each after those that it is a part of
 * itself.  None of them is locked.
 */
List *
rf_table_ancestors(Oid relid)
{
	Relation	inherits = table_open(InheritsRelationId, AccessShareLock);
	List	   *ancestors = add_ancestors(NIL, inherits, relid);

	table_close(inherits, AccessShareLock);
	return ancestors;
}

/*
 * A table, its partitions and children; none of them is locked.
 */
List *
rf_table_with_parts(Oid relid)
{
	return find_all_inheritors(relid, NoLock, NULL);
}

/*
 * Whether rows of a table are in foreign tables.  Then the server refuses to show
 * a trigger what a statement does to the table.
 */
bool
rf_table_has_foreign_parts(Oid relid)
{
	ListCell   *cell;

	foreach(cell, rf_table_with_parts(relid))
	{
		if (get_rel_relkind(lfirst_oid(cell)) == RELKIND_FOREIGN_TABLE)
			return true;
	}
	return false;
}

/*
 * Whether rows of a table are in unlogged ones.  A crash empties these, and nobody
 * sees it.
 */
bool
rf_table_is_unlogged(Oid relid)
{
	ListCell   *cell;

	foreach(cell, rf_table_with_parts(relid))
	{
		if (get_rel_persistence(lfirst_oid(cell)) == RELPERSISTENCE_UNLOGGED)
			return true;
	}
	return false;
}

/*
 * All tables that can be named to change rows of a table, each after those that it
 * is a part of; none of them is locked.
 */
List *
rf_table_relatives(Oid relid)
{
	List	   *parts = rf_table_with_parts(relid);
	List	   *family = rf_table_ancestors(relid);
	ListCell   *cell;

	/* what a partition is a part of is there already */
	foreach(cell, parts)
	{
		List	   *ancestors = get_rel_relispartition(lfirst_oid(cell)) ? NIL :
			rf_table_ancestors(lfirst_oid(cell));

		family = list_concat_unique_oid(family, list_difference_oid(ancestors, parts));
	}
	return list_concat_unique_oid(family, parts);
}

/*
 * Whether a role may have triggers made on a table that can have them.
 */
bool
rf_table_may_be_watched(Oid relid, Oid role)
{
	return rf_table_can_have_triggers(relid) &&
		pg_class_aclcheck(relid, role, ACL_TRIGGER) == ACLCHECK_OK;
}

/*
 * The tables that need triggers for a role that wants to know what happens to one,
 * each after those that it is a part of.  Who may watch a table may watch its parts,
 * but not what they are a part of besides.
 */
List *
rf_table_to_watch(Oid relid, Oid role)
{
	List	   *tables = NIL;
	List	   *parts = rf_table_with_parts(relid);
	ListCell   *cell;

	foreach(cell, rf_table_relatives(relid))
	{
		Oid			member = lfirst_oid(cell);

		if (list_member_oid(parts, member) ? rf_table_can_have_triggers(member) :
			rf_table_may_be_watched(member, role))
			tables = lappend_oid(tables, member);
	}
	return tables;
}
