/*-------------------------------------------------------------------------
 *
 * catalog_statement.c
 *	  Statements on the extension's own tables.
 *
 * They act as the owner of these tables for as long as they take, and take values only
 * as arguments: no code of a user runs in them.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog_statement.h"
#include "role.h"

uint64
rf_catalog_execute(const char *sql, const RfArgs *args)
{
	RfRoleGuard guard;
	uint64		processed;

	rf_role_assume_catalog(&guard);
	processed = rf_query_execute(sql, args);
	rf_role_restore(&guard);
	return processed;
}

bool
rf_catalog_first(const char *sql, const RfArgs *args, RfRow *row)
{
	RfRoleGuard guard;
	bool		found;

	rf_role_assume_catalog(&guard);
	found = rf_query_first(sql, args, row);
	rf_role_restore(&guard);
	return found;
}

int
rf_catalog_all(const char *sql, const RfArgs *args, RfRow **rows)
{
	RfRoleGuard guard;
	int			nrows;

	rf_role_assume_catalog(&guard);
	nrows = rf_query_all(sql, args, rows);
	rf_role_restore(&guard);
	return nrows;
}
