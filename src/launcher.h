/*-------------------------------------------------------------------------
 *
 * launcher.h
 *	  The process that starts a scheduler for each database.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RF_LAUNCHER_H
#define RF_LAUNCHER_H

extern void rf_launcher_register(void);
extern PGDLLEXPORT void replace_flow_launcher_main(Datum arg);

#endif							/* RF_LAUNCHER_H */
