/*-------------------------------------------------------------------------
 *
 * technique.h
 *	  The ways in which a run of a where flow can do its work, by name.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RF_TECHNIQUE_H
#define RF_TECHNIQUE_H

typedef enum RfTechnique
{
	RF_NO_OP,
	RF_APPEND_ONLY,
	RF_ROW_BASED,
	RF_PARTITION_OVERWRITE,
	RF_COMPLETE
} RfTechnique;

#define RF_TECHNIQUES (RF_COMPLETE + 1)

extern RfTechnique rf_technique_parse(const char *name, const char *flow_name);
extern const char *rf_technique_name(RfTechnique technique);

#endif							/* RF_TECHNIQUE_H */
