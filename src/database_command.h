/*-------------------------------------------------------------------------
 *
 * database_command.h
 *	  Commands that the worker has to know of before or after the server does.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RF_DATABASE_COMMAND_H
#define RF_DATABASE_COMMAND_H

extern void rf_database_command_init(void);

#endif							/* RF_DATABASE_COMMAND_H */
