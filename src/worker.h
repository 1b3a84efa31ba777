/*-------------------------------------------------------------------------
 *
 * worker.h
 *	  The process that runs flows.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RF_WORKER_H
#define RF_WORKER_H

extern PGDLLEXPORT void replace_flow_worker_main(Datum job);

#endif							/* RF_WORKER_H */
