/*-------------------------------------------------------------------------
 *
 * scheduler.h
 *	  The process that decides, for one database, which flow is run when.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RF_SCHEDULER_H
#define RF_SCHEDULER_H

extern PGDLLEXPORT void replace_flow_scheduler_main(Datum slot);

#endif							/* RF_SCHEDULER_H */
