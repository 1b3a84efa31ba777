\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- B13: parts of a target with triggers, indexes and constraints of their own, and
-- parts that come and go between runs.
--
CREATE TABLE event (k int, day int, v text, s int) PARTITION BY RANGE (day);
CREATE TABLE event_1 PARTITION OF event FOR VALUES FROM (0) TO (10);
CREATE TABLE event_2 (gone int, s int, v text NOT NULL DEFAULT 'v', also_gone text, day int, k int, more int DEFAULT 5);
ALTER TABLE event_2 DROP COLUMN gone, DROP COLUMN also_gone, DROP COLUMN more;
ALTER TABLE event ATTACH PARTITION event_2 FOR VALUES FROM (10) TO (20);
CREATE TABLE event_3 PARTITION OF event FOR VALUES FROM (20) TO (30) PARTITION BY HASH (k);
CREATE TABLE event_3_0 PARTITION OF event_3 FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE event_3_1 PARTITION OF event_3 FOR VALUES WITH (MODULUS 2, REMAINDER 1);
CREATE TABLE event_rest PARTITION OF event DEFAULT;
CREATE INDEX ON event (k);
-- each part with something of its own
CREATE UNIQUE INDEX ON event_1 (v);
ALTER TABLE event_2 ADD EXCLUDE USING gist (box(point(day, 0), point(day, 0)) WITH &&);
ALTER TABLE event_3 ADD CHECK (v <> 'bad');
ALTER TABLE event_rest ADD UNIQUE (day) DEFERRABLE INITIALLY DEFERRED;
CREATE TABLE log (n int GENERATED ALWAYS AS IDENTITY, what text);
CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO test.log (what) VALUES (format('%s %s %s: %s -> %s', TG_TABLE_NAME, TG_WHEN, TG_OP, OLD.v, NEW.v));
    RETURN coalesce(NEW, OLD);
END $$;
CREATE FUNCTION note_statement() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO test.log (what) VALUES (format('%s statement %s', TG_TABLE_NAME, TG_OP));
    RETURN NULL;
END $$;
CREATE TRIGGER a BEFORE INSERT OR UPDATE OR DELETE ON event_1 FOR EACH ROW EXECUTE FUNCTION note();
CREATE TRIGGER b AFTER INSERT OR UPDATE OR DELETE ON event_2 FOR EACH ROW EXECUTE FUNCTION note();
CREATE TRIGGER c AFTER INSERT OR UPDATE OR DELETE ON event_3 FOR EACH ROW EXECUTE FUNCTION note();
-- a statement names the whole table, so triggers for statements of a part do not fire
CREATE TRIGGER d AFTER INSERT OR UPDATE OR DELETE ON event_1 FOR EACH STATEMENT EXECUTE FUNCTION note_statement();
CREATE TRIGGER d AFTER INSERT OR UPDATE OR DELETE ON event FOR EACH STATEMENT EXECUTE FUNCTION note_statement();

CREATE TABLE event_in (k int, day int, v text, s int);
SELECT replace_flow.create_using_flow('event', 'event_in', '{k}', 's');
INSERT INTO event_in VALUES (1, 1, 'a', 1), (1, 11, 'b', 1), (1, 21, 'c', 1), (1, 31, 'd', 1), (2, 2, 'e', 1), (2, 12, 'f', 1), (2, 32, 'g', 1);
SELECT applied('event');
SELECT what FROM log ORDER BY what COLLATE "C";
-- Values that are unique in a part change places within it and with other parts.
TRUNCATE log;
INSERT INTO event_in VALUES
    (1, 1, 'e', 2), (1, 12, 'b', 2), (1, 22, 'a', 2), (1, 32, 'd', 2), (2, 3, 'a', 2), (2, 11, 'f', 2), (2, 31, 'g', 2);
SELECT applied('event');
SELECT what FROM log ORDER BY what COLLATE "C";
SELECT tableoid::regclass AS part, * FROM event ORDER BY k, day;

-- What a part refuses, and what its triggers keep, fails the run whole.
CREATE VIEW state AS
    SELECT 'event' AS what, tableoid::text || ctid::text || xmin::text || t::text AS "row" FROM event t
    UNION ALL SELECT 'event_in', ctid::text || xmin::text || s::text FROM event_in s
    UNION ALL SELECT 'floor', f::text FROM replace_flow.floors('event') f
    UNION ALL SELECT 'run', run_id::text FROM replace_flow.run;
