/*
 * What happens to flows when something else happens: their tables are dropped,
 * or the extension is.
 */

CREATE FUNCTION replace_flow.after_drop()
RETURNS event_trigger
LANGUAGE C
AS 'MODULE_PATHNAME', 'replace_flow_after_drop';

CREATE EVENT TRIGGER replace_flow_after_drop ON sql_drop
EXECUTE FUNCTION replace_flow.after_drop();

CREATE FUNCTION replace_flow.before_drop_extension()
RETURNS event_trigger
LANGUAGE C
AS 'MODULE_PATHNAME', 'replace_flow_before_drop_extension';

CREATE EVENT TRIGGER replace_flow_before_drop_extension ON ddl_command_start
WHEN TAG IN ('DROP EXTENSION')
EXECUTE FUNCTION replace_flow.before_drop_extension();
