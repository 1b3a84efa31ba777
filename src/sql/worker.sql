/*
 * What wakes the worker: rows that come into tables, changes of flows, and
 * other definitions.
 */

CREATE FUNCTION replace_flow.note_staged()
RETURNS trigger
LANGUAGE C
AS 'MODULE_PATHNAME', 'replace_flow_note_staged';

CREATE FUNCTION replace_flow.note_definitions()
RETURNS trigger
LANGUAGE C
AS 'MODULE_PATHNAME', 'replace_flow_note_definitions';
-- on a table of anybody's it would have the worker read all flows again and again
REVOKE EXECUTE ON FUNCTION replace_flow.note_definitions() FROM PUBLIC;

CREATE TRIGGER replace_flow_note_definitions
AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON replace_flow.flow
FOR EACH STATEMENT EXECUTE FUNCTION replace_flow.note_definitions();
ALTER TABLE replace_flow.flow ENABLE ALWAYS TRIGGER replace_flow_note_definitions;

CREATE FUNCTION replace_flow.after_ddl()
RETURNS event_trigger
LANGUAGE C
AS 'MODULE_PATHNAME', 'replace_flow_after_ddl';

CREATE EVENT TRIGGER replace_flow_after_ddl ON ddl_command_end
EXECUTE FUNCTION replace_flow.after_ddl();
