/*-------------------------------------------------------------------------
 *
 * catalog_statement.h
 *	  Statements on the extension's own tables.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RF_CATALOG_STATEMENT_H
#define RF_CATALOG_STATEMENT_H

#include "query.h"

extern uint64 rf_catalog_execute(const char *sql, const RfArgs *args);
extern bool rf_catalog_first(const char *sql, const RfArgs *args, RfRow *row);
extern int	rf_catalog_all(const char *sql, const RfArgs *args, RfRow **rows);

#endif							/* RF_CATALOG_STATEMENT_H */
