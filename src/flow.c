/*-------------------------------------------------------------------------
 *
 * flow.c
 *	  A flow in memory.
 *
 * A flow is found by its name, checked against the caller, and then opened:
 * opening looks at the tables as they are now.  A run locks the flow first,
 * then its tables, and opens it only then.  To change a flow it is enough to
 * open its definition, so that one can be mended that cannot run.
 *
 * The flow's view holds what the creator wrote: query, sequence, tombstone
 * condition and expectations are its columns, so that the server itself keeps
 * their names and operators as they were meant.  The catalog says which of
 * the view's columns goes to which column of the target, by attribute number,
 * so that a renamed column is followed.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/dependency.h"
#include "catalog/namespace.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_class.h"
#include "catalog/pg_extension.h"
#include "commands/extension.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/guc.h"
#include "utils/inval.h"
#include "utils/jsonb.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

#include "flow.h"
#include "flow_catalog.h"
#include "flow_query.h"
#include "regcolumn.h"
#include "role.h"
#include "sql_text.h"

static const char *const kind_names[] = {"using", "where"};
static const char *const tie_names[] = {"append", "ignore", "replace"};
static const char *const action_names[] = {"warn", "drop", "fail"};

const char *
rf_flow_kind_name(RfFlowKind kind)
{
	return kind_names[kind];
}

/*
 * The catalog's word for a kind.
 */
RfFlowKind
rf_flow_kind_parse(const char *name)
{
	return strcmp(name, kind_names[RF_WHERE]) == 0 ? RF_WHERE : RF_USING;
}

const char *
rf_tie_name(RfTie tie)
{
	return tie_names[tie];
}

/* The position of a name among those that a parameter knows. */
static int
parse_choice(const char *parameter, const char *value, const char *const names[3])
{
	for (int i = 0; i < 3; i++)
	{
		if (strcmp(value, names[i]) == 0)
			return i;
	}
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("%s \"%s\" is not known", parameter, value),
			 errhint("Use \"%s\", \"%s\" or \"%s\".", names[0], names[1], names[2])));
}

RfTie
rf_tie_parse(const char *name)
{
	return (RfTie) parse_choice("on_tie", name, tie_names);
}

const char *
rf_action_name(RfAction action)
{
	return action_names[action];
}

RfAction
rf_action_parse(const char *name)
{
	return (RfAction) parse_choice("action", name, action_names);
}

/*
 * Helper objects are named from the flow's id: names of users never meet.
 */
char *
rf_flow_view_name(int32 flow_id)
{
	return psprintf("flow_%d", flow_id);
}

char *
rf_flow_ledger_name(int32 flow_id)
{
	return psprintf("floor_%d", flow_id);
}

char *
rf_flow_window_name(int32 flow_id)
{
	return psprintf("window_%d", flow_id);
}

/*
 * Whether this database has the extension; who is not a function of it may find
 * it gone.  A commit wakes our processes before it tells all sessions what has
 * changed in the system catalog, so what is cached of it may be out of date.
 */
bool
rf_flow_extension_exists(void)
{
	Snapshot	snapshot = RegisterSnapshot(GetLatestSnapshot());
	Relation	catalog = table_open(ExtensionRelationId, AccessShareLock);
	ScanKeyData key;
	SysScanDesc scan;
	bool		result;

	ScanKeyInit(&key, Anum_pg_extension_extname, BTEqualStrategyNumber, F_NAMEEQ,
				CStringGetDatum("replace_flow"));
	scan = systable_beginscan(catalog, ExtensionNameIndexId, true, snapshot, 1, &key);
	result = HeapTupleIsValid(systable_getnext(scan));
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
	UnregisterSnapshot(snapshot);
	return result;
}

Oid
rf_flow_namespace(void)
{
	return get_namespace_oid("replace_flow", false);
}

/*
 * An object of our schema by name and kind: the owner of a ledger can give its
 * index any name.
 */
static Oid
find_helper(const char *name, char relkind)
{
	Oid			relid = get_relname_relid(name, rf_flow_namespace());

	return get_rel_relkind(relid) == relkind ? relid : InvalidOid;
}

/*
 * A flow's helper objects as they are now, or InvalidOid.
 */
Oid
rf_flow_find_view(int32 flow_id)
{
	return find_helper(rf_flow_view_name(flow_id), RELKIND_VIEW);
}

Oid
rf_flow_find_ledger(int32 flow_id)
{
	return find_helper(rf_flow_ledger_name(flow_id), RELKIND_RELATION);
}

