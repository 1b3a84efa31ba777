/*-------------------------------------------------------------------------
 *
 * function_list.h
 *	  Functions of the server that are known for something, by OID.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RF_FUNCTION_LIST_H
#define RF_FUNCTION_LIST_H

/* Whether a function is one of an array's. */
#define RF_IS_LISTED(function, functions) \
	rf_is_listed(function, functions, lengthof(functions))

static inline bool
rf_is_listed(Oid function, const Oid *functions, size_t count)
{
	for (size_t i = 0; i < count; i++)
	{
		if (functions[i] == function)
			return true;
	}
	return false;
}

#endif							/* RF_FUNCTION_LIST_H */
