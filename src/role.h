/*-------------------------------------------------------------------------
 *
 * role.h
 *	  Acting as another role.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RF_ROLE_H
#define RF_ROLE_H

/* What rf_role_assume() found, for rf_role_restore(). */
typedef struct RfRoleGuard
{
	Oid			user;
	int			security_context;
	int			guc_level;
} RfRoleGuard;

extern void rf_role_assume(RfRoleGuard *guard, Oid role);
extern void rf_role_assume_catalog(RfRoleGuard *guard);
extern void rf_role_read_as(RfRoleGuard *guard, Oid role);
extern void rf_role_restore(const RfRoleGuard *guard);
extern void rf_role_set(const char *name, const char *value);
extern char *rf_role_name(Oid role);

#endif							/* RF_ROLE_H */