Oid
rf_flow_find_window(int32 flow_id)
{
	return find_helper(rf_flow_window_name(flow_id), RELKIND_VIEW);
}

/*
 * Helper objects go when the extension goes.
 */
void
rf_flow_depend_on_extension(Oid class, Oid object_id)
{
	ObjectAddress object = {class, object_id, 0};
	ObjectAddress extension = {ExtensionRelationId, InvalidOid, 0};

	extension.objectId = get_extension_oid("replace_flow", false);
	recordDependencyOn(&object, &extension, DEPENDENCY_AUTO_EXTENSION);
}

static void
report_unknown(const char *name)
{
	char	   *similar = rf_catalog_similar_flow(name, GetUserId());

	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_OBJECT),
			 errmsg("flow \"%s\" does not exist", name),
			 similar != NULL ? errhint("Perhaps you meant the flow \"%s\".", similar) :
			 errhint("View replace_flow.flows lists the flows that there are.")));
}

static void
add_setting(RfFlow *flow, char *name, char *value)
{
	RfSetting  *setting = palloc(sizeof(RfSetting));

	setting->name = name;
	setting->value = value;
	flow->settings = lappend(flow->settings, setting);
}

/* Those of the creating session come first: the flow's own may differ. */
static void
load_settings(RfFlow *flow, const RfRow *row)
{
	bool		isnull;
	Datum		settings = rf_row_datum(row, "settings", &isnull);
	RfRow	   *rows;
	int			nrows = 0;

	add_setting(flow, "IntervalStyle", rf_row_text(row, "interval_style"));
	add_setting(flow, "DateStyle", rf_row_text(row, "date_style"));
	add_setting(flow, "TimeZone", rf_row_text(row, "time_zone"));
	if (JB_ROOT_COUNT(DatumGetJsonbP(settings)) > 0)
		nrows = rf_catalog_settings(settings, &rows);
	for (int i = 0; i < nrows; i++)
		add_setting(flow, rf_row_text(&rows[i], "name"), rf_row_text(&rows[i], "value"));
}

/* The owner of a relation, or InvalidOid. */
static Oid
owner_of(Oid relid)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
	Oid			owner = InvalidOid;

	if (HeapTupleIsValid(tuple))
	{
		owner = ((Form_pg_class) GETSTRUCT(tuple))->relowner;
		ReleaseSysCache(tuple);
	}
	return owner;
}

/*
 * A flow belongs to who owns its view, as replace_flow.flow_owner() says too.
 * A dump may have left the view out.
 */
Oid
rf_flow_owner(int32 flow_id, Oid target)
{
	Oid			view = rf_flow_find_view(flow_id);

	return owner_of(OidIsValid(view) ? view : target);
}

/*
 * Whether the present role may see a flow, as the policy of the catalog says.
 */
bool
rf_flow_is_visible(int32 flow_id, Oid target)
{
	return has_privs_of_role(GetUserId(), rf_flow_owner(flow_id, target)) ||
		has_privs_of_role(GetUserId(), ROLE_PG_MONITOR);
}

static List *
load_expectations(int32 flow_id)
{
	RfRow	   *rows;
	int			nrows = rf_catalog_expectations(flow_id, &rows);
	List	   *expectations = NIL;

	for (int i = 0; i < nrows; i++)
	{
		RfExpectation *expectation = palloc(sizeof(RfExpectation));

		expectation->name = rf_row_text(&rows[i], "name");
		expectation->action = rf_action_parse(rf_row_text(&rows[i], "action"));
		expectation->view_column = rf_row_text(&rows[i], "view_column");
		expectations = lappend(expectations, expectation);
	}
	return expectations;
}

static void
load_using(RfFlow *flow, const RfRow *row)
{
	flow->source = rf_row_oid(row, "source");
	flow->on_tie = rf_tie_parse(rf_row_text(row, "on_tie"));
	flow->has_ledger = rf_row_bool(row, "has_ledger");
	flow->key_outputs = rf_catalog_text_array(row, "replace_using", &flow->nkeys);
	flow->sequence_view_column = rf_row_text(row, "sequence_column");
	flow->tombstone_view_column = rf_row_text(row, "tombstone_column");
}

static void
load_where(RfFlow *flow, const RfRow *row)
{
	flow->reset_allowed = rf_row_bool(row, "reset_allowed");
	flow->allow_empty = rf_row_bool(row, "allow_empty");
}

