\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- A5, A8: what cannot be the query of a where flow.  It reads neither a stream, whose
-- rows vanish, nor its own target, not even through a view.
--
CREATE TABLE t (day int, v text);
CREATE TABLE s (LIKE t);
CREATE FUNCTION try(query text, target text DEFAULT 't') RETURNS SETOF text LANGUAGE sql AS $$
    SELECT refused(format('SELECT replace_flow.create_where_flow(%L, %L, ''day > 1'')', target, query))
$$;

-- Its own target.
CREATE VIEW t_view AS SELECT * FROM t;
CREATE VIEW t_view2 AS SELECT s.* FROM s WHERE EXISTS (SELECT FROM t_view);
CREATE MATERIALIZED VIEW t_matview AS SELECT * FROM t;
SELECT try('SELECT * FROM t');
SELECT try('SELECT * FROM ONLY t');
SELECT try('SELECT s.* FROM s LEFT JOIN t USING (day) WHERE t.day IS NULL');
SELECT try('SELECT * FROM s WHERE day > (SELECT max(day) FROM t)');
SELECT try('SELECT * FROM s WHERE NOT EXISTS (SELECT FROM t WHERE t.day = s.day)');
SELECT try('WITH old AS (SELECT * FROM t) SELECT s.* FROM s, old');
SELECT try('SELECT * FROM s UNION ALL SELECT * FROM t');
SELECT try('SELECT * FROM t_view');
SELECT try('SELECT * FROM t_view2');
SELECT try('SELECT * FROM t TABLESAMPLE SYSTEM (50)');
SELECT try('SELECT l.* FROM s, LATERAL (SELECT * FROM t WHERE t.day = s.day) AS l');
-- its parts, and what it is a part of
CREATE TABLE parted (day int, v text) PARTITION BY LIST (day);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES IN (1) PARTITION BY LIST (v);
CREATE TABLE parted_1_1 PARTITION OF parted_1 DEFAULT;
SELECT try('SELECT * FROM parted_1', 'parted');
SELECT try('SELECT * FROM parted_1_1', 'parted');
SELECT try('SELECT * FROM parted', 'parted_1_1');
SELECT try('SELECT * FROM ONLY parted', 'parted_1');
-- A materialized view is a table of its own.
SELECT replace_flow.create_where_flow('t', 'SELECT * FROM t_matview', 'day > 1');
SELECT replace_flow.drop_flow('t');

-- A stream, in any place.
CREATE TABLE u (k int, s int);
CREATE INDEX ON u (k);
CREATE TABLE u_in (k int, s int);
CREATE TABLE p_in (k int, s int) PARTITION BY LIST (k);
CREATE TABLE p_in_1 PARTITION OF p_in FOR VALUES IN (1);
CREATE VIEW u_view AS SELECT * FROM u_in;
SELECT replace_flow.create_using_flow('u', 'u_in', '{k}', 's');
SELECT replace_flow.create_using_flow('p', 'p_in', '{k}', 's');
SELECT try('SELECT k AS day FROM u_in');
SELECT try('SELECT k AS day FROM u_view');
SELECT try('SELECT day FROM s WHERE day IN (SELECT k FROM u_in)');
SELECT try('SELECT k AS day FROM p_in');
SELECT try('SELECT k AS day FROM p_in_1');
-- The target of another flow, of either kind, is a table like others.
SELECT replace_flow.create_where_flow('t', 'SELECT k AS day FROM u', 'day > 1');

-- A table that becomes a stream later, or is read by the query later: the run says so.
-- And a stream cannot be made of what a where flow reads.
CREATE TABLE later_in (k int, s int);
CREATE VIEW later_view AS SELECT 1 AS k;
SELECT replace_flow.create_where_flow('later', 'SELECT v.k AS day FROM later_view v', 'true');
SELECT replace_flow.create_where_flow('direct', 'SELECT l.k AS day FROM later_in l', 'true');
SELECT refused($$ SELECT replace_flow.create_using_flow('v', 'later_in', '{k}', 's') $$);
SELECT refreshed('direct');
SELECT replace_flow.drop_flow('direct');
SELECT replace_flow.create_using_flow('v', 'later_in', '{k}', 's');
CREATE OR REPLACE VIEW later_view AS SELECT k FROM later_in;
SELECT refused($$ SELECT replace_flow.refresh('later') $$);
CREATE OR REPLACE VIEW later_view AS SELECT day AS k FROM later;
SELECT refused($$ SELECT replace_flow.refresh('later') $$);
CREATE OR REPLACE VIEW later_view AS SELECT k FROM v;
SELECT refreshed('later');

-- Tables that other sessions cannot see.
CREATE TEMPORARY TABLE temporary (LIKE t);
CREATE TEMPORARY VIEW temporary_view AS SELECT * FROM s;
SELECT replace_flow.drop_flow('t');
SELECT try('SELECT * FROM temporary');
SELECT try('SELECT * FROM temporary_view');

-- A8: one SELECT that only reads.
SELECT try('');
SELECT try(' -- nothing');
SELECT try(';');
SELECT try('SELECT * FROM s; SELECT 1');
SELECT try('SELECT * FROM s; DROP TABLE s');
SELECT try('INSERT INTO s SELECT * FROM s RETURNING *');
SELECT try('DELETE FROM s RETURNING *');
SELECT try('WITH d AS (DELETE FROM s RETURNING *) SELECT * FROM d');
SELECT try('SELECT * INTO made FROM s');
SELECT try('CREATE TABLE made AS SELECT * FROM s');
SELECT try('EXPLAIN SELECT * FROM s');
SELECT try('SELECT * FROM s FOR UPDATE');
SELECT try('SELECT * FROM (SELECT * FROM s FOR SHARE) AS i');
SELECT try('SELECT * FROM s) AS q, (SELECT 1');
SELECT try('SELEKT * FROM s');
SELECT try('SELECT $1 AS day');
SELECT try('SELECT dai AS day FROM s');
SELECT try('SELECT * FROM ss');
SELECT try('EXECUTE something');
SELECT refused($$ SELECT replace_flow.create_where_flow('t', NULL, 'true') $$);

-- Columns are matched by name (A6): each has one, no two the same, each is in the
-- target and is taken by it.
SELECT try('SELECT day, v, v FROM s');
SELECT try('SELECT day, v AS day FROM s');
SELECT try('SELECT day, v || v FROM s');
SELECT try('SELECT day, v AS w FROM s');
SELECT try('SELECT day, v AS "V" FROM s');
SELECT try('SELECT day::text AS day FROM s');
SELECT try('SELECT day, 1 AS ctid FROM s');
CREATE TABLE made_of (day int, twice int GENERATED ALWAYS AS (day * 2) STORED, id int GENERATED ALWAYS AS IDENTITY);
SELECT try('SELECT day, 1 AS twice FROM s', 'made_of');
SELECT try('SELECT day, 1 AS id FROM s', 'made_of');

-- What cannot be read whenever the flow is run, or does not give what it gives.
SELECT try('SELECT * FROM pg_temp.temporary');
SELECT try('SELECT day, v FROM s WHERE CURRENT OF c');

SELECT name FROM replace_flow.flow ORDER BY name;
SELECT to_regclass('made') IS NULL AS not_made;
\i :finish
