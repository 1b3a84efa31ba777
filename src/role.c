/*-------------------------------------------------------------------------
 *
 * role.c
 *	  Acting as another role.
 *
 * A caller brackets each part that acts for a role with rf_role_assume() and
 * rf_role_restore().  While a role is assumed
 *
 *	- the search path is pg_catalog alone, so that no name in our statements,
 *	  or in functions that they call, can be caught by somebody's object;
 *	- the operation is security-restricted if the caller is another role, so
 *	  that code of the role cannot change the session of the caller (a deferred
 *	  trigger is an error then: it would run as the caller, at commit);
 *	- row_security is off, so that a policy that would hide rows from the role
 *	  raises an error instead of hiding them.
 *
 * An error needs no clean-up here: transaction abort, also that of a
 * subtransaction, restores role and settings.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "miscadmin.h"
#include "utils/guc.h"
#include "utils/syscache.h"

#include "role.h"

static void
become(RfRoleGuard *guard, Oid role)
{
	GetUserIdAndSecContext(&guard->user, &guard->security_context);
	SetUserIdAndSecContext(role, guard->security_context |
						   SECURITY_LOCAL_USERID_CHANGE |
						   (role == guard->user ? 0 : SECURITY_RESTRICTED_OPERATION));
	guard->guc_level = NewGUCNestLevel();
}

/*
 * Set a server setting for the present nest level, such as until
 * rf_role_restore(), with the rights of the present role.
 */
void
rf_role_set(const char *name, const char *value)
{
	(void) set_config_option(name, value, superuser() ? PGC_SUSET : PGC_USERSET,
							 PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
}

/*
 * Act as a role until rf_role_restore().
 */
void
rf_role_assume(RfRoleGuard *guard, Oid role)
{
	become(guard, role);
	rf_role_set("search_path", "pg_catalog, pg_temp");
	rf_role_set("row_security", "off");
}

/*
 * Act as a role, with the caller's search path: to read texts of the caller's,
 * which may call input functions of types, and with them code of the role's.
 */
void
rf_role_read_as(RfRoleGuard *guard, Oid role)
{
	become(guard, role);
}

/* The role that owns the extension's own tables. */
static Oid
owner_of_catalog(void)
{
	Oid			namespace = get_namespace_oid("replace_flow", false);
	HeapTuple	tuple;
	Oid			owner;

	tuple = SearchSysCache2(RELNAMENSP, CStringGetDatum("flow"),
							ObjectIdGetDatum(namespace));
	if (!HeapTupleIsValid(tuple))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("the catalog of extension \"replace_flow\" is missing"),
				 errhint("Drop the extension and create it again.")));
	owner = ((Form_pg_class) GETSTRUCT(tuple))->relowner;
	ReleaseSysCache(tuple);
	return owner;
}

/*
 * Act as the owner of the extension's own tables.  These are small; but without
 * statistics the planner may not know it, and would have statements compiled.
 */
void
rf_role_assume_catalog(RfRoleGuard *guard)
{
	rf_role_assume(guard, owner_of_catalog());
	rf_role_set("jit", "off");
}

/*
 * Become again who called; settings made since are undone.
 */
void
rf_role_restore(const RfRoleGuard *guard)
{
	AtEOXact_GUC(false, guard->guc_level);
	SetUserIdAndSecContext(guard->user, guard->security_context);
}

/*
 * A role's name for a message, also when it was dropped.
 */
char *
rf_role_name(Oid role)
{
	char	   *name = GetUserNameFromId(role, true);

	return name != NULL ? name : psprintf("%u", role);
}
