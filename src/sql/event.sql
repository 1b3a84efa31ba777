/*
 * What happens to flows when something else happens: their tables are dropped,
 * or a dump is restored.
 */

CREATE FUNCTION replace_flow.after_drop()
RETURNS event_trigger
LANGUAGE C
AS 'MODULE_PATHNAME', 'replace_flow_after_drop';

CREATE EVENT TRIGGER replace_flow_after_drop ON sql_drop
EXECUTE FUNCTION replace_flow.after_drop();

-- pg_dump does not know that a flow's view and ledger go with the extension.
CREATE FUNCTION replace_flow.adopt()
RETURNS trigger
LANGUAGE C
AS 'MODULE_PATHNAME', 'replace_flow_adopt';

CREATE TRIGGER adopt AFTER INSERT ON replace_flow.flow
FOR EACH ROW EXECUTE FUNCTION replace_flow.adopt();
