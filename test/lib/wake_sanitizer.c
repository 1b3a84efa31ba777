/*
 * Preloaded behind the address sanitizer, and initialized before every other
 * library: the first malloc() starts the sanitizer, and that asks for the
 * translation of a message.  libgpg-error, which the server needs, is set up
 * before the sanitizer and calls malloc() while it holds the lock of the
 * translations; if that were the first call, the server would hang.
 */
#include <stdlib.h>

static void __attribute__((constructor)) wake(void)
{
	free(malloc(1));
}
