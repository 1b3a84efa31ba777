\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- A9: names in the texts mean what they meant for the creator at creation, and
-- TimeZone, DateStyle and IntervalStyle are those of the creator's session.
--
CREATE TABLE item_in (k int, s text, at text, span interval);
SET timezone = 'America/Chicago';
SET datestyle = 'ISO, DMY';
SET intervalstyle = 'iso_8601';
SELECT replace_flow.create_using_flow('item', 'item_in', '{k}', 's::date', query => $$
    SELECT k, s, at::timestamptz AS at, to_char(at::timestamptz, 'HH24:MI TZ') AS shown, span::text AS span FROM item_in $$);
SELECT replace_flow.add_expectation('item', 'not before', $$ at > '01/02/2026 12:00' $$, 'warn');
SET timezone = 'Asia/Tokyo';
SET datestyle = 'German, MDY';
SET intervalstyle = 'postgres_verbose';
INSERT INTO item_in VALUES (1, '03/04/2026', '01/02/2026 12:00', '1 day 2 hours'), (2, '31/12/2026', '02/03/2026 12:00', '1 min');
SELECT applied('item');
INSERT INTO item_in VALUES (1, '04/03/2026', '01/02/2026 12:00', '1 day');
SELECT applied('item');
SET timezone = 'UTC';
SET datestyle = 'ISO';
SELECT * FROM item ORDER BY k;
SELECT key, floor::date FROM replace_flow.floors('item') ORDER BY key;
SELECT rows_passed, rows_failed FROM replace_flow.expectation_result ORDER BY run_id;
RESET timezone;
RESET datestyle;
RESET intervalstyle;

-- Functions, operators, tables, types and collations are those that the
-- creator's search path found, whatever comes later and whoever runs the flow.
CREATE SCHEMA test_a;
CREATE SCHEMA test_b;
CREATE FUNCTION test_a.label(int) RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT 'a' $$;
CREATE FUNCTION test_b.label(int) RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT 'b' $$;
CREATE TABLE test_a.lookup AS SELECT 'a' AS source;
CREATE TABLE test_b.lookup AS SELECT 'b' AS source;
CREATE TYPE test_a.number AS ENUM ('low', 'high');
CREATE TYPE test_b.number AS ENUM ('high', 'low');
CREATE FUNCTION test_a.plus(int, int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT $1 * 100 OPERATOR(pg_catalog.+) $2';
CREATE OPERATOR test_a.+ (LEFTARG = int, RIGHTARG = int, FUNCTION = test_a.plus);
CREATE TABLE named_in (k int, s text);
SET search_path = test_a, test, pg_catalog;
SELECT replace_flow.create_using_flow('test.named', 'named_in', '{k}', 's::number', name => 'named', query => $$
    SELECT k, s, label(k) AS label, l.source, k + 1 AS sum FROM named_in, lookup l $$);
SELECT replace_flow.add_expectation('named', 'by a', $$ label(k) = 'a' AND k + 0 > 50 $$, 'warn');
SET search_path = test_b, test;
INSERT INTO test.named_in VALUES (1, 'low'), (1, 'high'), (2, 'low');
SELECT applied('named');
SELECT k, s, label, source, sum FROM named ORDER BY k;
SELECT rows_passed, rows_failed FROM replace_flow.expectation_result r JOIN replace_flow.run USING (run_id) WHERE flow = 'named';

-- Temporary objects of the session that runs it do not get in between.
SET search_path = test;
CREATE TEMPORARY TABLE named_in (k int, s text);
CREATE TEMPORARY TABLE named (k int);
CREATE FUNCTION pg_temp.label(int) RETURNS text LANGUAGE sql AS $$ SELECT 'temporary' $$;
INSERT INTO test.named_in VALUES (3, 'low');
SELECT applied('named');
SELECT k, s, label, source, sum FROM test.named ORDER BY k;
DROP TABLE pg_temp.named_in, pg_temp.named;
DROP FUNCTION pg_temp.label(int);

-- A name in the target is the session's, at creation.
SET search_path = test_b, test;
CREATE TABLE other_in (k int, s int);
SELECT replace_flow.create_using_flow('made', 'other_in', '{k}', 's');
SELECT to_regclass('test_b.made') IS NOT NULL AS in_first_schema;
SET search_path = test;
SELECT count(replace_flow.drop_flow(name)) AS flows FROM replace_flow.flow;
DROP SCHEMA test_a, test_b CASCADE;
\i :finish
