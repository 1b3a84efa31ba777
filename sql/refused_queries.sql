\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- A5, A8: what cannot be the query of a flow.
--
CREATE TABLE item (k int, s int, v text);
CREATE INDEX ON item (k);
CREATE TABLE item_in (LIKE item);
CREATE TABLE other (LIKE item);
CREATE FUNCTION try(query text) RETURNS SETOF text LANGUAGE sql AS $$
    SELECT refused(format('SELECT replace_flow.create_using_flow(''item'', ''item_in'', ''{k}'', ''s'', query => %L)', query))
$$;

-- A5: it reads the stream exactly once, directly or through views.
CREATE VIEW item_view AS SELECT * FROM item_in;
CREATE VIEW item_view2 AS SELECT i.* FROM item_view i WHERE EXISTS (SELECT FROM item_in);
CREATE MATERIALIZED VIEW item_matview AS SELECT * FROM item_in;
CREATE TABLE item_child () INHERITS (item_in);
SELECT try('SELECT * FROM other');
SELECT try('SELECT 1 AS k, 2 AS s');
SELECT try('SELECT * FROM item_matview');
SELECT try('SELECT a.* FROM item_in a JOIN item_in b USING (k)');
SELECT try('SELECT * FROM item_in UNION ALL SELECT * FROM item_in');
SELECT try('SELECT i.* FROM item_in i WHERE s = (SELECT max(s) FROM item_in)');
SELECT try('WITH i AS (SELECT * FROM item_in) SELECT i.* FROM i, item_in');
SELECT try('WITH i AS (SELECT * FROM item_in) SELECT a.* FROM i a JOIN i b USING (k)');
SELECT try('WITH i AS (SELECT * FROM item_in) SELECT * FROM other');
SELECT try('SELECT i.* FROM item_view i, item_in');
SELECT try('SELECT * FROM item_view2');
SELECT try('SELECT * FROM item_child');
SELECT try('SELECT i.* FROM item_in i, item_child');
SELECT try('SELECT * FROM ONLY item_in');
SELECT try('SELECT * FROM item_in TABLESAMPLE SYSTEM (50)');
-- A partition of the stream is not the stream.
CREATE TABLE part_in (LIKE item) PARTITION BY LIST (k);
CREATE TABLE part_in_1 PARTITION OF part_in DEFAULT;
SELECT refused($$ SELECT replace_flow.create_using_flow('item', 'part_in', '{k}', 's', query => 'SELECT * FROM part_in_1') $$);
SELECT refused($$ SELECT replace_flow.create_using_flow('item', 'part_in_1', '{k}', 's', query => 'SELECT * FROM part_in') $$);
SELECT refused($$ SELECT replace_flow.create_using_flow('item', 'part_in', '{k}', 's', query => 'SELECT * FROM ONLY part_in') $$);

-- A temporary table cannot be seen by other sessions.
CREATE TEMPORARY TABLE temporary (LIKE item);
CREATE TEMPORARY VIEW temporary_view AS SELECT * FROM item_in;
SELECT try('SELECT i.* FROM item_in i, temporary');
SELECT try('SELECT * FROM temporary_view');

-- A8: one SELECT that only reads.
SELECT try('');
SELECT try(' -- nothing');
SELECT try(';');
SELECT try('SELECT * FROM item_in; SELECT 1');
SELECT try('SELECT * FROM item_in; DROP TABLE item_in');
SELECT try('INSERT INTO other SELECT * FROM item_in RETURNING *');
SELECT try('DELETE FROM item_in RETURNING *');
SELECT try('WITH d AS (DELETE FROM item_in RETURNING *) SELECT * FROM d');
SELECT try('SELECT * INTO made FROM item_in');
SELECT try('CREATE TABLE made AS SELECT * FROM item_in');
SELECT try('EXPLAIN SELECT * FROM item_in');
SELECT try('SELECT * FROM item_in FOR UPDATE');
SELECT try('SELECT * FROM (SELECT * FROM item_in FOR SHARE) AS i');
SELECT try('WITH i AS (SELECT * FROM item_in FOR SHARE) SELECT * FROM i');
SELECT try('SELECT * FROM item_in) AS q, (SELECT 1');
SELECT try('SELEKT * FROM item_in');
SELECT try('SELECT $1 AS k, s FROM item_in');
SELECT try('SELECT kk AS k, s FROM item_in');
SELECT try('SELECT * FROM item_inn');
SELECT try('SELECT nothing_like_it(k) AS k, s FROM item_in');
SELECT try('EXECUTE something');
SELECT try('VALUES (1, 2)');

-- Columns are matched by name: each has one, and no two have the same.
SELECT try('SELECT k, s, s FROM item_in');
SELECT try('SELECT k, s, v AS k FROM item_in');
SELECT try('SELECT k, s, v, k + 1 FROM item_in');
SELECT try('SELECT FROM item_in');

-- A8: nothing is left of what was refused.
SELECT count(*) AS flows FROM replace_flow.flow;
SELECT to_regclass('made') IS NULL AS not_made;
\i :finish
