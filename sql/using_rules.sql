\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- B11, B12: rules of the target act as for the user's own statements; a rule that
-- turns writes elsewhere makes the run fail whole.
--
CREATE TABLE item (k int, line int, v text, PRIMARY KEY (k, line));
CREATE TABLE item_in (k int, line int, v text, s int);
SELECT replace_flow.create_using_flow('item', 'item_in', '{k}', 's');
CREATE TABLE log (what text, k int, line int, v text);

-- A rule that also does something, for each kind of statement: what it notes is
-- what has changed, and nothing is noted of a row that stays.
CREATE RULE note_insert AS ON INSERT TO item DO ALSO INSERT INTO log VALUES ('insert', NEW.*);
CREATE RULE note_update AS ON UPDATE TO item DO ALSO INSERT INTO log VALUES ('update', NEW.*);
CREATE RULE note_delete AS ON DELETE TO item DO ALSO INSERT INTO log VALUES ('delete', OLD.*);
INSERT INTO item_in VALUES (1, 1, 'a', 1), (1, 2, 'b', 1), (2, 1, 'c', 1);
SELECT applied('item');
INSERT INTO item_in VALUES (1, 1, 'a', 2), (1, 2, 'B', 2), (1, 3, 'd', 2), (2, 2, 'c', 2);
SELECT applied('item');
SELECT * FROM item ORDER BY k, line;
SELECT * FROM log ORDER BY what, k, line, v;
DROP RULE note_insert ON item;
DROP RULE note_update ON item;
DROP RULE note_delete ON item;

-- Rules that do something instead: for some rows or for all, nothing or the same
-- kind of statement on another table.
CREATE TABLE elsewhere (LIKE item);
INSERT INTO elsewhere TABLE item;
CREATE VIEW state AS
    SELECT 'item' AS what, ctid::text || xmin::text || t::text AS "row" FROM item t
    UNION ALL SELECT 'item_in', ctid::text || xmin::text || s::text FROM item_in s
    UNION ALL SELECT 'elsewhere', ctid::text || xmin::text || s::text FROM elsewhere s
    UNION ALL SELECT 'floor', f::text FROM replace_flow.floors('item') f
    UNION ALL SELECT 'run', run_id::text FROM replace_flow.run;
CREATE TABLE state_before (what text, "row" text);
INSERT INTO item_in VALUES (1, 1, 'A', 3), (1, 4, 'e', 3), (2, 2, 'c', 3), (3, 1, 'f', 3);
INSERT INTO state_before TABLE state;
CREATE FUNCTION try_rule(event text, action text) RETURNS SETOF text
LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('CREATE RULE turn AS ON %s TO item %s', event, action);
    RETURN QUERY SELECT refused($r$ SELECT replace_flow.apply('item') $r$);
    RETURN NEXT 'as it was: ' || same('TABLE state', 'TABLE state_before');
    DROP RULE turn ON item;
END $$;
SELECT try_rule('INSERT', 'WHERE NEW.k = 3 DO INSTEAD NOTHING');
SELECT try_rule('INSERT', 'DO INSTEAD NOTHING');
SELECT try_rule('INSERT', 'WHERE NEW.k = 3 DO INSTEAD INSERT INTO elsewhere VALUES (NEW.*)');
SELECT try_rule('DELETE', 'WHERE OLD.line = 3 DO INSTEAD NOTHING');
SELECT try_rule('DELETE', 'DO INSTEAD NOTHING');
SELECT try_rule('UPDATE', 'DO INSTEAD NOTHING');
SELECT try_rule('INSERT', 'DO INSTEAD UPDATE elsewhere SET v = NEW.v WHERE (k, line) = (NEW.k, NEW.line)');
SELECT try_rule('INSERT', 'DO INSTEAD INSERT INTO elsewhere VALUES (NEW.*)');
SELECT try_rule('DELETE', 'DO INSTEAD DELETE FROM elsewhere WHERE (k, line) = (OLD.k, OLD.line)');
SELECT try_rule('UPDATE', 'DO INSTEAD UPDATE elsewhere SET v = NEW.v WHERE (k, line) = (OLD.k, OLD.line)');
-- Without them it is applied.
SELECT applied('item');
SELECT * FROM item ORDER BY k, line;
\i :finish
