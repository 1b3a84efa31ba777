/*-------------------------------------------------------------------------
 *
 * foreign_key.c
 *	  Foreign keys that reference a table.
 *
 * The server keeps no list of them, but each has triggers on the table that it
 * references, which the relation cache knows.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_inherits.h"
#include "commands/trigger.h"
#include "utils/array.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "foreign_key.h"
#include "sql_text.h"

static List *
referenced_columns(HeapTuple tuple, Oid referenced)
{
	List	   *names = NIL;
	bool		isnull;
	Datum		array = SysCacheGetAttr(CONSTROID, tuple, Anum_pg_constraint_confkey, &isnull);
	ArrayType  *attnums;

	if (isnull)
		return NIL;
	attnums = DatumGetArrayTypeP(array);
	for (int i = 0; i < ARR_DIMS(attnums)[0]; i++)
		names = lappend(names, get_attname(referenced, ((int16 *) ARR_DATA_PTR(attnums))[i],
										   false));
	return names;
}

static RfForeignKey *
describe(HeapTuple tuple, Oid referenced)
{
	Form_pg_constraint constraint = (Form_pg_constraint) GETSTRUCT(tuple);
	RfForeignKey *key = palloc(sizeof(RfForeignKey));

	key->constraint = constraint->oid;
	key->name = pstrdup(NameStr(constraint->conname));
	key->table = constraint->conrelid;
	key->on_delete = constraint->confdeltype;
	key->columns = referenced_columns(tuple, referenced);
	return key;
}

static bool
is_known(List *keys, Oid constraint)
{
	ListCell   *cell;

	foreach(cell, keys)
	{
		if (((RfForeignKey *) lfirst(cell))->constraint == constraint)
			return true;
	}
	return false;
}

/*
 * Add the keys whose triggers a relation has.  A key that references a
 * partitioned table has offspring for its partitions, which say nothing new.
 */
static List *
add_keys_of(List *keys, Relation relation)
{
	TriggerDesc *triggers = relation->trigdesc;

	for (int i = 0; triggers != NULL && i < triggers->numtriggers; i++)
	{
		Trigger    *trigger = &triggers->triggers[i];
		HeapTuple	tuple;

		if (RI_FKey_trigger_type(trigger->tgfoid) != RI_TRIGGER_PK ||
			is_known(keys, trigger->tgconstraint))
			continue;
		tuple = SearchSysCache1(CONSTROID, ObjectIdGetDatum(trigger->tgconstraint));
		if (!HeapTupleIsValid(tuple))
			continue;
		if (!OidIsValid(((Form_pg_constraint) GETSTRUCT(tuple))->conparentid))
			keys = lappend(keys, describe(tuple, RelationGetRelid(relation)));
		ReleaseSysCache(tuple);
	}
	return keys;
}

static int
compare_keys(const ListCell *cell1, const ListCell *cell2)
{
	const RfForeignKey *key1 = lfirst(cell1);
	const RfForeignKey *key2 = lfirst(cell2);
	int			order = strcmp(key1->name, key2->name);

	if (order == 0)
		order = strcmp(rf_sql_relation(key1->table), rf_sql_relation(key2->table));
	return order;
}

/*
 * The foreign keys, of any table, that reference a table or a partition of it,
 * by name, so that their order outlives a dump.
 */
List *
rf_foreign_keys(Oid referenced)
{
	List	   *keys = NIL;
	ListCell   *cell;

	foreach(cell, find_all_inheritors(referenced, AccessShareLock, NULL))
	{
		Relation	relation = table_open(lfirst_oid(cell), NoLock);

		keys = add_keys_of(keys, relation);
		table_close(relation, NoLock);
	}
	list_sort(keys, compare_keys);
	return keys;
}
