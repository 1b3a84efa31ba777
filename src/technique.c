/*-------------------------------------------------------------------------
 *
 * technique.c
 *	  The ways in which a run of a where flow can do its work, by name.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "technique.h"

static const char *const technique_names[RF_TECHNIQUES] = {
	"NO_OP", "APPEND_ONLY", "ROW_BASED", "PARTITION_OVERWRITE", "COMPLETE_REPLACE_WHERE"
};

const char *
rf_technique_name(RfTechnique technique)
{
	return technique_names[technique];
}

static char *
all_names(void)
{
	char	   *names = pstrdup(technique_names[0]);

	for (int i = 1; i < RF_TECHNIQUES; i++)
		names = psprintf("%s%s%s", names, i == RF_TECHNIQUES - 1 ? " and " : ", ",
						 technique_names[i]);
	return names;
}

/*
 * A technique by its name.
 */
RfTechnique
rf_technique_parse(const char *name, const char *flow_name)
{
	for (int i = 0; i < RF_TECHNIQUES; i++)
	{
		if (strcmp(name, technique_names[i]) == 0)
			return (RfTechnique) i;
	}
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("technique \"%s\" is not known", name),
			 errdetail("Flow \"%s\" was to be refreshed with it.", flow_name),
			 errhint("Leave the technique to the run, or use one of %s.", all_names())));
}
