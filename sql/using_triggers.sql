\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- B11, B12: triggers of every kind act as for the user's own statements; one that
-- keeps a row from being written makes the run fail whole.
--
CREATE TABLE log (n int GENERATED ALWAYS AS IDENTITY, what text);
CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO test.log (what) VALUES (format('%s: %s %s -> %s', TG_NAME, TG_OP, OLD.v, NEW.v));
    RETURN coalesce(NEW, OLD);
END $$;
CREATE FUNCTION swallow() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RETURN NULL;
END $$;
CREATE TABLE item (k int, line int, v text, PRIMARY KEY (k, line));
CREATE TABLE item_in (k int, line int, v text, s int);
SELECT replace_flow.create_using_flow('item', 'item_in', '{k}', 's');

-- Conditions of triggers, on old and new values, and on columns that are set.
CREATE TRIGGER before_big BEFORE INSERT ON item FOR EACH ROW WHEN (NEW.line > 2) EXECUTE FUNCTION note();
CREATE TRIGGER changed AFTER UPDATE ON item FOR EACH ROW WHEN (OLD.v IS DISTINCT FROM NEW.v) EXECUTE FUNCTION note();
CREATE TRIGGER not_changed AFTER UPDATE ON item FOR EACH ROW WHEN (OLD.v IS NOT DISTINCT FROM NEW.v) EXECUTE FUNCTION note();
CREATE TRIGGER sets_v AFTER UPDATE OF v ON item FOR EACH ROW EXECUTE FUNCTION note();
CREATE TRIGGER sets_key AFTER UPDATE OF k, line ON item FOR EACH ROW EXECUTE FUNCTION note();
CREATE TRIGGER gone AFTER DELETE ON item FOR EACH ROW WHEN (OLD.line > 1) EXECUTE FUNCTION note();
INSERT INTO item_in VALUES (1, 1, 'a', 1), (1, 2, 'b', 1), (1, 3, 'c', 1);
SELECT applied('item');
INSERT INTO item_in VALUES (1, 1, 'a', 2), (1, 2, 'B', 2), (1, 4, 'd', 2);
SELECT applied('item');
SELECT what FROM log ORDER BY n;
-- Order of the statements: deletes, updates, inserts; of triggers: by name.
TRUNCATE log;
DROP TRIGGER before_big ON item;
DROP TRIGGER changed ON item;
DROP TRIGGER not_changed ON item;
DROP TRIGGER sets_v ON item;
DROP TRIGGER sets_key ON item;
DROP TRIGGER gone ON item;
CREATE TRIGGER b BEFORE INSERT OR UPDATE OR DELETE ON item FOR EACH ROW EXECUTE FUNCTION note();
CREATE TRIGGER a BEFORE INSERT OR UPDATE OR DELETE ON item FOR EACH ROW EXECUTE FUNCTION note();
INSERT INTO item_in VALUES (1, 1, 'A', 3), (1, 2, 'B', 3), (1, 3, 'c', 3);
SELECT applied('item');
SELECT what FROM log ORDER BY n;
DROP TRIGGER a ON item;
DROP TRIGGER b ON item;

-- Disabled ones do not fire.
TRUNCATE log;
CREATE TRIGGER a BEFORE INSERT OR UPDATE OR DELETE ON item FOR EACH ROW EXECUTE FUNCTION swallow();
ALTER TABLE item DISABLE TRIGGER a;
INSERT INTO item_in VALUES (1, 1, 'a', 4), (2, 1, 'x', 4);
SELECT applied('item');
DROP TRIGGER a ON item;

-- Constraint triggers: at once, and at the end of the transaction or when it is
-- asked for.
TRUNCATE log;
CREATE CONSTRAINT TRIGGER at_once AFTER INSERT OR UPDATE OR DELETE ON item
    FOR EACH ROW EXECUTE FUNCTION note();
CREATE CONSTRAINT TRIGGER at_end AFTER INSERT OR UPDATE OR DELETE ON item DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW WHEN (pg_trigger_depth() = 0) EXECUTE FUNCTION note();
BEGIN;
INSERT INTO item_in VALUES (1, 1, 'A', 5), (1, 2, 'b', 5), (2, 2, 'x', 5);
SELECT applied('item');
SELECT what FROM log ORDER BY what;
TRUNCATE log;
SET CONSTRAINTS ALL IMMEDIATE;
SELECT what FROM log ORDER BY what;
COMMIT;
CREATE FUNCTION at_most_two() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF (SELECT count(*) FROM test.item WHERE k = NEW.k) > 2 THEN
        RAISE EXCEPTION 'too many lines of %', NEW.k USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NULL;
