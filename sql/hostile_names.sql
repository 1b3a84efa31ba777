\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- A8, A9: nothing that lies in the search path of who calls is taken for what
-- the server or the extension mean, in any function, for any caller.
--
CREATE ROLE regress_rf_planter;
CREATE TABLE test.sprung (what text);
GRANT INSERT ON test.sprung TO PUBLIC;
GRANT USAGE ON SCHEMA test TO PUBLIC;
CREATE SCHEMA planted AUTHORIZATION regress_rf_planter;
SET ROLE regress_rf_planter;
-- Functions, operators, casts, types and tables of the names that we use.
CREATE FUNCTION planted.spring(text) RETURNS void LANGUAGE sql AS $$ INSERT INTO test.sprung VALUES ($1) $$;
DO $$
DECLARE
    argument text;
    name text;
BEGIN
    FOREACH argument IN ARRAY '{integer,text,oid,regclass,name,boolean,bigint,xid,record}'::text[] LOOP
        EXECUTE format('CREATE FUNCTION planted.eq(%1$s, %1$s) RETURNS boolean LANGUAGE plpgsql AS
            ''BEGIN PERFORM planted.spring(''''= of %1$s''''); RETURN true; END''', argument);
        CONTINUE WHEN argument = 'record';
        FOREACH name IN ARRAY '{=,<>,<,>,<=,>=,||,~,+}'::text[] LOOP
            EXECUTE format('CREATE OPERATOR planted.%2$s (LEFTARG = %1$s, RIGHTARG = %1$s, FUNCTION = planted.eq)', argument, name);
        END LOOP;
    END LOOP;
    FOREACH name IN ARRAY '{count,max,min,coalesce_,lower,now,nextval,clock_timestamp,pg_has_role,jsonb_each_text,jsonb_typeof,to_jsonb,
            jsonb_build_object,regexp_replace,in_snapshot,pg_get_serial_sequence,setval,unnest,array_agg}'::text[] LOOP
        FOREACH argument IN ARRAY '{"",integer,text,jsonb,regclass,anyelement,xid}'::text[] LOOP
            EXECUTE format('CREATE FUNCTION planted.%1$I(%2$s) RETURNS integer LANGUAGE plpgsql AS
                ''BEGIN PERFORM planted.spring(''''%1$s(%2$s)''''); RETURN 0; END''', name, argument);
        END LOOP;
    END LOOP;
    FOREACH name IN ARRAY '{flow,run,expectation,rejected,expectation_result,pg_class,pg_namespace,pg_attribute}'::text[] LOOP
        EXECUTE format('CREATE TABLE planted.%I (flow_id int, name text, x int)', name);
    END LOOP;
    FOREACH name IN ARRAY '{int4,text,oid,regclass,jsonb,regrole,regcolumn}'::text[] LOOP
        EXECUTE format('CREATE DOMAIN planted.%I AS pg_catalog.int4 CHECK (planted.eq(VALUE, 1))', name);
    END LOOP;
END $$;
GRANT USAGE ON SCHEMA planted TO PUBLIC;
RESET ROLE;
CREATE TABLE item_in (k int, s int, v text);
CREATE TABLE other_in (k int, s int, v text, w text);
INSERT INTO item_in VALUES (1, 1, 'a'), (1, 1, 'bad'), (2, 1, 'b'), (3, 1, NULL);

-- The same again in the temporary schema, which is searched for types and tables first.
CREATE TEMPORARY TABLE flow (flow_id int, name text);
CREATE TEMPORARY TABLE pg_class (oid oid);
CREATE TEMPORARY TABLE pg_proc (oid oid);
CREATE DOMAIN pg_temp.int4 AS pg_catalog.int4 CHECK (VALUE IS NULL);
CREATE DOMAIN pg_temp.jsonb AS pg_catalog.int4 CHECK (VALUE IS NULL);
CREATE DOMAIN pg_temp.text AS pg_catalog.int4 CHECK (VALUE IS NULL);

SET search_path = planted, pg_catalog, test;
SELECT replace_flow.create_using_flow('test.item', 'test.item_in', '{k}', 's', name => 'item', query => 'TABLE test.item_in', delete_when => 'v IS NULL');
SELECT replace_flow.add_expectation('item', 'valid', $$ v IS NULL OR v OPERATOR(pg_catalog.<>) 'bad' $$, 'drop');
SELECT status, rows_read, rows_rejected, rows_tombstone, rows_inserted FROM replace_flow.apply('item');
SELECT f.key, f.floor FROM replace_flow.floors('item') f ORDER BY f.floor USING OPERATOR(pg_catalog.<), f.key USING OPERATOR(pg_catalog.<);
SELECT replace_flow.pause_flow('item');
SELECT replace_flow.resume_flow('item');
SELECT replace_flow.alter_flow('item', source => 'test.other_in', query => 'TABLE test.other_in', on_tie => 'ignore', settings => '{"work_mem": "1MB"}');
SELECT replace_flow.alter_flow('item', name => 'renamed');
INSERT INTO test.other_in VALUES (1, 2, 'aa', 'w'), (2, 1, 'tie', 'w'), (3, 0, 'late', 'w');
SELECT status, rows_read, rows_late, rows_tie_ignored, rows_inserted, rows_updated, rows_deleted FROM replace_flow.apply('renamed');
SELECT replace_flow.drop_expectation('renamed', 'valid');
SELECT replace_flow.drop_flow('renamed', drop_target => true);
SELECT replace_flow.create_using_flow('test.item', 'test.item_in', '{k}', 's', name => 'item');
DROP TABLE test.item_in CASCADE;
-- all of this has sprung nothing, and the traps are set
SELECT pg_catalog.count(*) FROM test.sprung;
SELECT 1 + 1 AS sprung;
SET search_path = pg_catalog, test;
SELECT what FROM test.sprung;
SELECT count(*) AS flows FROM replace_flow.flow;
SET search_path = test;
DROP TABLE pg_temp.flow, pg_temp.pg_class, pg_temp.pg_proc;
DROP DOMAIN pg_temp.int4, pg_temp.jsonb, pg_temp.text;
SET client_min_messages = error;
DROP OWNED BY regress_rf_planter CASCADE;
DROP ROLE regress_rf_planter;
\i :finish