/* What the catalog alone says of a flow. */
static RfFlow *
load(const RfRow *row)
{
	RfFlow	   *flow = palloc0(sizeof(RfFlow));
	bool		isnull;

	flow->id = (int32) rf_row_int64(row, "flow_id");
	flow->kind = rf_flow_kind_parse(rf_row_text(row, "kind"));
	flow->name = rf_row_text(row, "name");
	flow->target = rf_row_oid(row, "target");
	flow->owner = rf_flow_owner(flow->id, flow->target);
	flow->definition_version = (int32) rf_row_int64(row, "definition_version");
	flow->keep_rejected = rf_row_bool(row, "keep_rejected");
	flow->paused = rf_row_bool(row, "paused");
	flow->outputs = rf_catalog_text_array(row, "output_columns", &flow->noutputs);
	flow->output_attnums = rf_regcolumn_attnums(rf_row_datum(row, "target_columns", &isnull),
												flow->target, &flow->noutputs);
	load_settings(flow, row);
	if (flow->kind == RF_USING)
		load_using(flow, row);
	else
		load_where(flow, row);
	return flow;
}

/*
 * Find a flow by name, or raise an error.
 */
RfFlow *
rf_flow_find(const char *name)
{
	RfRow		row;

	if (!rf_catalog_find_flow(name, &row))
		report_unknown(name);
	return load(&row);
}

/*
 * Lock a flow against other runs and changes, until the transaction ends.
 * Gives NULL when it would have to wait and must not.
 */
RfFlow *
rf_flow_lock(const char *name, bool wait)
{
	RfRow		row;

	if (rf_catalog_lock_flow(name, wait, &row))
	{
		/* to wait for a row is not to learn what happened meanwhile */
		AcceptInvalidationMessages();
		return load(&row);
	}
	if (wait || !rf_catalog_find_flow(name, &row))
		report_unknown(name);
	return NULL;
}

/*
 * A flow may be run and changed by its owner, members of that role and
 * superusers.
 */
void
rf_flow_check_caller(const RfFlow *flow)
{
	if (!has_privs_of_role(GetUserId(), flow->owner))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied for flow \"%s\"", flow->name),
				 errdetail("The flow belongs to role \"%s\".",
						   rf_role_name(flow->owner)),
				 errhint("Run it as that role or as a member of it.")));
}

/*
 * What is meant for flows of one kind.
 */
void
rf_flow_check_kind(const RfFlow *flow, RfFlowKind kind)
{
	if (flow->kind != kind)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("flow \"%s\" is not a %s flow", flow->name, rf_flow_kind_name(kind)),
				 errdetail("It is a %s flow.", rf_flow_kind_name(flow->kind)),
				 errhint("Using flows are run by replace_flow.apply(), where flows by replace_flow.refresh().")));
}

/*
 * A transaction that keeps its first snapshot does not see what was done before
 * it had its locks.
 */
void
rf_flow_check_isolation(const char *name, const char *deed)
{
	if (IsolationUsesXactSnapshot())
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("flow \"%s\" cannot %s in a transaction with isolation level REPEATABLE READ or SERIALIZABLE",
						name, deed),
				 errdetail("Such a transaction sees the tables as they were before they are locked."),
				 errhint("Use a transaction with isolation level READ COMMITTED.")));
}

static void
report_missing(const RfFlow *flow, const char *what)
{
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_TABLE),
			 errmsg("%s flow \"%s\" no longer exists", what, flow->name),
			 errhint("Remove the flow with replace_flow.drop_flow() and create it again.")));
}

/*
 * Describe the stored columns: those of the target that the view gives.
 */
static void
open_columns(RfFlow *flow)
{
	const AttrNumber *attnums = flow->output_attnums;
	Relation	target = table_open(flow->target, AccessShareLock);
	TupleDesc	desc = RelationGetDescr(target);
	int			ncolumns = 0;

	flow->column_outputs = palloc(flow->noutputs * sizeof(int));
	for (int i = 0; i < flow->noutputs; i++)
	{
		if (attnums[i] == 0)
			continue;
		if (attnums[i] < 0 || attnums[i] > desc->natts ||
			TupleDescAttr(desc, attnums[i] - 1)->attisdropped)
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_COLUMN),
					 errmsg("column \"%s\" of the target of flow \"%s\" no longer exists",
							flow->outputs[i], flow->name),
					 errdetail("The flow's query gives the column, and table \"%s\" has lost it.",
							   RelationGetRelationName(target)),
					 errhint("Give the flow a query without it with replace_flow.alter_flow(); or add the column and give it the same query.")));
		flow->column_outputs[ncolumns++] = i;
	}

	flow->columns = CreateTemplateTupleDesc(ncolumns);
	for (int i = 0; i < ncolumns; i++)
		TupleDescCopyEntry(flow->columns, i + 1, desc, attnums[flow->column_outputs[i]]);
	table_close(target, NoLock);
}

