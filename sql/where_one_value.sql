\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- D2: what does not depend on the row has one value in a run, in branches too,
-- and a column has the value that will be stored.
--

CREATE TABLE s (a int);
INSERT INTO s SELECT generate_series(1, 10);
-- marked as stable, and another one with each call
CREATE SEQUENCE calls;
CREATE FUNCTION limit_of_run() RETURNS int LANGUAGE sql STABLE AS
    $$ SELECT CASE WHEN nextval('test.calls') = 1 THEN 10 ELSE 0 END $$;

CREATE PROCEDURE try(predicate text) LANGUAGE plpgsql AS $$
BEGIN
    PERFORM setval('test.calls', 1, false);
    PERFORM replace_flow.create_where_flow('t', 'SELECT a FROM s', predicate);
    RAISE INFO '%', refreshed('t');
    PERFORM setval('test.calls', 1, false);
    RAISE INFO '%', refreshed('t');
    RAISE INFO '% rows, the window was %', (SELECT count(*) FROM t), (SELECT max(r.predicate) FROM replace_flow.run r);
    PERFORM replace_flow.drop_flow('t', drop_target => true);
END $$;
\set VERBOSITY terse
CALL try('a <= limit_of_run()');
CALL try('CASE WHEN a > 0 THEN a <= limit_of_run() END');
CALL try('CASE a WHEN 0 THEN false ELSE a <= limit_of_run() END');
CALL try('coalesce(nullif(a, 5), limit_of_run()) < 11');
CALL try('a > 3 AND (a < 0 OR a <= limit_of_run())');
-- A branch that is not taken raises no error.
CALL try('CASE WHEN false THEN 1 / 0 = 1 ELSE a > 5 END');
\set VERBOSITY default

-- A function that the target's type would be made by.
CREATE TYPE pair AS (x int);
CREATE FUNCTION number_of(pair) RETURNS int VOLATILE LANGUAGE sql AS 'SELECT (random() * 100)::int';
CREATE CAST (pair AS int) WITH FUNCTION number_of(pair) AS ASSIGNMENT;
CREATE TABLE p (id int, c pair);
CREATE TABLE t (id int, c int);
SELECT refused($$ SELECT replace_flow.create_where_flow('t', 'SELECT id, c FROM p', 'c < 50') $$);
-- Nothing depends on it where the predicate does not use the column.
SELECT replace_flow.create_where_flow('t', 'SELECT id, c FROM p', 'id < 50');
SELECT refused($$ SELECT replace_flow.refresh('t', 'c < 50') $$);
SELECT refused($$ SELECT replace_flow.alter_flow('t', replace_where => 'c < 50') $$);
ALTER FUNCTION number_of(pair) STABLE;
SELECT replace_flow.alter_flow('t', replace_where => 'c < 50');
ALTER FUNCTION number_of(pair) VOLATILE;
SELECT refused($$ SELECT replace_flow.refresh('t') $$);
\i :finish
