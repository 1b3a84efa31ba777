/*-------------------------------------------------------------------------
 *
 * backlog.h
 *	  How many rows wait in a stream.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RF_BACKLOG_H
#define RF_BACKLOG_H

extern bool rf_backlog_count(Oid stream, int64 *rows);

#endif							/* RF_BACKLOG_H */
