\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- F3: keys can be set aside only where the stream can be cut by key.  Where it
-- cannot, quarantine is refused with the reason; so are runs over a range.
--
SELECT getdatabaseencoding() <> 'UTF8' OR
    NOT EXISTS (SELECT FROM pg_collation WHERE collname = 'und-x-icu') OR
    NOT EXISTS (SELECT FROM pg_available_extensions WHERE name = 'citext') AS skip \gset
\if :skip
\i :finish
\quit
\endif
SET client_min_messages = error;
CREATE EXTENSION citext SCHEMA test;
CREATE COLLATION folded (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE DOMAIN folded_text AS text COLLATE folded;
CREATE TABLE item_in (k int, s int, v text, c citext, f folded_text, n numeric, r float4, b bit(2), d timestamp(3), list int[]);
CREATE TABLE label (k int, name text);

CREATE FUNCTION obstacle(query text, keys text[] DEFAULT '{k}', stored text DEFAULT NULL) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    lines text[];
BEGIN
    IF stored IS NOT NULL THEN
        EXECUTE format('CREATE TABLE item (%s)', stored);
    END IF;
    lines := ARRAY(SELECT refused(format('SELECT replace_flow.create_using_flow(%L, %L, %L, %L, query => %L, quarantine => true)',
                                         'item', 'item_in', keys, 's', query)));
    DROP TABLE IF EXISTS item;
    IF lines[1] = '0A000: the stream of flow "item" cannot be cut by key' THEN
        RETURN lines[2];
    END IF;
    RETURN lines[1];
END $$;

SELECT refused($$SELECT replace_flow.create_using_flow('item', 'item_in', '{v}', 's', quarantine => true,
    query => 'SELECT lower(v) AS v, s FROM item_in')$$);

-- the key is no column of the stream
SELECT obstacle('SELECT k + 1 AS k, s FROM item_in');
SELECT obstacle('SELECT k, s, name FROM (SELECT k, s, coalesce(v, '''') AS name FROM item_in) AS i', '{k,name}');
SELECT obstacle('SELECT k::text, s FROM item_in');
SELECT obstacle('SELECT l.k, s FROM item_in JOIN label l USING (k)');
SELECT obstacle('SELECT k, s, name FROM item_in JOIN label l USING (k)', '{k,name}');
SELECT obstacle('SELECT 1 AS k, s FROM item_in');
SELECT obstacle('SELECT unnest(list) AS k, s FROM item_in');
SELECT obstacle('SELECT x.k, s FROM item_in i, LATERAL (SELECT i.k) AS x');
SELECT obstacle('SELECT max(k) AS k, s FROM item_in GROUP BY s');
SELECT obstacle('WITH RECURSIVE w AS (SELECT k, s FROM item_in UNION ALL SELECT k + 1, s FROM w WHERE k < 0) SELECT k, s FROM w');
-- NULLs can stand for it
SELECT obstacle('SELECT i.k, coalesce(i.s, 1) AS s FROM label l LEFT JOIN item_in i USING (k)');
SELECT obstacle('SELECT i.k, coalesce(i.s, 1) AS s FROM item_in i FULL JOIN label l USING (k)');
SELECT obstacle('SELECT k, coalesce(i.s, 1) AS s FROM item_in i FULL JOIN label l USING (k)');
-- rows of several keys are looked at
SELECT obstacle('SELECT k, s FROM item_in UNION ALL SELECT k, 1 FROM label');
SELECT obstacle('SELECT k, s FROM item_in EXCEPT SELECT k, 1 FROM label');
SELECT obstacle('SELECT k, s FROM item_in LIMIT 5');
SELECT obstacle('SELECT k, s FROM (SELECT * FROM item_in OFFSET 0) AS i');
SELECT obstacle('SELECT DISTINCT ON (v) k, s FROM item_in ORDER BY v, s');
SELECT obstacle('SELECT k, s, row_number() OVER (ORDER BY k) AS v FROM item_in');
SELECT obstacle('SELECT k, s, row_number() OVER (PARTITION BY k ORDER BY s) AS v FROM item_in', '{k,s}');
SELECT obstacle('SELECT k, max(s) AS s FROM item_in GROUP BY ROLLUP (k)');
-- equal to the query, and not to the target; the other way round it is none
SELECT obstacle('SELECT c, max(s) AS s FROM item_in GROUP BY c', '{c}', 'c text, s int');
SELECT obstacle('SELECT DISTINCT f, s FROM item_in', '{f}', 'f text, s int');
SELECT obstacle('SELECT f, s, count(*) OVER (PARTITION BY f) AS n FROM item_in', '{f}', 'f text, s int, n int');
SELECT obstacle('SELECT c AS first, c, max(s) AS s FROM item_in GROUP BY c', '{c}', 'first citext, c text, s int');
SELECT obstacle('SELECT r, max(s) AS s FROM item_in GROUP BY r', '{r}', 'r float8, s int');
SELECT obstacle('SELECT c, max(s) AS s FROM item_in GROUP BY c', '{c}', 'c citext, s int');
SELECT obstacle('SELECT c::text AS c, max(s) AS s FROM item_in GROUP BY c::text', '{c}', 'c text, s int');
SELECT obstacle('SELECT f, max(s) AS s FROM item_in GROUP BY f', '{f}', 'f text COLLATE folded, s int');
SELECT obstacle('SELECT v, max(s) AS s FROM item_in GROUP BY v', '{v}', 'v citext, s int');
SELECT obstacle('SELECT n, max(s) AS s FROM item_in GROUP BY n', '{n}', 'n numeric, s int');
SELECT obstacle('SELECT r, max(s) AS s FROM item_in GROUP BY r', '{r}', 'r float4, s int');
-- conversions that fail, round or cut off
SELECT obstacle('SELECT k, s FROM item_in', '{k}', 'k smallint, s int');
SELECT obstacle('SELECT n, s FROM item_in', '{n}', 'n numeric(5,2), s int');
SELECT obstacle('SELECT n, s FROM item_in', '{n}', 'n int, s int');
SELECT obstacle('SELECT d, s FROM item_in', '{d}', 'd timestamptz, s int');
SELECT obstacle('SELECT d, s FROM item_in', '{d}', 'd timestamp(0), s int');
SELECT obstacle('SELECT v, s FROM item_in', '{v}', 'v varchar(5) COLLATE folded, s int');
SELECT obstacle('SELECT list, s FROM item_in', '{list}', 'list bigint[], s int');
SELECT obstacle('SELECT k, s FROM item_in', '{k}', 'k float8, s int');
SELECT obstacle('SELECT d, s FROM item_in', '{d}', 'd timestamp, s int');
-- no hash
SELECT obstacle('SELECT b, s FROM item_in', '{b}');

-- When the flow is altered, the same holds.
CREATE VIEW batch AS SELECT k, s, v FROM item_in;
SELECT replace_flow.create_using_flow('item', 'item_in', '{k}', 's', query => 'SELECT * FROM batch LIMIT 100');
SELECT refused($$SELECT replace_flow.alter_flow('item', quarantine => true)$$);
SELECT replace_flow.alter_flow('item', quarantine => true, query => 'SELECT * FROM batch');
SELECT refused($$SELECT replace_flow.alter_flow('item', query => 'SELECT * FROM batch LIMIT 50')$$);
SELECT refused($$SELECT replace_flow.alter_flow('item', query => 'SELECT *, lower(v) AS lower FROM batch', replace_using => '{lower}')$$);
SELECT replace_flow.alter_flow('item', comment => 'the key is k');
-- so it does when a view below is replaced, or the target's column changes
INSERT INTO item_in (k, s) VALUES (1, 1);
CREATE OR REPLACE VIEW batch AS SELECT k, s, v FROM item_in LIMIT 10;
SELECT refused($$SELECT replace_flow.apply_range('item', 0, 1)$$);
SELECT replace_flow.alter_flow('item', comment => 'it still is');
SELECT applied('item');
CREATE OR REPLACE VIEW batch AS SELECT k, s, v FROM item_in;
ALTER TABLE item ALTER k TYPE smallint;
SELECT refused($$SELECT replace_flow.apply_range('item', 0, 1)$$);
SELECT replace_flow.alter_flow('item', quarantine => false, query => 'SELECT * FROM batch LIMIT 50');
SELECT refused($$SELECT replace_flow.apply_range('nothing', 0, 1)$$);

-- Who may run the flow may run a part of it; nobody else.
CREATE ROLE rf_stranger;
GRANT USAGE ON SCHEMA test TO rf_stranger;
SET ROLE rf_stranger;
SELECT refused($$SELECT replace_flow.apply_range('item', 0, 1)$$);
RESET ROLE;
DROP OWNED BY rf_stranger;
DROP ROLE rf_stranger;
\i :finish
