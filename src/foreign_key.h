/*-------------------------------------------------------------------------
 *
 * foreign_key.h
 *	  Foreign keys that reference a table.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RF_FOREIGN_KEY_H
#define RF_FOREIGN_KEY_H

#include "nodes/pg_list.h"

typedef struct RfForeignKey
{
	Oid			constraint;
	char	   *name;
	Oid			table;			/* that has it */
	char		on_delete;		/* FKCONSTR_ACTION_... */
	List	   *columns;		/* that it references: names */
} RfForeignKey;

extern List *rf_foreign_keys(Oid referenced);

#endif							/* RF_FOREIGN_KEY_H */
