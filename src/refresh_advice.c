/*-------------------------------------------------------------------------
 *
 * refresh_advice.c
 *	  What a user can do so that refreshes cost what changed.
 *
 * When a flow is defined, warnings say what will make each of its refreshes a
 * complete one, and how to avoid that; the codes are those of the reasons that runs
 * record (refresh_reason.c).  What only some changes will do is told as a notice.
 *
 * A refresh that looks for some groups in a table needs an index: the columns that
 * the groups are plain values of first, in any order, and then the column that a
 * group is a range of.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/pg_am.h"
#include "catalog/pg_index.h"
#include "utils/acl.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "compat.h"
#include "monotone.h"
#include "query_level.h"
#include "refresh_advice.h"
#include "refresh_reason.h"
#include "repeatable.h"
#include "role.h"
#include "source_trace.h"
#include "sql_text.h"
#include "table_family.h"
#include "where_predicate.h"

static void
warn(const RfFlow *flow, const char *detail, const char *hint)
{
	ereport(WARNING,
			(errmsg("each refresh of flow \"%s\" will recompute its whole window", flow->name),
			 errdetail("%s.", detail),
			 errhint("%s", hint)));
}

static void
warn_of_query(const RfFlow *flow, const RfSources *sources)
{
	warn(flow, rf_reason_of_query(sources->culprit),
		 "Take it out of the query. A condition on the time belongs into replace_where. To keep "
		 "the time at which a row was inserted, give the target a column with a default, and leave "
		 "it out of the query. A function that gives the same for the same arguments can be "
		 "marked IMMUTABLE.");
}

static void
warn_of_predicate(const RfFlow *flow, const char *culprit)
{
	warn(flow, rf_reason_of_predicate(culprit),
		 "Compare columns with what it gives for constants, or mark it IMMUTABLE if it is.");
}

static void
warn_of_table(const RfFlow *flow, const RfSource *source, const char *obstacle)
{
	warn(flow, psprintf("UNTRACKED_SOURCE: %s", obstacle),
		 rf_table_is_unlogged(source->relid) ?
		 psprintf("Make it logged, with ALTER TABLE ... SET LOGGED for \"%s\" or each of its "
				  "parts.", get_rel_name(source->relid)) :
		 psprintf("Nobody sees its changes. Copy what the query needs of \"%s\" into an ordinary "
				  "table, or let refreshes be as rare as will do.", get_rel_name(source->relid)));
}

static void
warn_of_right(const RfFlow *flow, const RfSource *source)
{
	warn(flow, psprintf("UNTRACKED_SOURCE: role \"%s\" has no right to have triggers on \"%s\"",
						rf_role_name(flow->owner), get_rel_name(source->relid)),
		 psprintf("GRANT TRIGGER ON %s TO %s, and let the flow run.",
				  rf_sql_relation(source->relid), rf_sql_name(rf_role_name(flow->owner))));
}

/* Whether something keeps changes of a table from being seen; that is told, then. */
static bool
warned_of_source(const RfFlow *flow, const RfSource *source)
{
	char	   *obstacle = rf_source_obstacle(source);

	if (obstacle != NULL)
		warn_of_table(flow, source, obstacle);
	else if (pg_class_aclcheck(source->relid, flow->owner, ACL_TRIGGER) != ACLCHECK_OK)
		warn_of_right(flow, source);
	else
		return false;
	return true;
}

/* The tables whose changes cannot be told from each other, quoted, or NULL. */
static char *
shapeless_sources(const RfSources *sources, bool *all)
{
	char	   *names = NULL;
	ListCell   *cell;

	*all = true;
	foreach(cell, sources->sources)
	{
		const RfSource *source = lfirst(cell);
		char	   *name = psprintf("\"%s\"", get_rel_name(source->relid));

		if (source->groups != NULL)
			*all = false;
		else
			names = names == NULL ? name : psprintf("%s, %s", names, name);
	}
	return names;
}

static void
tell_of_shape(const RfFlow *flow, const RfSources *sources)
{
	bool		all;
	char	   *names = shapeless_sources(sources, &all);

	if (names == NULL)
		return;
	ereport(all ? WARNING : NOTICE,
			(errmsg("a change of %s will make the next refresh of flow \"%s\" recompute its whole window",
					names, flow->name),
			 errdetail("UNSUPPORTED_QUERY_SHAPE: it cannot be told which output rows a change affects."),
			 errhint("Let columns of the table get to the output: through GROUP BY, PARTITION BY and joins by equality; if it is on the optional side of an outer join, the columns that it is joined by. LIMIT, DISTINCT ON, other aggregates and subqueries in expressions hold them back.")));
}

/* What of the predicate depends on a row and on the time; the rest is computed once. */
static char *
row_culprit(const RfFlow *flow)
{
	return rf_repeatable_culprit(rf_predicate_for_rows(rf_predicate_own(flow)));
}