CREATE TABLE state_before (what text, "row" text);
CREATE FUNCTION try_bad(bad text) RETURNS SETOF text
LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE 'INSERT INTO event_in VALUES (3, 5, ''good'', 1), ' || bad;
    DELETE FROM state_before;
    INSERT INTO state_before TABLE state;
    RETURN QUERY SELECT line FROM refused($r$ SELECT replace_flow.apply('event'); SET CONSTRAINTS ALL IMMEDIATE $r$) AS line
                 WHERE line !~ '^(DETAIL|HINT|CONTEXT)';
    RETURN NEXT 'as it was: ' || same('TABLE state', 'TABLE state_before');
    DELETE FROM event_in;
END $$;
SELECT try_bad($$ (1, 4, 'a', 3) $$);
SELECT try_bad($$ (4, 15, 'x', 3), (4, 15, 'y', 3) $$);
SELECT try_bad($$ (1, 15, NULL, 3) $$);
SELECT try_bad($$ (1, 25, 'bad', 3) $$);
SELECT try_bad($$ (4, 31, 'x', 3) $$);
CREATE FUNCTION swallow() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RETURN NULL;
END $$;
CREATE TRIGGER swallow BEFORE INSERT ON event_rest FOR EACH ROW EXECUTE FUNCTION swallow();
SELECT try_bad($$ (1, 50, 'x', 3) $$);
DROP TRIGGER swallow ON event_rest;
CREATE TRIGGER swallow BEFORE DELETE ON event_3_0 FOR EACH ROW EXECUTE FUNCTION swallow();
CREATE TRIGGER swallow BEFORE DELETE ON event_3_1 FOR EACH ROW EXECUTE FUNCTION swallow();
SELECT try_bad($$ (1, 50, 'x', 3) $$);
DROP TRIGGER swallow ON event_3_0;
DROP TRIGGER swallow ON event_3_1;
-- One that would send the row to another part.
CREATE FUNCTION send_elsewhere() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.day := 1;
    RETURN NEW;
END $$;
CREATE TRIGGER send_elsewhere BEFORE INSERT ON event_rest FOR EACH ROW EXECUTE FUNCTION send_elsewhere();
SELECT left(line, 5) AS line FROM try_bad($$ (1, 50, 'x', 3) $$) AS line;
DROP TRIGGER send_elsewhere ON event_rest;

-- A part that is detached takes its rows along; they are no longer the flow's, and
-- a set of their key does not touch them.
ALTER TABLE event DETACH PARTITION event_1;
INSERT INTO event_in VALUES (1, 41, 'h', 3), (2, 3, 'now in the default part', 3);
SELECT applied('event');
SELECT tableoid::regclass AS part, * FROM event ORDER BY k, day;
SELECT * FROM event_1 ORDER BY k;
-- Attached again they are rows of their key like others: they count for the floor,
-- and go with the next set.
DELETE FROM event WHERE day < 10;
UPDATE event_1 SET s = 9 WHERE k = 1;
ALTER TABLE event ATTACH PARTITION event_1 FOR VALUES FROM (0) TO (10);
INSERT INTO event_in VALUES (1, 42, 'late', 8), (2, 43, 'newer', 3);
SELECT applied('event');
SELECT * FROM replace_flow.floors('event');
SELECT tableoid::regclass AS part, * FROM event ORDER BY k, day;
INSERT INTO event_in VALUES (1, 44, 'j', 10);
SELECT applied('event');
-- One with other columns, and rows of a new key.
CREATE TABLE event_5 (v text, s int, gone int, k int, day int);
ALTER TABLE event_5 DROP COLUMN gone;
INSERT INTO event_5 VALUES ('k', 5, 5, 61), ('l', 5, 5, 62);
ALTER TABLE event ATTACH PARTITION event_5 FOR VALUES FROM (60) TO (70);
INSERT INTO event_in VALUES (5, 1, 'late', 4), (5, 63, 'tie', 5);
SELECT applied('event');
INSERT INTO event_in VALUES (5, 64, 'm', 6), (5, 4, 'n', 6);
SELECT applied('event');
SELECT tableoid::regclass AS part, * FROM event ORDER BY k, day;
DROP TABLE event_5;
SELECT * FROM replace_flow.floors('event');
\i :finish