END $$;
-- One that looks at the whole set sees the new set only, however the set is written.
CREATE CONSTRAINT TRIGGER at_most_two AFTER INSERT OR UPDATE ON item FOR EACH ROW EXECUTE FUNCTION at_most_two();
INSERT INTO item_in VALUES (1, 3, 'c', 6), (1, 4, 'd', 6);
SELECT applied('item');
INSERT INTO item_in VALUES (1, 3, 'c', 7), (1, 5, 'e', 7), (1, 6, 'f', 7), (2, 3, 'y', 7);
SELECT refused($$ SELECT replace_flow.apply('item') $$);
DELETE FROM item_in;
DROP TRIGGER at_once ON item;
DROP TRIGGER at_end ON item;
DROP TRIGGER at_most_two ON item;

-- B12: a trigger that returns NULL, for each kind of statement, for one row of
-- many: target, stream, floors and records stay as they were.
CREATE VIEW state AS
    SELECT 'item' AS what, ctid::text || xmin::text || t::text AS "row" FROM item t
    UNION ALL SELECT 'item_in', ctid::text || xmin::text || s::text FROM item_in s
    UNION ALL SELECT 'floor', f::text FROM replace_flow.floors('item') f
    UNION ALL SELECT 'run', run_id::text FROM replace_flow.run;
CREATE TABLE state_before (what text, "row" text);
INSERT INTO item_in VALUES (1, 3, 'C', 8), (1, 5, 'e', 8), (1, 6, 'f', 8), (2, 3, 'y', 8);
INSERT INTO state_before TABLE state;
CREATE FUNCTION try_swallow(event text) RETURNS SETOF text
LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('CREATE TRIGGER swallow BEFORE %s EXECUTE FUNCTION swallow()', event);
    RETURN QUERY SELECT refused($r$ SELECT replace_flow.apply('item') $r$);
    RETURN NEXT 'as it was: ' || same('TABLE state', 'TABLE state_before');
    DROP TRIGGER swallow ON item;
END $$;
SELECT try_swallow('INSERT ON item FOR EACH ROW WHEN (NEW.line = 6)');
SELECT try_swallow('UPDATE ON item FOR EACH ROW WHEN (NEW.v = ''C'')');
SELECT try_swallow('DELETE ON item FOR EACH ROW WHEN (OLD.line = 4)');
-- What a trigger of a statement returns does not count.
SELECT try_swallow('INSERT OR UPDATE OR DELETE ON item FOR EACH STATEMENT');
SELECT applied('item');
SELECT * FROM item ORDER BY k, line;

-- A trigger that writes to the target itself: a row that the run is about to write
-- is not there any more, and the run fails whole.
TRUNCATE state_before;
INSERT INTO item_in VALUES (1, 3, 'c', 9), (1, 7, 'g', 9);
INSERT INTO state_before TABLE state;
CREATE FUNCTION meddle() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE TG_ARGV[0];
    RETURN CASE WHEN TG_OP = 'DELETE' THEN OLD ELSE NEW END;
END $$;
CREATE FUNCTION try_meddle(event text, statement text) RETURNS SETOF text
LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('CREATE TRIGGER meddle %s WHEN (pg_trigger_depth() = 0) EXECUTE FUNCTION meddle(%L)', event, statement);
    RETURN QUERY SELECT * FROM refused($r$ SELECT replace_flow.apply('item') $r$) AS report WHERE report !~ '^HINT';
    RETURN NEXT 'as it was: ' || same('TABLE state', 'TABLE state_before');
    DROP TRIGGER meddle ON item;
END $$;
SELECT try_meddle('AFTER DELETE ON item', $$ UPDATE test.item SET v = v || '!' $$);
SELECT try_meddle('AFTER DELETE ON item', $$ DELETE FROM test.item WHERE line = 3 $$);
SELECT try_meddle('BEFORE DELETE ON item', $$ UPDATE test.item SET v = v || '!' $$);
SELECT try_meddle('BEFORE DELETE ON item FOR EACH ROW', $$ DELETE FROM test.item WHERE line = 6 $$);
-- Rows that the run is done with may be changed.
CREATE FUNCTION number_lines() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE test.item SET v = v || ' of ' || n.n
    FROM (SELECT k, count(*) AS n FROM test.item GROUP BY k) AS n
    WHERE item.k = n.k AND item.k IN (SELECT k FROM new_rows) AND v NOT LIKE '% of %';
    RETURN NULL;
END $$;
CREATE TRIGGER number_lines AFTER INSERT ON item REFERENCING NEW TABLE AS new_rows EXECUTE FUNCTION number_lines();
SELECT applied('item');
SELECT * FROM item ORDER BY k, line;
\i :finish
