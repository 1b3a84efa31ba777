\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- E3: why a run recomputed its whole window is recorded as a code with a sentence;
-- and E5: what is seen as a change.
--
SET client_min_messages = error;
-- Refresh; how that was done, and why; and whether the window is right then (E1).
CREATE FUNCTION done(flow text, predicate_override text DEFAULT NULL, technique text DEFAULT NULL) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    run replace_flow.run := replace_flow.refresh(flow, predicate_override, technique);
    again replace_flow.run := replace_flow.refresh(flow, predicate_override, 'COMPLETE_REPLACE_WHERE');
BEGIN
    IF again.rows_inserted + again.rows_updated + again.rows_deleted > 0 THEN
        RETURN 'WRONG AFTER ' || run;
    END IF;
    RETURN run.technique || coalesce(', ' || array_to_string(run.reasons, '; '), '');
END $$;
CREATE TABLE s (day int, key int, n int);
CREATE TABLE other (LIKE s);
INSERT INTO s SELECT i % 10, i % 7, i FROM generate_series(1, 100) AS i;
SELECT replace_flow.create_where_flow('t', 'SELECT day, key, sum(n) AS total FROM s GROUP BY day, key', 'day > 4');
SELECT done('t');
SELECT done('t');
SELECT done('t', technique => 'COMPLETE_REPLACE_WHERE');

-- The flow was altered.
SELECT replace_flow.alter_flow('t', replace_where => 'day > 5');
SELECT done('t');

-- The target was changed by others, in the window; elsewhere that does not matter (D6).
INSERT INTO t VALUES (1, 1, 1);
SELECT done('t');
UPDATE t SET total = -1 WHERE day = 7;
SELECT done('t');
DELETE FROM t WHERE day = 7;
SELECT done('t');
UPDATE t SET day = 8 WHERE day = 1;
SELECT done('t');
TRUNCATE t;
SELECT done('t');
ALTER TABLE t DISABLE TRIGGER ALL;
UPDATE t SET total = -1;
ALTER TABLE t ENABLE TRIGGER ALL;
SELECT done('t');
ALTER TABLE t ADD note text;
SELECT done('t');
SELECT done('t');

-- The source was changed in ways that no trigger sees, or as a whole.
TRUNCATE s;
SELECT done('t');
INSERT INTO s SELECT i % 10, i % 7, i FROM generate_series(1, 100) AS i;
SELECT done('t');
ALTER TABLE s DISABLE TRIGGER ALL;
UPDATE s SET n = n + 1;
ALTER TABLE s ENABLE TRIGGER ALL;
SELECT done('t');
ALTER TABLE s DISABLE TRIGGER ALL;
SELECT done('t');
UPDATE s SET n = n + 1;
SELECT done('t');
ALTER TABLE s ENABLE TRIGGER ALL;
SELECT done('t');
SELECT done('t');
SET session_replication_role = replica;
UPDATE s SET n = n + 1 WHERE day = 8;
RESET session_replication_role;
SELECT done('t');
ALTER TABLE s ADD column more int DEFAULT 3;
SELECT done('t');
CREATE TABLE s_child (CHECK (day > 0)) INHERITS (s);
INSERT INTO s_child VALUES (9, 100, 1);
SELECT done('t');
-- the flow has the new table's changes from the next run on
SELECT done('t');
INSERT INTO s_child VALUES (9, 101, 1);
SELECT done('t');
ALTER TABLE s_child NO INHERIT s;
SELECT done('t');
DROP TABLE s_child;
SELECT done('t');
MERGE INTO s USING (VALUES (6, 1), (6, 50)) AS v (day, key) ON s.day = v.day AND s.key = v.key
    WHEN MATCHED THEN UPDATE SET n = 0 WHEN NOT MATCHED THEN INSERT VALUES (v.day, v.key, 5);
SELECT done('t');

