\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- A6, A7: columns that do not fit the target.
--
CREATE TABLE item (k int, s int, price numeric, at timestamptz, tags text[], doc json);
CREATE INDEX ON item (k);
CREATE TABLE item_in (k int, s int, price text, at text, tags text, doc jsonb, prise numeric, extra int);
CREATE FUNCTION try(query text, sequence_by text DEFAULT 's', delete_when text DEFAULT NULL) RETURNS SETOF text LANGUAGE sql AS $$
    SELECT refused(format('SELECT replace_flow.create_using_flow(''item'', ''item_in'', ''{k}'', %L, query => %L, delete_when => %L)',
                          sequence_by, query, delete_when))
$$;

-- Each output column is in the target, unless sequence_by or delete_when uses it.
SELECT try('SELECT k, s, extra FROM item_in');
SELECT try('SELECT k, s, prise FROM item_in');
SELECT try('SELECT k, s, at AS "AT" FROM item_in');
SELECT try('SELECT k, s, 1 AS ctid FROM item_in');
SELECT try('SELECT k, s, extra FROM item_in', 's + extra');
SELECT try('SELECT k, s, extra FROM item_in', 's', 'extra > 0');
SELECT try('SELECT k, s, extra, prise FROM item_in', 's', 'extra > 0');

-- There is an assignment cast to the target's type.
SELECT try('SELECT k, s, price FROM item_in');
SELECT try('SELECT k, s, at FROM item_in');
SELECT try('SELECT k, s, tags FROM item_in');
SELECT try('SELECT k::text AS k, s FROM item_in');
SELECT try('SELECT k, s::text AS s FROM item_in');
SELECT try('SELECT k, s, ROW(k, s) AS price FROM item_in');
SELECT try('SELECT k, s, true AS price FROM item_in');
-- A literal without a type is text, unless it is cast.
SELECT try($$ SELECT k, s, '1.5' AS price FROM item_in $$);
SELECT replace_flow.create_using_flow('item', 'item_in', '{k}', 's', query =>
    'SELECT k, s, price::numeric, at::timestamptz, ARRAY[tags] AS tags, doc FROM item_in');
INSERT INTO item_in VALUES (1, 1, '1.5', '2026-03-01', 'a', '{"a": 1}', NULL, NULL);
SELECT applied('item');
SELECT k, s, price, tags, doc FROM item;

-- Also one of a type of the user's.
CREATE TYPE celsius AS (degrees numeric);
CREATE FUNCTION celsius(numeric) RETURNS celsius LANGUAGE sql IMMUTABLE AS 'SELECT ROW($1)::test.celsius';
CREATE TABLE weather (k int, s int, t celsius);
CREATE INDEX ON weather (k);
CREATE TABLE weather_in (k int, s int, t numeric);
SELECT refused($$ SELECT replace_flow.create_using_flow('weather', 'weather_in', '{k}', 's') $$);
CREATE CAST (numeric AS celsius) WITH FUNCTION celsius(numeric);
SELECT refused($$ SELECT replace_flow.create_using_flow('weather', 'weather_in', '{k}', 's') $$);
DROP CAST (numeric AS celsius);
CREATE CAST (numeric AS celsius) WITH FUNCTION celsius(numeric) AS ASSIGNMENT;
SELECT replace_flow.create_using_flow('weather', 'weather_in', '{k}', 's');
INSERT INTO weather_in VALUES (1, 1, 20.5);
SELECT applied('weather');
TABLE weather;

-- A cast that is gone is missed by the next run.
DROP CAST (numeric AS celsius);
INSERT INTO weather_in VALUES (1, 2, 21.5);
SELECT refused($$ SELECT replace_flow.apply('weather') $$);
-- As is a type of the target that has changed; nothing was consumed.
ALTER TABLE weather ALTER t TYPE date USING NULL;
SELECT refused($$ SELECT replace_flow.apply('weather') $$);
ALTER TABLE weather ALTER t TYPE float8 USING NULL;
SELECT applied('weather');
TABLE weather;
\i :finish
