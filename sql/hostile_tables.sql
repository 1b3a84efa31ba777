\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- A9: whatever code hangs on the tables of a flow runs as the flow's owner, also
-- when the superuser runs, changes or drops the flow.
--
CREATE ROLE regress_rf_hostile;
GRANT ALL ON SCHEMA test TO regress_rf_hostile;
CREATE TABLE seen (who text, place text);
GRANT INSERT ON seen TO PUBLIC;
SET ROLE regress_rf_hostile;
-- Immutable by its own word, so the server evaluates it when it only plans, or
-- only looks at an index.
CREATE FUNCTION note(place text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO test.seen VALUES (current_user, place);
END $$;
CREATE FUNCTION trap(place text) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    PERFORM test.note(place);
    RETURN 0;
END $$;
CREATE FUNCTION spring() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM test.note(format('trigger on %s of %s', TG_OP, TG_TABLE_NAME));
    RETURN coalesce(NEW, OLD);
END $$;
CREATE TYPE mood AS ENUM ('a', 'b');
CREATE FUNCTION mood_to_json(mood) RETURNS json LANGUAGE plpgsql AS $$
BEGIN
    PERFORM test.note('cast to json');
    RETURN to_json($1::text);
END $$;
CREATE CAST (mood AS json) WITH FUNCTION mood_to_json(mood);
CREATE TYPE boxed AS (n int);
CREATE FUNCTION unbox(boxed) RETURNS int LANGUAGE plpgsql AS $$
BEGIN
    PERFORM test.note('assignment cast');
    RETURN ($1).n;
END $$;
CREATE CAST (boxed AS int) WITH FUNCTION unbox(boxed) AS ASSIGNMENT;
CREATE DOMAIN checked AS int CHECK (VALUE + test.trap('domain') > 0);
CREATE TABLE item_in (k int, s int, v text, m mood, n boxed, d int);
CREATE TABLE item (
    k int, s int, v text CHECK (trap('check constraint') = 0), m mood, n int, d checked, at int DEFAULT trap('default'),
    g int GENERATED ALWAYS AS (k + trap('generated column')) STORED);
CREATE INDEX ON item (k, m);
CREATE INDEX ON item ((s + trap('index of the target')));
CREATE INDEX ON item (s) WHERE trap('partial index of the target') = 0;
CREATE UNIQUE INDEX ON item (k, m, s, v, (s + trap('unique index')));
CREATE INDEX ON item_in ((s + trap('index of the stream')));
CREATE STATISTICS statistics_of_target ON (s + trap('statistics of the target')), v FROM item;
CREATE STATISTICS statistics_of_stream ON (s + trap('statistics of the stream')), v FROM item_in;
CREATE TRIGGER b BEFORE INSERT OR UPDATE OR DELETE ON item FOR EACH ROW EXECUTE FUNCTION spring();
CREATE TRIGGER c AFTER INSERT OR UPDATE OR DELETE ON item FOR EACH STATEMENT EXECUTE FUNCTION spring();
CREATE TRIGGER d AFTER INSERT ON item FOR EACH ROW WHEN (test.trap('condition of a trigger') = 0) EXECUTE FUNCTION spring();
CREATE TRIGGER e AFTER DELETE ON item_in FOR EACH ROW EXECUTE FUNCTION spring();
CREATE VIEW between AS SELECT *, trap('view') AS t FROM item_in;
SET search_path = test;
SELECT replace_flow.create_using_flow('item', 'item_in', '{k,m}', $$ s + trap('sequence') $$,
    query => 'SELECT k, s, v, m, n, d FROM between', delete_when => $$ trap('tombstone') = 1 OR v IS NULL $$);
SELECT replace_flow.add_expectation('item', 'valid', $$ trap('expectation') = 0 AND v IS DISTINCT FROM 'bad' $$, 'drop');
CREATE TABLE parted_in (k int, s int, v text);
CREATE TABLE parted (k int, s int, v text) PARTITION BY RANGE ((k + trap('partition key')));
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES FROM (0) TO (100);
SET client_min_messages = error;
SELECT replace_flow.create_using_flow('parted', 'parted_in', '{k}', 's');
RESET client_min_messages;
RESET ROLE;

-- The superuser, each time in a session that remembers nothing.
\set show 'SELECT DISTINCT who FROM test.seen; TRUNCATE test.seen;'
INSERT INTO item_in VALUES (1, 1, 'x', 'a', row(1), 1), (1, 1, 'bad', 'a', row(1), 1), (2, 1, 'y', 'b', row(1), 2), (3, 1, NULL, 'b', NULL, 1);
INSERT INTO parted_in VALUES (1, 1, 'x');
TRUNCATE seen;
\c -
SELECT status, rows_inserted, rows_rejected, rows_tombstone FROM replace_flow.apply('item');
-- each of them was there, whatever the server found to do when it planned
SELECT DISTINCT place FROM test.seen WHERE place !~ 'index|statistics|view' ORDER BY place;
SELECT count(DISTINCT place) > 0 AS planned FROM test.seen WHERE place ~ 'index|statistics|view';
:show
\c -
SELECT status, rows_inserted FROM replace_flow.apply('parted');
:show
INSERT INTO test.item_in VALUES (1, 2, 'x', 'a', row(1), 1), (2, 2, NULL, 'b', row(1), 2);
TRUNCATE test.seen;
\c -
SELECT status, rows_inserted + rows_updated AS came, rows_tombstone FROM replace_flow.apply('item');
:show
\c -
SELECT key, floor FROM replace_flow.floors('item') ORDER BY key;
:show
\c -
SELECT replace_flow.add_expectation('item', 'second', 'v IS NOT NULL', 'warn');
:show
\c -
SELECT replace_flow.alter_flow('item', comment => 'new', settings => '{"work_mem": "1MB"}');
:show
\c -
SELECT replace_flow.alter_flow('item', query => 'SELECT k, s, v, m, n, d, 5 AS more FROM test.between');
:show
\c -
SET client_min_messages = error;
SELECT replace_flow.alter_flow('item', delete_when => '');
:show
\c -
SELECT replace_flow.drop_expectation('item', 'second');
:show
\c -
SET client_min_messages = error;
SELECT replace_flow.alter_flow('parted', query => 'SELECT *, 1 AS more FROM test.parted_in', replace_using => '{k,s}');
:show
\c -
SELECT replace_flow.pause_flow('item');
SELECT replace_flow.resume_flow('item');
SELECT replace_flow.drop_flow('item');
SELECT replace_flow.drop_flow('parted', drop_target => true);
:show
SET search_path = test;
SET client_min_messages = error;
DROP OWNED BY regress_rf_hostile CASCADE;
DROP ROLE regress_rf_hostile;
\i :finish
