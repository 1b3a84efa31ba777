\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- A9: whatever code hangs on the tables of a where flow, or is named by its predicate,
-- runs as the flow's owner, also when the superuser runs, changes or drops the flow.
--
CREATE ROLE regress_rf_hostile;
GRANT ALL ON SCHEMA test TO regress_rf_hostile;
CREATE TABLE seen (who text, place text);
GRANT INSERT ON seen TO PUBLIC;
SET ROLE regress_rf_hostile;
-- Immutable by its own word, so the server evaluates it when it only plans.
CREATE FUNCTION note(place text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO test.seen VALUES (current_user, place);
END $$;
CREATE FUNCTION trap(place text) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    PERFORM test.note(place);
    RETURN 0;
END $$;
CREATE FUNCTION trap_of(value int, place text) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    PERFORM test.note(place);
    RETURN value;
END $$;
CREATE FUNCTION spring() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM test.note(format('trigger on %s', TG_OP));
    RETURN coalesce(NEW, OLD);
END $$;
CREATE TYPE boxed AS (n int);
CREATE FUNCTION unbox(boxed) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    PERFORM test.note('assignment cast');
    RETURN ($1).n;
END $$;
CREATE CAST (boxed AS int) WITH FUNCTION unbox(boxed) AS ASSIGNMENT;
CREATE DOMAIN checked AS int CHECK (VALUE + test.trap('domain') > 0);
CREATE TYPE pair AS (a checked, b int);
CREATE FUNCTION same_number(int, int) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    PERFORM test.note('operator');
    RETURN $1 OPERATOR(pg_catalog.=) $2;
END $$;
CREATE OPERATOR =~= (LEFTARG = int, RIGHTARG = int, FUNCTION = same_number);
CREATE TABLE item_in (day int, v text, n boxed, d int, p pair, l checked[]);
CREATE TABLE item (
    day int, v text CHECK (trap('check constraint') = 0), n int, d checked, p pair, l checked[], at int DEFAULT trap('default'),
    g int GENERATED ALWAYS AS (day + trap('generated column')) STORED);
CREATE INDEX ON item ((day + trap('index')));
CREATE INDEX ON item (v) WHERE trap('partial index') = 0;
CREATE INDEX ON item_in ((day + trap('index')));
CREATE STATISTICS statistics_of_target ON (day + trap('statistics')), v FROM item;
CREATE TRIGGER b BEFORE INSERT OR UPDATE OR DELETE ON item FOR EACH ROW EXECUTE FUNCTION spring();
CREATE TRIGGER c AFTER INSERT OR UPDATE OR DELETE ON item FOR EACH STATEMENT EXECUTE FUNCTION spring();
CREATE VIEW between AS SELECT *, trap('view') AS t FROM item_in;
SET search_path = test;
SELECT replace_flow.create_where_flow('item', 'SELECT day, v, n, d, p, l FROM between',
    $$ day + trap('predicate') > 1 AND trap_of(day, 'predicate of a row') > 1 AND (n =~= 1 OR trap('second') = 0) AND d > 0 $$, reset_allowed => true);
SELECT replace_flow.add_expectation('item', 'valid', $$ trap('expectation') = 0 AND v IS DISTINCT FROM 'bad' $$, 'drop');
CREATE TABLE parted_in (day int, v text);
CREATE TABLE parted (day int, v text) PARTITION BY RANGE ((day + trap('partition key')));
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES FROM (0) TO (100);
SELECT replace_flow.create_where_flow('parted', 'TABLE parted_in', 'day + trap(''predicate'') > 1');
RESET ROLE;

-- The superuser, each time in a session that remembers nothing.
\set show 'SELECT DISTINCT who FROM test.seen; TRUNCATE test.seen;'
INSERT INTO item_in VALUES (2, 'x', row(1), 1, row(1, 1), '{1}'), (2, 'bad', row(1), 1, NULL, NULL), (3, 'y', row(2), 2, NULL, NULL), (1, 'z', row(1), 1, NULL, NULL);
INSERT INTO parted_in VALUES (1, 'x'), (2, 'y');
TRUNCATE seen;
\c -
SELECT status, rows_read, rows_inserted, rows_rejected FROM replace_flow.refresh('item');
SELECT DISTINCT place FROM test.seen WHERE place !~ 'index|statistics|view|partition|second|^predicate$' ORDER BY place;
:show
\c -
SELECT status, rows_inserted FROM replace_flow.refresh('parted');
:show
UPDATE test.item_in SET v = 'changed' WHERE v = 'x';
TRUNCATE test.seen;
\c -
SELECT status, rows_inserted + rows_updated AS came FROM replace_flow.refresh('item', $$ day > test.trap('override') AND test.trap_of(day, 'override') > 0 $$);
:show
-- what the superuser writes is read as the owner would
\c -
SELECT status FROM replace_flow.refresh('item', $$ p = '(1,1)'::test.pair $$);
:show
\c -
SELECT status FROM replace_flow.refresh('item', $$ l = '{1}' AND d = '1' $$);
:show
\c -
SELECT status FROM replace_flow.full_refresh('item');
:show
\c -
SELECT key, rows_unchanged FROM replace_flow.preview('item');
:show
\c -
SELECT flow, status FROM replace_flow.start_update('{item,parted}');
:show
\c -
CALL replace_flow.backfill('item', 'day', 1, 3, 1);
:show
\c -
CALL replace_flow.backfill('item', 'd', 1, 3, 1);
:show
\c -
SELECT replace_flow.add_expectation('item', 'second', 'v IS NOT NULL', 'warn');
:show
\c -
SELECT replace_flow.alter_flow('item', comment => 'new', settings => '{"work_mem": "1MB"}');
:show
\c -
SELECT replace_flow.alter_flow('item', query => 'SELECT day, v, n, d, p, l, 5 AS more FROM test.between');
:show
\c -
SELECT replace_flow.alter_flow('item', replace_where => $$ day + test.trap('new predicate') > 1 AND p IS DISTINCT FROM '(1,2)'::test.pair AND l IS DISTINCT FROM '{7}' $$);
:show
\c -
SELECT replace_flow.drop_expectation('item', 'second');
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
