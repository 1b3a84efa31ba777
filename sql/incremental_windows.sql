\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- E4: windows that move, and predicates for one run; what is left out of one window
-- is not forgotten by the next.
--
-- A refresh; how it was done, why, and what came of it.
CREATE FUNCTION ran(flow text, predicate_override text DEFAULT NULL) RETURNS text LANGUAGE sql AS $$
    SELECT predicate || ': ' || technique || coalesce(', ' || split_part(reasons[1], ':', 1), '') || ': ' || test.in_words(run)
    FROM replace_flow.refresh(flow, predicate_override) AS run
$$;
-- Whether a window of the flow is as the query gives it.
CREATE FUNCTION is_right(predicate text) RETURNS boolean LANGUAGE sql AS $$
    SELECT test.same('SELECT day, total FROM t WHERE ' || predicate,
                     'SELECT * FROM (SELECT day, sum(n) AS total FROM test.s GROUP BY day) AS q WHERE ' || predicate)
$$;
CREATE TABLE clock (today int);
INSERT INTO clock VALUES (20);
CREATE FUNCTION today() RETURNS int LANGUAGE sql STABLE AS 'SELECT today FROM test.clock';
CREATE TABLE s (day int, n int);
INSERT INTO s SELECT i % 30, i FROM generate_series(1, 300) AS i;
SELECT replace_flow.create_where_flow('t', 'SELECT day, sum(n) AS total FROM s GROUP BY day', 'day > today() - 7');
SELECT ran('t');
-- The lower bound moves up: what left the window stays as it was (the main use).
UPDATE s SET n = n + 1 WHERE day IN (14, 20, 25);
UPDATE clock SET today = 22;
SELECT ran('t');
SELECT is_right('day > 22 - 7'), is_right('day = 14') AS day_14;
SELECT ran('t');
-- It moves back: rows that the last window left out may be out of date.
UPDATE clock SET today = 20;
SELECT ran('t');
SELECT is_right('day > 20 - 7');

-- The upper bound moves.
SELECT replace_flow.alter_flow('t', replace_where => 'day BETWEEN today() - 7 AND today()');
SELECT ran('t');
UPDATE s SET n = n + 1 WHERE day IN (19, 21);
SELECT ran('t');
UPDATE clock SET today = 21;
SELECT ran('t');
SELECT is_right('day BETWEEN 14 AND 21');

-- Other ways to say that a window lies in another.
SELECT replace_flow.alter_flow('t', replace_where => 'day > 10');
SELECT ran('t');
SELECT ran('t', 'day > 12 AND day < 20');
SELECT ran('t', 'day IN (15, 17)');
SELECT ran('t', 'day = 15 OR day > 20');
SELECT ran('t', 'day >= 11');
SELECT ran('t', 'day > 10 OR day IS NULL');
SELECT ran('t', 'day % 20 = 15');
SELECT ran('t', 'day > 10 AND total > 100');

-- A predicate for one run changes nothing for the next one (D5): it misses no change,
-- whatever window that run had.
UPDATE s SET n = n + 1 WHERE day IN (12, 15, 5);
SELECT ran('t', 'day = 15');
SELECT ran('t', 'day < 8');
SELECT is_right('day = 15 OR day < 8'), is_right('day = 12') AS day_12;
SELECT ran('t');
SELECT is_right('day > 10 OR day < 8');
-- one that fails leaves nothing behind
UPDATE s SET n = n + 1 WHERE day = 12;
SELECT refused($$ SELECT replace_flow.refresh('t', 'day > 10 AND 1 / (day - 12) > -5') $$);
SELECT ran('t');
SELECT is_right('day > 10');

-- A run that is rolled back has seen nothing.
UPDATE s SET n = n + 1 WHERE day = 13;
BEGIN;
SELECT ran('t');
ROLLBACK;
SELECT ran('t');
-- Nor has one seen what its own transaction does after it.
BEGIN;
UPDATE s SET n = n + 1 WHERE day = 16;
SELECT ran('t');
UPDATE s SET n = n + 1 WHERE day = 17;
COMMIT;
SELECT ran('t');
SELECT is_right('day > 10');
SELECT ran('t');

-- A paused flow misses nothing, and other flows see what it has not.
SELECT replace_flow.create_where_flow('t2', 'SELECT day, count(*) AS n FROM s GROUP BY day', 'day > 10');
SELECT ran('t2');
SELECT replace_flow.pause_flow('t');
INSERT INTO s VALUES (18, 1);
SELECT ran('t2');
SELECT ran('t2');
SELECT replace_flow.resume_flow('t');
SELECT ran('t');
SELECT is_right('day > 10');

-- A full refresh is remembered; a preview and planning are not.
INSERT INTO s VALUES (18, 1);
SELECT rows_inserted + rows_updated + rows_deleted > 0 AS changes FROM replace_flow.preview('t') WHERE key IS NULL;
SELECT technique FROM replace_flow.planning('t') WHERE chosen;
SELECT ran('t');
SELECT replace_flow.alter_flow('t', reset_allowed => true);
INSERT INTO s VALUES (18, 1);
SELECT technique, reasons FROM replace_flow.full_refresh('t');
SELECT ran('t');

-- A flow over the target of another one.
SELECT replace_flow.create_where_flow('weekly', 'SELECT day / 7 AS week, sum(total) AS total FROM t GROUP BY 1', 'week > 0');
SELECT ran('weekly');
UPDATE s SET n = n + 1 WHERE day = 25;
SELECT ran('weekly');
SELECT ran('t');
SELECT ran('weekly');
SELECT same('TABLE weekly', 'SELECT day / 7 AS week, sum(total) AS total FROM t GROUP BY 1 HAVING day / 7 > 0');
\i :finish