/* The position of an output column among the stored ones, or -1. */
static int
stored_position(const RfFlow *flow, const char *output)
{
	for (int i = 0; i < flow->columns->natts; i++)
	{
		if (strcmp(flow->outputs[flow->column_outputs[i]], output) == 0)
			return i;
	}
	return -1;
}

/*
 * The view belongs to the flow's owner, who could have put something else in its
 * place.
 */
void
rf_flow_report_changed_view(const RfFlow *flow, Oid view)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("the view of flow \"%s\" was changed", flow->name),
			 errdetail("View \"%s\" is the extension's own, and no longer what it made.",
					   get_rel_name(view)),
			 errhint("Remove the flow with replace_flow.drop_flow() and create it again.")));
}

static RfType
view_column_type(const RfFlow *flow, const char *name)
{
	AttrNumber	attnum = get_attnum(flow->view, name);

	if (attnum == InvalidAttrNumber)
		rf_flow_report_changed_view(flow, flow->view);
	return rf_type_of_column(flow->view, attnum);
}

/*
 * The type of a sequence that is not stored is that of the view's column.
 */
static void
open_sequence(RfFlow *flow)
{
	flow->sequence_column = stored_position(flow, flow->sequence_view_column);
	if (flow->sequence_column >= 0)
		flow->sequence_type = rf_flow_column_type(flow, flow->sequence_column);
	else
		flow->sequence_type = view_column_type(flow, flow->sequence_view_column);
}

static void
open_read_types(RfFlow *flow)
{
	int			count = 0;
	ListCell   *cell;

	flow->read_types = palloc((flow->noutputs + list_length(flow->extras)) * sizeof(Oid));
	flow->output_types = palloc(flow->noutputs * sizeof(RfType));
	for (int i = 0; i < flow->noutputs; i++)
	{
		flow->output_types[i] = view_column_type(flow, flow->outputs[i]);
		flow->read_types[count++] = flow->output_types[i].type;
	}
	foreach(cell, flow->extras)
		flow->read_types[count++] = view_column_type(flow, lfirst(cell)).type;
}

/*
 * Say what a run reads of the view, in which order: the outputs first.
 */
static void
open_extras(RfFlow *flow)
{
	ListCell   *cell;

	flow->extras = NIL;
	flow->sequence_extra = flow->tombstone_extra = -1;
	if (flow->kind == RF_USING && flow->sequence_column < 0)
	{
		flow->sequence_extra = flow->noutputs;
		flow->extras = lappend(flow->extras, flow->sequence_view_column);
	}
	if (flow->tombstone_view_column != NULL)
	{
		flow->tombstone_extra = flow->noutputs + list_length(flow->extras);
		flow->extras = lappend(flow->extras, flow->tombstone_view_column);
	}
	flow->first_expectation = flow->noutputs + list_length(flow->extras);
	foreach(cell, flow->expectations)
		flow->extras = lappend(flow->extras, ((RfExpectation *) lfirst(cell))->view_column);
	open_read_types(flow);
}

static void
check_still_sortable(const RfFlow *flow, const char *column, RfType type)
{
	if (!rf_type_is_sortable(type.type))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_FUNCTION),
				 errmsg("column \"%s\" of flow \"%s\" can no longer be sorted",
						column, flow->name),
				 errdetail("Its type is now %s, which has no default btree operator class.",
						   format_type_be(type.type)),
				 errhint("Give the column a sortable type again.")));
}

static void
check_ledger_column(const RfFlow *flow, const char *column, RfType type)
{
	AttrNumber	attnum = get_attnum(flow->ledger, column);
	RfType		kept;

	if (attnum == InvalidAttrNumber)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("the ledger of flow \"%s\" has lost column \"%s\"", flow->name, column),
				 errdetail("Table \"%s\" is the extension's own.", get_rel_name(flow->ledger)),
				 errhint("Remove the flow with replace_flow.drop_flow() and create it again.")));
	kept = rf_type_of_column(flow->ledger, attnum);
	if (!rf_type_is_same(kept, type))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("column \"%s\" of the ledger of flow \"%s\" no longer fits the target",
						column, flow->name),
				 errdetail("The ledger has type %s, the target has type %s, or their collations differ.",
						   format_type_with_typemod(kept.type, kept.typmod),
						   format_type_with_typemod(type.type, type.typmod)),
				 errhint("%s", rf_sql_alter_column_type(flow->ledger, column, type))));
}

/*
 * A column of the target may have got another type since the flow was created.
 */
