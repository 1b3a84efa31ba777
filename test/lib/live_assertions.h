/*
 * Our assertions live, in a server that was built without its own.
 *
 * A sanitized build includes this before everything else.  USE_ASSERT_CHECKING
 * would do it as well, but then the server's headers want functions and fields
 * that only a server built like that has.
 */
#include "postgres.h"

#undef Assert
#define Assert(condition) \
	do { \
		if (!(condition)) \
			elog(PANIC, "failed assertion: %s", #condition); \
	} while (0)