/*
 * Tell the owner of a flow that was just defined what will make its refreshes
 * complete.
 */
void
rf_refresh_warn(const RfFlow *flow, const RfSources *sources)
{
	char	   *culprit = row_culprit(flow);
	bool		warned = false;
	ListCell   *cell;

	if (sources->culprit != NULL)
	{
		warn_of_query(flow, sources);
		return;
	}
	if (culprit != NULL)
		warn_of_predicate(flow, culprit);
	foreach(cell, sources->sources)
		warned |= warned_of_source(flow, lfirst(cell));
	if (!warned)
		tell_of_shape(flow, sources);
}

/* The columns of a table by which its rows of a group are found. */
typedef struct RfPath
{
	List	   *equal;			/* of AttrNumber: those compared for equality */
	AttrNumber	ranged;			/* the one of which a range is taken, or 0 */
} RfPath;

static void
add_to_path(RfPath *path, Node *trace)
{
	List	   *vars = rf_condition_columns(trace);
	Var		   *var;

	if (list_length(vars) != 1)
		return;
	var = linitial_node(Var, vars);
	if (IsA(trace, Var))
		path->equal = list_append_unique_int(path->equal, var->varattno);
	else if (rf_monotone_is(trace, var))
		path->ranged = var->varattno;
}

static RfPath
path_of(const RfSource *source, const RfOccurrence *occurrence)
{
	RfPath		path = {NIL, InvalidAttrNumber};
	int			group = -1;

	while ((group = bms_next_member(source->groups, group)) >= 0)
		add_to_path(&path, occurrence->traces[group]);
	if (list_member_int(path.equal, path.ranged))
		path.ranged = InvalidAttrNumber;
	return path;
}

/* Whether the first columns of an index are all among some. */
static bool
begins_with(Form_pg_index index, int ncolumns, List *columns)
{
	for (int i = 0; i < ncolumns; i++)
	{
		if (!list_member_int(columns, index->indkey.values[i]))
			return false;
	}
	return true;
}

static bool
index_serves(Relation index, const RfPath *path)
{
	Form_pg_index form = index->rd_index;
	int			nequal = list_length(path->equal);
	bool		is_ranged = path->ranged != InvalidAttrNumber;

	if (index->rd_rel->relam != BTREE_AM_OID || !form->indisvalid ||
		!heap_attisnull(index->rd_indextuple, Anum_pg_index_indpred, NULL))
		return false;
	if (form->indisunique && begins_with(form, form->indnkeyatts, path->equal))
		return true;
	return form->indnkeyatts >= nequal + is_ranged && begins_with(form, nequal, path->equal) &&
		(!is_ranged || form->indkey.values[nequal] == path->ranged);
}

static bool
has_index(Oid relid, const RfPath *path)
{
	Relation	table = table_open(relid, AccessShareLock);
	bool		found = false;
	ListCell   *cell;

	foreach(cell, RelationGetIndexList(table))
	{
		Relation	index = index_open(lfirst_oid(cell), AccessShareLock);

		found |= index_serves(index, path);
		index_close(index, AccessShareLock);
	}
	table_close(table, AccessShareLock);
	return found;
}

static char *
create_index(Oid relid, const RfPath *path)
{
	char	  **columns = palloc((list_length(path->equal) + 1) * sizeof(char *));
	int			ncolumns = 0;
	ListCell   *cell;

	foreach(cell, path->equal)
		columns[ncolumns++] = get_attname(relid, (AttrNumber) lfirst_int(cell), false);
	if (path->ranged != InvalidAttrNumber)
		columns[ncolumns++] = get_attname(relid, path->ranged, false);
	return rf_sql_create_index(get_namespace_name(get_rel_namespace(relid)), get_rel_name(relid),
							   ncolumns, columns);
}

/*
 * The statement that makes an index by which rows of some groups would be found in
 * a table; NULL if there is one, or none can help.
 */
char *
rf_missing_index(const RfSource *source)
{
	ListCell   *cell;

	if (rf_source_obstacle(source) != NULL)
		return NULL;
	foreach(cell, source->occurrences)
	{
		RfPath		path = path_of(source, lfirst(cell));

		if ((path.equal != NIL || path.ranged != InvalidAttrNumber) &&
			!has_index(source->relid, &path))
			return create_index(source->relid, &path);
	}
	return NULL;
}

/*
 * The same for the target, in which rows of groups are looked for when this source
 * has changed.
 */
char *
rf_missing_target_index(const RfFlow *flow, const RfSource *source)
{
	RfPath		path = {NIL, InvalidAttrNumber};
	int			group = -1;

	if (rf_source_obstacle(source) != NULL)
		return NULL;
	while ((group = bms_next_member(source->groups, group)) >= 0)
		path.equal = lappend_int(path.equal, rf_flow_column_attnum(flow, group));
	if (path.equal == NIL || has_index(flow->target, &path))
		return NULL;
	return create_index(flow->target, &path);
}