static void
check_types(const RfFlow *flow)
{
	for (int i = 0; i < flow->nkeys; i++)
	{
		RfType		type = rf_flow_column_type(flow, flow->keys[i]);

		check_still_sortable(flow, flow->key_outputs[i], type);
		if (OidIsValid(flow->ledger))
			check_ledger_column(flow, rf_sql_ledger_key(i), type);
	}
	check_still_sortable(flow, flow->sequence_view_column, flow->sequence_type);
	if (OidIsValid(flow->ledger))
		check_ledger_column(flow, RF_LEDGER_SEQUENCE, flow->sequence_type);
}

/* What floors are of, and where they are kept. */
static void
open_floors(RfFlow *flow)
{
	flow->keys = palloc(flow->nkeys * sizeof(int));
	for (int i = 0; i < flow->nkeys; i++)
		flow->keys[i] = stored_position(flow, flow->key_outputs[i]);
	open_sequence(flow);
	check_types(flow);
}

/*
 * Look at what the extension itself keeps of a flow.
 */
void
rf_flow_open_definition(RfFlow *flow)
{
	if (get_rel_name(flow->target) == NULL)
		report_missing(flow, "the target of");
	if (flow->kind == RF_USING && get_rel_name(flow->source) == NULL)
		report_missing(flow, "the stream of");
	flow->view = rf_flow_find_view(flow->id);
	if (!OidIsValid(flow->view))
		report_missing(flow, "a table that is read by");
	LockRelationOid(flow->view, AccessShareLock);
	flow->ledger = flow->window = InvalidOid;
	if (flow->kind == RF_WHERE)
	{
		flow->window = rf_flow_find_window(flow->id);
		if (!OidIsValid(flow->window))
			report_missing(flow, "the predicate of");
		LockRelationOid(flow->window, AccessShareLock);
	}
	if (flow->has_ledger)
	{
		flow->ledger = rf_flow_find_ledger(flow->id);
		if (!OidIsValid(flow->ledger))
			report_missing(flow, "the ledger of");
		LockRelationOid(flow->ledger, RowExclusiveLock);
	}
	flow->expectations = load_expectations(flow->id);
}

/*
 * Look at all of the flow's tables as they are now.  A run holds its locks on
 * them.
 */
void
rf_flow_open(RfFlow *flow)
{
	rf_flow_open_definition(flow);
	open_columns(flow);
	flow->sequence_column = -1;
	if (flow->kind == RF_USING)
		open_floors(flow);
	open_extras(flow);
}

/*
 * Act as the flow's owner, under the settings of the flow.
 */
void
rf_flow_assume(RfRoleGuard *guard, const RfFlow *flow)
{
	ListCell   *cell;

	rf_role_assume(guard, flow->owner);
	foreach(cell, flow->settings)
	{
		RfSetting  *setting = lfirst(cell);

		rf_role_set(setting->name, setting->value);
	}
}

/*
 * What decides how times and intervals are read, at the present nest level.
 */
void
rf_flow_set_creator_settings(const RfFlow *flow)
{
	ListCell   *cell;

	foreach(cell, flow->settings)
	{
		RfSetting  *setting = lfirst(cell);

		if (pg_strcasecmp(setting->name, "TimeZone") == 0 ||
			pg_strcasecmp(setting->name, "DateStyle") == 0 ||
			pg_strcasecmp(setting->name, "IntervalStyle") == 0)
			rf_role_set(setting->name, setting->value);
	}
}

RfType
rf_flow_column_type(const RfFlow *flow, int column)
{
	return rf_type_of(TupleDescAttr(flow->columns, column));
}

/*
 * The number that a stored column has in the target.
 */
AttrNumber
rf_flow_column_attnum(const RfFlow *flow, int column)
{
	return flow->output_attnums[flow->column_outputs[column]];
}

/*
 * A stored column, of the only relation of a query on the target.
 */
Node *
rf_flow_column_var(const RfFlow *flow, int column)
{
	RfType		type = rf_flow_column_type(flow, column);

	return (Node *) makeVar(1, rf_flow_column_attnum(flow, column), type.type, type.typmod,
							type.collation, 0);
}

/*
 * The position of an output column, or -1.
 */
int
rf_flow_output(const RfFlow *flow, const char *name)
{
	return rf_name_position(name, flow->noutputs, flow->outputs);
}

/*
 * The target's column that stores an output column, or 0.
 */
AttrNumber
rf_flow_attnum(const RfFlow *flow, const char *output)
{
	int			position = rf_flow_output(flow, output);

	return position < 0 ? 0 : flow->output_attnums[position];
}
