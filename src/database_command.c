/*-------------------------------------------------------------------------
 *
 * database_command.c
 *	  Commands that the worker has to know of before or after the server does.
 *
 * A database that is dropped, renamed, moved or copied must have no sessions,
 * and the worker's processes are sessions that nobody sees: they leave before
 * such a command, if its caller may give it, and come back after it.
 *
 * New databases make the launcher look.  The extension can come and go in many
 * ways, such as with another one or with its owner, and not all of them fire
 * event triggers; that it did concerns launcher and scheduler.  What a prepared
 * transaction did is not known when it is committed: it may have put rows into any
 * stream, and changed any flow.
 *
 * No trigger can see these commands, so this is a hook.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_database.h"
#include "commands/dbcommands.h"
#include "commands/defrem.h"
#include "miscadmin.h"
#include "tcop/utility.h"
#include "utils/acl.h"
#include "utils/syscache.h"

#include "compat.h"
#include "database_command.h"
#include "database_slot.h"
#include "flow.h"
#include "wake_up.h"

static ProcessUtility_hook_type next_hook;

/* This transaction changes which databases one can connect to. */
static bool changes_databases;

static void
at_transaction_end(XactEvent event, void *arg)
{
	(void) arg;
	if (event != XACT_EVENT_COMMIT && event != XACT_EVENT_ABORT && event != XACT_EVENT_PREPARE)
		return;
	rf_database_unhold();
	if (changes_databases)
		rf_launcher_tell();
	changes_databases = false;
}

static bool
is_template(Oid database)
{
	HeapTuple	tuple = SearchSysCache1(DATABASEOID, ObjectIdGetDatum(database));
	bool		result = HeapTupleIsValid(tuple) &&
		((Form_pg_database) GETSTRUCT(tuple))->datistemplate;

	if (HeapTupleIsValid(tuple))
		ReleaseSysCache(tuple);
	return result;
}

static bool
may_create_databases(Oid role)
{
	HeapTuple	tuple = SearchSysCache1(AUTHOID, ObjectIdGetDatum(role));
	bool		result = HeapTupleIsValid(tuple) &&
		((Form_pg_authid) GETSTRUCT(tuple))->rolcreatedb;

	if (HeapTupleIsValid(tuple))
		ReleaseSysCache(tuple);
	return result || superuser_arg(role);
}

/* A template may be copied by whoever may create databases. */
static bool
may_have_alone(Oid database, bool to_copy)
{
	return rf_database_ownercheck(database, GetUserId()) ||
		(to_copy && is_template(database) && may_create_databases(GetUserId()));
}

/* Have a database to ourselves, if the caller may. */
static void
clear_database(const char *name, bool to_copy)
{
	Oid			database = get_database_oid(name, true);

	if (OidIsValid(database) && may_have_alone(database, to_copy))
		rf_database_hold(database);
}

static const char *
option(List *options, const char *name)
{
	ListCell   *cell;

	foreach(cell, options)
	{
		DefElem    *element = lfirst_node(DefElem, cell);

		if (strcmp(element->defname, name) == 0 && element->arg != NULL)
			return defGetString(element);
	}
	return NULL;
}

/* The database that a command needs for itself, or NULL. */
static const char *
needed_alone(Node *command)
{
	const char *template;

	switch (nodeTag(command))
	{
		case T_DropdbStmt:
			return ((DropdbStmt *) command)->dbname;
		case T_CreatedbStmt:
			template = option(((CreatedbStmt *) command)->options, "template");
			return template != NULL ? template : "template1";
		case T_AlterDatabaseStmt:
			if (option(((AlterDatabaseStmt *) command)->options, "tablespace") == NULL)
				return NULL;
			return ((AlterDatabaseStmt *) command)->dbname;
		case T_RenameStmt:
			if (((RenameStmt *) command)->renameType != OBJECT_DATABASE)
				return NULL;
			return ((RenameStmt *) command)->subname;
		default:
			return NULL;
	}
}

static void
before(Node *command)
{
	const char *database = needed_alone(command);

	if (database != NULL)
		clear_database(database, IsA(command, CreatedbStmt));
	if (IsA(command, CreatedbStmt) || IsA(command, AlterDatabaseStmt))
		changes_databases = true;
}

static bool
commits_prepared(Node *command)
{
	return IsA(command, TransactionStmt) &&
		((TransactionStmt *) command)->kind == TRANS_STMT_COMMIT_PREPARED;
}

/* An extension goes with another one, and with the schema that it was made in. */
static bool
may_create_or_drop_extension(Node *command)
{
	if (IsA(command, DropStmt))
		return ((DropStmt *) command)->removeType == OBJECT_EXTENSION ||
			((DropStmt *) command)->removeType == OBJECT_SCHEMA;
	return IsA(command, CreateExtensionStmt) || IsA(command, DropOwnedStmt);
}

static void
process_utility(PlannedStmt *statement, const char *text, bool read_only_tree,
				ProcessUtilityContext context, ParamListInfo params,
				QueryEnvironment *environment, DestReceiver *receiver, QueryCompletion *completion)
{
	/* the tree may be gone when the command is done */
	bool		anything = commits_prepared(statement->utilityStmt);
	bool		extension = may_create_or_drop_extension(statement->utilityStmt);
	bool		existed = extension && rf_flow_extension_exists();

	before(statement->utilityStmt);
	if (next_hook != NULL)
		next_hook(statement, text, read_only_tree, context, params, environment, receiver,
				  completion);
	else
		standard_ProcessUtility(statement, text, read_only_tree, context, params, environment,
								receiver, completion);
	if (anything)
		rf_wake_up_note_anything();
	if (extension && rf_flow_extension_exists() != existed)
		rf_wake_up_note_definitions();
}

void
rf_database_command_init(void)
{
	next_hook = ProcessUtility_hook;
	ProcessUtility_hook = process_utility;
	RegisterXactCallback(at_transaction_end, NULL);
}
