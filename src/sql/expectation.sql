/*
 * Expectations: conditions on the rows that a flow's query gives.
 */

CREATE FUNCTION replace_flow.add_expectation(flow text, name text, condition text, action text)
RETURNS void
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'replace_flow_add_expectation';

CREATE FUNCTION replace_flow.drop_expectation(flow text, name text)
RETURNS void
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'replace_flow_drop_expectation';