-- Views and functions are replaced.
CREATE VIEW v AS SELECT * FROM s;
CREATE FUNCTION times(int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT $1 * 2';
SELECT replace_flow.create_where_flow('t2', 'SELECT day, key, sum(times(n)) AS total FROM v GROUP BY day, key', 'day > 5');
SELECT done('t2');
SELECT done('t2');
CREATE OR REPLACE VIEW v AS SELECT * FROM s WHERE key > 1;
SELECT done('t2');
SELECT done('t2');
CREATE OR REPLACE FUNCTION times(int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT $1 * 3';
SELECT done('t2');
SELECT done('t2');
-- so is what a function calls in turn
CREATE FUNCTION inner_times(int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN $1 * 3; END';
CREATE OR REPLACE FUNCTION times(int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN test.inner_times($1); END';
SELECT done('t2');
SELECT done('t2');
CREATE OR REPLACE FUNCTION inner_times(int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN $1 * 4; END';
SELECT done('t2');
-- a view that reads another table
CREATE OR REPLACE VIEW v AS SELECT * FROM s UNION ALL SELECT *, 1 FROM other;
SELECT done('t2');
SELECT done('t2');
INSERT INTO other VALUES (8, 1, 1000);
SELECT done('t2');

-- The query depends on the time, or on a function that may read anything.
SELECT replace_flow.create_where_flow('t3', 'SELECT day, key, now() AS at FROM s', 'day > 5');
SELECT replace_flow.refresh('t3') IS NOT NULL AS ran;
SELECT technique, reasons FROM replace_flow.refresh('t3');
CREATE FUNCTION lookup(int) RETURNS int LANGUAGE sql STABLE AS 'SELECT max(n) FROM test.other WHERE key = $1';
SELECT replace_flow.create_where_flow('t4', 'SELECT DISTINCT day, key, lookup(key) AS found FROM s', 'day > 5');
SELECT done('t4');
SELECT done('t4');
-- or on a text that is read as a day, which may be 'today'; JSON_VALUE came with 17
CREATE TABLE document (id int, as_json jsonb, as_xml xml);
SELECT CASE WHEN current_setting('server_version_num')::int < 170000 THEN $$(as_json ->> 'day')::date$$
    ELSE $$JSON_VALUE(as_json, '$.day' RETURNING date)$$ END AS day_in_json \gset
SELECT replace_flow.create_where_flow('from_json', 'SELECT id, ' || :'day_in_json' || ' AS day FROM document', 'id > 5');
SELECT replace_flow.create_where_flow('from_xml', $$SELECT id, day FROM document,
    XMLTABLE('/r' PASSING as_xml COLUMNS day date)$$, 'id > 5');
SELECT f AS flow, done(f), done(f) AS again FROM unnest('{from_json,from_xml}'::text[]) AS f;
-- or on how values are converted on their way into the target
CREATE TYPE found AS (n int);
CREATE FUNCTION to_found(int) RETURNS found LANGUAGE sql STABLE AS 'SELECT row(test.lookup($1))::test.found';
CREATE CAST (int AS found) WITH FUNCTION to_found(int) AS ASSIGNMENT;
CREATE TABLE converted (day int, n found);
SELECT replace_flow.create_where_flow('converted', 'SELECT DISTINCT day, key AS n FROM s', 'day > 5');
SELECT done('converted');
SELECT done('converted');

-- So does the predicate, for each row.
CREATE TABLE wanted (day int);
INSERT INTO wanted VALUES (6), (7);
CREATE FUNCTION is_wanted(int) RETURNS boolean LANGUAGE sql STABLE AS 'SELECT $1 IN (SELECT day FROM test.wanted)';
SELECT replace_flow.create_where_flow('t5', 'SELECT day, key, sum(n) AS total FROM s GROUP BY 1, 2', 'is_wanted(day)');
SELECT done('t5');
INSERT INTO wanted VALUES (8);
SELECT done('t5');
SELECT technique, reasons FROM replace_flow.refresh('t5', 'day = 6');
-- the predicate that was last in force
CREATE OR REPLACE FUNCTION is_wanted(int) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT $1 IN (6, 7)';
SELECT technique, reasons FROM replace_flow.refresh('t5');

-- A source whose changes nobody sees.
CREATE MATERIALIZED VIEW m AS SELECT * FROM s;
SELECT replace_flow.create_where_flow('t6', 'SELECT day, key, sum(n) AS total FROM m GROUP BY day, key', 'day > 5');
SELECT done('t6');
SELECT done('t6');
CREATE UNLOGGED TABLE u (day int);
SELECT replace_flow.create_where_flow('t7', 'SELECT day FROM u', 'day > 5');
SELECT done('t7');
SELECT done('t7');
-- or that a statement is just writing
CREATE FUNCTION refresh_t() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE INFO '%', (SELECT technique || ', ' || reasons[1] FROM replace_flow.refresh('t'));
    RETURN NULL;
END $$;
CREATE TRIGGER refresh_t AFTER INSERT ON s FOR EACH ROW EXECUTE FUNCTION refresh_t();
INSERT INTO s VALUES (9, 1, 1), (9, 2, 2);
DROP TRIGGER refresh_t ON s;
SELECT done('t');

-- It cannot be told which rows a change affects.
SELECT replace_flow.create_where_flow('t8', 'SELECT day, n FROM s ORDER BY n, day LIMIT 20', 'day > 5');
SELECT done('t8');
SELECT done('t8');
UPDATE s SET n = 0 WHERE day = 9;
SELECT done('t8');
-- nor is the window known to be what the query gave, where triggers store something else
CREATE FUNCTION shift() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.total := NEW.total + 1; RETURN NEW; END $$;
CREATE TRIGGER shift BEFORE INSERT OR UPDATE ON t FOR EACH ROW EXECUTE FUNCTION shift();
SELECT technique, reasons FROM replace_flow.refresh('t');
UPDATE s SET n = 1 WHERE day = 9;
SELECT technique, reasons FROM replace_flow.refresh('t');
DROP TRIGGER shift ON t;
SELECT done('t');

-- So much has changed that it is as well to recompute all.
CREATE TABLE big (day int, key int, n int);
INSERT INTO big SELECT i % 10, i % 50, i FROM generate_series(1, 50000) AS i;
ANALYZE big;
SELECT replace_flow.create_where_flow('t9', 'SELECT day, key, sum(n) AS total FROM big GROUP BY day, key', 'day > 4');
SELECT done('t9');
ANALYZE t9;
UPDATE big SET n = n + 1;
SELECT done('t9');

-- All codes were met.
SELECT DISTINCT split_part(reason, ':', 1) AS code FROM replace_flow.run, unnest(reasons) AS reason ORDER BY 1;
\i :finish
