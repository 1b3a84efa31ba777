\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- A10: a where flow follows its tables and columns through renames, or stops with an
-- error that says what is missing; and it ends with what it needs.
--
CREATE SCHEMA test2;
CREATE TABLE s (day int, region text, v text);
CREATE TABLE label (region text, label text);
CREATE VIEW between AS SELECT * FROM s;
INSERT INTO s VALUES (1, 'eu', 'a'), (2, 'eu', 'b'), (2, 'us', 'c');
INSERT INTO label VALUES ('eu', 'Europe'), ('us', 'America');
CREATE FUNCTION first_day() RETURNS int LANGUAGE sql STABLE AS 'SELECT 2';
SELECT replace_flow.create_where_flow('t', 'SELECT b.day, l.label AS region, b.v FROM between b JOIN label l USING (region)', $$ day >= first_day() AND region <> 'none' $$);
SELECT refreshed('t');

-- Target and columns, also two columns that change names; a decoy takes the old name.
ALTER TABLE t RENAME TO old_t;
ALTER TABLE old_t RENAME COLUMN day TO date;
ALTER TABLE old_t RENAME COLUMN region TO day;
ALTER TABLE old_t RENAME COLUMN v TO region;
CREATE TABLE t (day int, region text, v text);
UPDATE s SET v = upper(v);
SELECT refreshed('t');
SELECT * FROM old_t ORDER BY date, day;
TABLE t;
SELECT target, target_columns FROM replace_flow.flow;
ALTER TABLE old_t SET SCHEMA test2;
ALTER SCHEMA test2 RENAME TO test3;
UPDATE s SET v = v || '!';
SELECT refreshed('t');
SELECT refreshed('t', 'date = 1');
SELECT refused($$ SELECT replace_flow.refresh('t', 'v = ''A!''') $$);
SELECT * FROM test3.old_t ORDER BY date, day;

-- Sources and their columns, functions of the predicate, and their schema.
ALTER TABLE s RENAME TO old_s;
ALTER TABLE old_s RENAME COLUMN day TO dy;
ALTER TABLE label RENAME COLUMN label TO name;
ALTER TABLE label SET SCHEMA test3;
ALTER VIEW between RENAME TO among;
ALTER FUNCTION first_day() RENAME TO earliest;
ALTER FUNCTION earliest() SET SCHEMA test3;
CREATE TABLE s (day int, region text, v text);
CREATE TABLE label (region text, label text);
CREATE FUNCTION first_day() RETURNS int LANGUAGE sql STABLE AS 'SELECT 100';
UPDATE old_s SET v = 'last';
SELECT refreshed('t');
SELECT * FROM test3.old_t ORDER BY date, day;
-- A function that is replaced is another function of that name.
CREATE OR REPLACE FUNCTION test3.earliest() RETURNS int LANGUAGE sql STABLE AS 'SELECT 1';
SELECT refreshed('t');
SELECT * FROM test3.old_t ORDER BY date, day;
DROP TABLE s, label;
DROP FUNCTION first_day();

-- A column that the query does not give may go; one that it gives is missed, and one
-- that the predicate names as well.  Types may change where values still fit.
ALTER TABLE test3.old_t ADD COLUMN more int;
ALTER TABLE test3.old_t DROP COLUMN more;
SELECT refreshed('t');
ALTER TABLE test3.old_t ALTER COLUMN region TYPE varchar(10);
UPDATE old_s SET v = 'wider';
SELECT refreshed('t');
-- a predicate over a column of another type is another predicate: it is given anew
ALTER TABLE test3.old_t ALTER COLUMN date TYPE bigint;
SELECT refused($$ SELECT replace_flow.refresh('t') $$);
SELECT refreshed('t', 'date < 2 OR date > 5000000000');
SELECT replace_flow.alter_flow('t', replace_where => 'date >= test3.earliest() AND date < 5000000000');
SELECT refreshed('t');
SELECT * FROM test3.old_t ORDER BY date, day;
ALTER TABLE test3.old_t ALTER COLUMN date TYPE date USING NULL;
SELECT refused($$ SELECT replace_flow.refresh('t') $$);
SELECT refused($$ SELECT replace_flow.refresh('t', 'true') $$);
ALTER TABLE test3.old_t ALTER COLUMN date TYPE bigint USING NULL;
SELECT refreshed('t');
SELECT * FROM test3.old_t ORDER BY date, day;
BEGIN;
ALTER TABLE test3.old_t DROP COLUMN region CASCADE;
SELECT refused($$ SELECT replace_flow.refresh('t') $$);
ROLLBACK;
BEGIN;
ALTER TABLE test3.old_t DROP COLUMN date CASCADE;
SELECT refused($$ SELECT replace_flow.refresh('t') $$);
ROLLBACK;
SELECT refreshed('t');

-- What it reads, and what its predicate calls, is dropped only with CASCADE, and the
-- flow with it; dropping the target drops the flow.
CREATE FUNCTION left_of_flows() RETURNS text LANGUAGE sql AS $$
    SELECT coalesce(string_agg(format('%s %s', number, what), ', ' ORDER BY what), 'nothing')
    FROM (
        SELECT count(*), 'flow' FROM replace_flow.flow UNION ALL
        SELECT count(*), 'expectation' FROM replace_flow.expectation UNION ALL
        SELECT least(count(*), 1), 'run' FROM replace_flow.run UNION ALL
        SELECT count(*), 'view' FROM pg_class WHERE relnamespace = 'replace_flow'::regnamespace AND relname ~ '^(flow|floor|window)_\d+$'
    ) AS l (number, what)
    WHERE number > 0
$$;
CREATE FUNCTION after(statement text) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
    BEGIN
        EXECUTE statement;
        RETURN NEXT left_of_flows();
        RAISE SQLSTATE 'RF000';
    EXCEPTION
        WHEN SQLSTATE 'RF000' THEN
            NULL;
        WHEN OTHERS THEN
            RETURN NEXT regexp_replace(SQLERRM, '_\d+', '_N', 'g');
    END;
END $$;
SELECT replace_flow.add_expectation('t', 'e', 'true', 'warn');
SELECT after('SELECT 1');
SELECT after('DROP TABLE test3.old_t');
SELECT after('DROP TABLE test3.old_t CASCADE');
SELECT after('DROP TABLE old_s');
SELECT after('DROP TABLE old_s CASCADE');
SELECT after('DROP VIEW among');
SELECT after('DROP VIEW among CASCADE');
SELECT after('DROP TABLE test3.label');
SELECT after('DROP FUNCTION test3.earliest()');
SELECT after('DROP FUNCTION test3.earliest() CASCADE');
SELECT after('ALTER TABLE old_s DROP COLUMN v');
SELECT after('ALTER TABLE old_s DROP COLUMN v CASCADE');
SELECT after('ALTER TABLE test3.label DROP COLUMN name CASCADE');
SELECT after('DROP SCHEMA test3 CASCADE');
SELECT after('SELECT replace_flow.drop_flow(''t'')');
SELECT after('SELECT replace_flow.drop_flow(''t'', drop_target => true)');
SELECT refreshed('t');
-- A dropped source that comes back is another table.
DROP TABLE old_s CASCADE;
SELECT left_of_flows();
SELECT refused($$ SELECT replace_flow.refresh('t') $$);
SELECT count(*) FROM test3.old_t;
DROP SCHEMA test3 CASCADE;
\i :finish
