/*-------------------------------------------------------------------------
 *
 * after_ddl.c
 *	  What is to be done for flows after other things were defined.
 *
 * Tables get and lose parts, views read other tables, flows get other owners: then
 * other tables need triggers.  They get them here as far as that needs no waiting,
 * and no lock against everybody that the command does not hold already.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/namespace.h"
#include "commands/event_trigger.h"
#include "fmgr.h"

#include "attempt.h"
#include "captured.h"
#include "query.h"
#include "table_trigger.h"
#include "wake_up.h"

PG_FUNCTION_INFO_V1(replace_flow_after_ddl);

static bool
attaches_or_detaches(const AlterTableStmt *command)
{
	ListCell   *cell;

	foreach(cell, command->cmds)
	{
		switch (lfirst_node(AlterTableCmd, cell)->subtype)
		{
			case AT_AttachPartition:
			case AT_DetachPartition:
			case AT_DetachPartitionFinalize:
			case AT_AddInherit:
			case AT_DropInherit:
				return command->objtype == OBJECT_TABLE;
			default:
				break;
		}
	}
	return false;
}

/*
 * Whether a command may have changed which tables flows are woken by, though no
 * flow was: tables get and lose parts, views read other tables, flows get other
 * owners.
 */
static bool
concerns_triggers(const Node *command)
{
	ListCell   *cell;

	switch (nodeTag(command))
	{
		case T_CreateStmt:
			return ((const CreateStmt *) command)->inhRelations != NIL;
		case T_AlterTableStmt:
			return attaches_or_detaches((const AlterTableStmt *) command);
		case T_ViewStmt:
			return ((const ViewStmt *) command)->replace;
		case T_ReassignOwnedStmt:
			return true;
		case T_CreateSchemaStmt:
			foreach(cell, ((const CreateSchemaStmt *) command)->schemaElts)
			{
				if (concerns_triggers(lfirst(cell)))
					return true;
			}
			return false;
		default:
			return false;
	}
}

/* Rows came into a table, or left it, with a part of it. */
static void
note_parts(const AlterTableStmt *command)
{
	ListCell   *cell;

	rf_wake_up_note(RangeVarGetRelid(command->relation, NoLock, true));
	foreach(cell, command->cmds)
	{
		const AlterTableCmd *change = lfirst_node(AlterTableCmd, cell);

		if (change->subtype == AT_DropInherit)
			rf_wake_up_note(RangeVarGetRelid(castNode(RangeVar, change->def), NoLock, true));
	}
}

/* What is captured of a table that has become a part of another changes with that. */
static void
look_anew(const AlterTableStmt *command)
{
	ListCell   *cell;

	foreach(cell, command->cmds)
	{
		const AlterTableCmd *change = lfirst_node(AlterTableCmd, cell);
		const RangeVar *part = NULL;

		if (change->subtype == AT_AttachPartition)
			part = castNode(PartitionCmd, change->def)->name;
		else if (change->subtype == AT_AddInherit)
			part = command->relation;
		if (part != NULL)
			rf_captured_look_anew(RangeVarGetRelid(part, NoLock, true));
	}
}

/* A restore brings back the view of a flow after the flow itself. */
static bool
makes_own_view(const Node *command)
{
	const RangeVar *view = IsA(command, ViewStmt) ? ((const ViewStmt *) command)->view : NULL;

	return view != NULL && view->schemaname != NULL &&
		strcmp(view->schemaname, "replace_flow") == 0;
}

/*
 * The worker has to look at the tables anew: one that was none of a flow's may be
 * a part of it now; and at triggers that could not be placed.
 */
static void
settle_after_ddl(void *command)
{
	rf_query_begin();
	if (IsA(command, AlterTableStmt))
		look_anew(command);
	(void) rf_triggers_settle(true);
	rf_query_end();
	rf_wake_up_note_definitions();
}

/*
 * after_ddl(): event trigger, after any command that defines something.
 */
Datum
replace_flow_after_ddl(PG_FUNCTION_ARGS)
{
	const Node *command;

	if (!CALLED_AS_EVENT_TRIGGER(fcinfo))
		elog(ERROR, "unexpected call of replace_flow.after_ddl()");
	command = ((EventTriggerData *) fcinfo->context)->parsetree;
	rf_wake_up_note_repair();
	if (makes_own_view(command))
		rf_wake_up_note_definitions();
	if (concerns_triggers(command))
		(void) rf_attempt(settle_after_ddl, unconstify(Node *, command));
	if (IsA(command, AlterTableStmt) && attaches_or_detaches((const AlterTableStmt *) command))
		note_parts((const AlterTableStmt *) command);
	PG_RETURN_NULL();
}
