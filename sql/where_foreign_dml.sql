\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- D6: DML by others on the target is allowed.  It stays unless its rows fall into
-- the window of a later run.
--
CREATE TABLE t (day int, v text);
CREATE TABLE s (LIKE t);
INSERT INTO s SELECT day, 'source' FROM generate_series(1, 6) AS day;
SELECT replace_flow.create_where_flow('t', 'TABLE s', 'day >= 4');
SELECT refreshed('t');
-- Outside the window.
INSERT INTO t VALUES (1, 'by hand'), (2, 'by hand'), (NULL, 'by hand'), (3, 'by hand');
UPDATE t SET v = 'corrected' WHERE day = 2;
DELETE FROM t WHERE day = 3;
SELECT refreshed('t');
SELECT * FROM t ORDER BY day;
-- Inside: the window is what the query gives.
INSERT INTO t VALUES (5, 'by hand'), (9, 'by hand');
UPDATE t SET v = 'corrected' WHERE day = 4;
DELETE FROM t WHERE day = 6;
SELECT refreshed('t');
SELECT * FROM t ORDER BY day;
-- From one side to the other.
UPDATE t SET day = 3 WHERE day = 4;
UPDATE t SET day = 5 WHERE day = 1;
SELECT refreshed('t');
SELECT * FROM t ORDER BY day, v;
-- All of it.
TRUNCATE t;
SELECT refreshed('t');
COPY t FROM stdin;
2	copied
8	copied
\.
SELECT refreshed('t');
SELECT * FROM t ORDER BY day;
-- Rows by hand fall into the window of a later run with a wider one.
SELECT refreshed('t', 'day >= 2');
SELECT * FROM t ORDER BY day;
-- Inside of the same transaction, before and after a run.
BEGIN;
INSERT INTO t VALUES (7, 'by hand'), (0, 'by hand');
SELECT refreshed('t');
INSERT INTO t VALUES (7, 'later by hand');
COMMIT;
SELECT * FROM t ORDER BY day;
SELECT refreshed('t');
SELECT * FROM t ORDER BY day;

-- A target that the flow finds with rows in it is taken as it is.
CREATE TABLE legacy (day int, v text);
INSERT INTO legacy VALUES (1, 'legacy'), (5, 'legacy'), (6, 'source');
SELECT replace_flow.create_where_flow('legacy', 'TABLE s', 'day >= 4');
SELECT * FROM legacy ORDER BY day;
SELECT refreshed('legacy');
SELECT * FROM legacy ORDER BY day;
\i :finish
