\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- F5: a where flow with refresh_on_change is refreshed after its sources changed.  So each
-- table that its query reads has triggers.
--
CREATE VIEW triggers AS
SELECT t.tgrelid::regclass AS table_name, regexp_replace(t.tgname, '\d+$', 'N') AS tgname, t.tgenabled AS fires,
    regexp_replace(pg_get_triggerdef(t.oid), '^.*(AFTER|BEFORE) (.*) ON .* FOR EACH (\w+).*$', '\1 \2, EACH \3') AS what
FROM pg_trigger t
WHERE t.tgisinternal AND t.tgname ~ '^replace_flow_staged'
ORDER BY t.tgrelid::regclass::text COLLATE "C", t.tgtype DESC;
CREATE VIEW woken AS
SELECT table_name, string_agg(fires::text, '' ORDER BY tgname) AS fires FROM triggers GROUP BY 1 ORDER BY table_name::text COLLATE "C";

CREATE TABLE fact (day int, shop int, amount int) PARTITION BY RANGE (day);
CREATE TABLE fact_1 PARTITION OF fact FOR VALUES FROM (0) TO (10);
CREATE TABLE shop (shop int, name text);
CREATE TABLE region (shop int, region text);
CREATE VIEW place AS SELECT shop, name, region FROM shop JOIN region USING (shop);
CREATE MATERIALIZED VIEW summary AS SELECT 1 AS one;

-- Of what kind the relations are does not matter, through how many views they are read
-- neither.  Rows that are deleted matter too.
SELECT replace_flow.create_where_flow('plain', 'SELECT day, amount FROM fact', 'true');
SELECT * FROM woken;
SELECT replace_flow.create_where_flow('woken_1',
    'SELECT day, name, region, amount FROM fact JOIN place USING (shop), summary, pg_am WHERE amname = ''heap''',
    'true', refresh_on_change => true);
TABLE triggers;

-- One table, one set of triggers, whatever the number of flows.
SELECT replace_flow.create_where_flow('woken_2', 'SELECT day, amount FROM fact', 'true', refresh_on_change => true);
SELECT replace_flow.drop_flow('woken_1');
SELECT * FROM woken;
SELECT replace_flow.drop_flow('woken_2');
SELECT * FROM woken;

-- They follow the flow's definition,
SELECT replace_flow.alter_flow('plain', query => 'SELECT day, amount FROM fact, shop');
SELECT * FROM woken;
SELECT replace_flow.alter_flow('plain', refresh_on_change => true);
SELECT * FROM woken;
SELECT replace_flow.alter_flow('plain', query => 'SELECT day, amount FROM fact, region', comment => 'without shops');
SELECT * FROM woken;
SELECT replace_flow.alter_flow('plain', query => 'SELECT shop AS day, 1 AS amount FROM place');
SELECT * FROM woken;
-- the views that it reads through (what is no longer needed goes with the next flow),
CREATE OR REPLACE VIEW place AS SELECT shop, name, 'none' AS region FROM shop JOIN fact USING (shop);
SELECT * FROM woken;
-- and the tables that become parts of others, by inheritance too.
CREATE TABLE fact_2 (LIKE fact);
ALTER TABLE fact ATTACH PARTITION fact_2 FOR VALUES FROM (10) TO (20);
CREATE TABLE shop_child () INHERITS (shop);
CREATE TABLE shop_child_2 (LIKE shop);
ALTER TABLE shop_child_2 INHERIT shop;
CREATE TEMPORARY TABLE shop_of_session () INHERITS (shop);
SELECT * FROM woken;
ALTER TABLE shop_child_2 NO INHERIT shop;
SELECT * FROM woken;
-- A source of its own becomes a part of another.
CREATE TABLE fact_3 (LIKE fact);
SELECT replace_flow.create_where_flow('woken_3', 'SELECT day FROM fact_3', 'true', refresh_on_change => true);
ALTER TABLE fact ATTACH PARTITION fact_3 FOR VALUES FROM (20) TO (30);
SELECT * FROM woken;
DROP TABLE fact_3 CASCADE;
SELECT replace_flow.alter_flow('plain', refresh_on_change => false);
SELECT * FROM woken;

-- Rows of a part come through the whole, too.
SELECT replace_flow.create_where_flow('part', 'SELECT day, amount FROM fact_2', 'true', refresh_on_change => true);
SELECT * FROM woken;
ALTER TABLE fact DETACH PARTITION fact_2;
SELECT * FROM woken;
ALTER TABLE fact ATTACH PARTITION fact_2 FOR VALUES FROM (10) TO (20);
SELECT replace_flow.drop_flow('part', drop_target => true);
SELECT * FROM woken;

-- The target of one flow is the source of another.
CREATE TABLE item (k int PRIMARY KEY, s int);
CREATE TABLE item_in (k int, s int);
SELECT replace_flow.create_using_flow('item', 'item_in', '{k}', 's');
SELECT replace_flow.create_where_flow('copy', 'SELECT k, s FROM item', 'true', refresh_on_change => true);
SELECT * FROM woken;
INSERT INTO item_in VALUES (1, 1);
SELECT applied('item');
SELECT refreshed('copy');
DROP TABLE item CASCADE;
SELECT * FROM woken;

-- Triggers on somebody else's table need the right to make triggers there.
CREATE ROLE regress_rf_owner;
CREATE SCHEMA test_owner AUTHORIZATION regress_rf_owner;
GRANT USAGE ON SCHEMA test TO regress_rf_owner;
GRANT SELECT ON fact, fact_1, shop, place, woken TO regress_rf_owner;
SET ROLE regress_rf_owner;
CREATE TABLE test_owner.own (day int);
SELECT refused($$ SELECT replace_flow.create_where_flow('test_owner.t', 'SELECT f.day FROM test.fact f, test_owner.own', 'true', refresh_on_change => true) $$);
SELECT replace_flow.create_where_flow('test_owner.t', 'SELECT day FROM test_owner.own', 'true', name => 't', refresh_on_change => true);
SELECT refused($$ SELECT replace_flow.alter_flow('t', query => 'SELECT day FROM test.fact') $$);
SELECT replace_flow.alter_flow('t', refresh_on_change => false, query => 'SELECT day FROM test.fact');
SELECT refused($$ SELECT replace_flow.alter_flow('t', refresh_on_change => true) $$);
RESET ROLE;
GRANT TRIGGER ON fact TO regress_rf_owner;
SET ROLE regress_rf_owner;
SELECT replace_flow.alter_flow('t', refresh_on_change => true);
SELECT * FROM test.woken;
-- a view cannot be a way around it
CREATE VIEW test_owner.v AS SELECT day FROM test.fact;
SELECT replace_flow.alter_flow('t', query => 'SELECT day FROM test_owner.v');
SELECT * FROM test.woken;
CREATE OR REPLACE VIEW test_owner.v AS SELECT shop AS day FROM test.shop;
SELECT * FROM test.woken;
-- who may consume a stream may be woken by it
RESET ROLE;
CREATE TABLE staged (day int, s int);
GRANT SELECT, DELETE ON staged TO regress_rf_owner;
SET ROLE regress_rf_owner;
SELECT replace_flow.create_using_flow('test_owner.u', 'test.staged', '{day}', 's', name => 'u');
RESET ROLE;
SELECT * FROM woken;
DROP OWNED BY regress_rf_owner CASCADE;
DROP ROLE regress_rf_owner;
SELECT * FROM woken;
\i :finish
