/*-------------------------------------------------------------------------
 *
 * stream_space.h
 *	  Room of consumed rows, for new ones.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RF_STREAM_SPACE_H
#define RF_STREAM_SPACE_H

extern void rf_stream_reclaim(Oid stream);
extern PGDLLEXPORT void replace_flow_vacuum_main(Datum relid);

#endif							/* RF_STREAM_SPACE_H */
