\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
\set compare :source /sql/include/compare.sql
\i :compare
--
-- Who writes a source is not kept from it because a flow reads it.
--
-- The server shows no trigger what happens to rows of foreign tables.
CREATE EXTENSION IF NOT EXISTS postgres_fdw SCHEMA public;
CREATE SERVER replace_flow_far FOREIGN DATA WRAPPER postgres_fdw
    OPTIONS (host :'HOST', port :'PORT', dbname :'DBNAME');
CREATE USER MAPPING FOR PUBLIC SERVER replace_flow_far;
CREATE TABLE far (k int, v int);
CREATE TABLE source (k int, v int) PARTITION BY RANGE (k);
CREATE TABLE near_part PARTITION OF source FOR VALUES FROM (0) TO (1000);
CREATE FOREIGN TABLE far_part PARTITION OF source FOR VALUES FROM (1000) TO (2000)
    SERVER replace_flow_far OPTIONS (schema_name 'test', table_name 'far');
CREATE TABLE target (k int, v int);
SELECT replace_flow.create_where_flow('target', 'SELECT k, v FROM source', 'k > 0', name => 'flow');
INSERT INTO source VALUES (1, 1), (1001, 1);
UPDATE source SET v = v + 1;
SELECT ran('flow', 'TABLE target', 'TABLE source');
DELETE FROM source WHERE k = 1001;
SELECT ran('flow', 'TABLE target', 'TABLE source');
CREATE TABLE near_target (k int, v int);
SELECT replace_flow.create_where_flow('near_target', 'SELECT k, v FROM near_part', 'k > 0', name => 'flow of a part');
UPDATE source SET v = v + 1;
SELECT ran('flow of a part', 'TABLE near_target', 'TABLE near_part');

-- One becomes a part later, and goes again.
SELECT replace_flow.drop_flow('flow of a part');
ALTER TABLE source DETACH PARTITION far_part;
SELECT ran('flow', 'TABLE target', 'TABLE source');
UPDATE source SET v = v + 1;
SELECT ran('flow', 'TABLE target', 'TABLE source');
ALTER TABLE source ATTACH PARTITION far_part FOR VALUES FROM (1000) TO (2000);
INSERT INTO source VALUES (2, 2), (1002, 2);
UPDATE source SET v = v + 1;
SELECT ran('flow', 'TABLE target', 'TABLE source');
SELECT replace_flow.drop_flow('flow');
DROP TABLE source;
DROP EXTENSION postgres_fdw CASCADE;

-- All tables are published, ours too.
CREATE TABLE published (k int PRIMARY KEY, v int);
INSERT INTO published SELECT i, i FROM generate_series(1, 100) AS i;
CREATE TABLE published_target (k int PRIMARY KEY, v int);
SELECT replace_flow.create_where_flow('published_target', 'TABLE published', 'k > 0', name => 'flow');
SET client_min_messages = error;
CREATE PUBLICATION replace_flow_all FOR ALL TABLES;
SET client_min_messages = warning;
SELECT ran('flow', 'TABLE published_target', 'TABLE published');
UPDATE published SET v = 0 WHERE k = 5;
SELECT ran('flow', 'TABLE published_target', 'TABLE published');
DROP PUBLICATION replace_flow_all;

-- A replica's statements are logged as statements.
SET session_replication_role = replica;
UPDATE published SET v = 1;
INSERT INTO published SELECT i, i FROM generate_series(101, 200) AS i;
RESET session_replication_role;
SELECT count(*) FROM replace_flow.change WHERE relid = 'published'::regclass;
SELECT ran('flow', 'TABLE published_target', 'TABLE published');

-- Large entries are put together when there are a lot of bytes in them, and so are many.
CREATE TABLE large (k text, v int);
ALTER TABLE large ALTER k SET STORAGE external;
CREATE TABLE large_target (k text, v int);
SELECT replace_flow.create_where_flow('large_target', 'TABLE large', 'v > 0', name => 'large');
SELECT ran('large', 'TABLE large_target', 'TABLE large');
DO $$
BEGIN
    FOR i IN 1 .. 100 LOOP
        INSERT INTO large SELECT repeat(md5(format('%s %s', i, j)), 3000), i FROM generate_series(1, 9) AS j;
    END LOOP;
END $$;
SELECT sum(octet_length(content)) < 60000000 AS bounded
FROM replace_flow.change WHERE relid = 'large'::regclass;
SELECT ran('large', 'TABLE large_target', 'TABLE large');
-- a value of many megabytes
INSERT INTO large SELECT repeat(k, 100), 1 FROM large LIMIT 1;
SELECT max(octet_length(content)) < 1000 AS "not kept" FROM replace_flow.change WHERE relid = 'large'::regclass;
SELECT ran('large', 'TABLE large_target', 'TABLE large');

-- So they are when they have a value of a type that is gone, with its column.
CREATE TYPE gone AS ENUM ('a');
CREATE TABLE narrowed (k int, v int, e gone);
SELECT replace_flow.create_where_flow('by_k', 'SELECT k, sum(v) AS v FROM narrowed GROUP BY k', 'k > 0');
SELECT replace_flow.create_where_flow('by_e', 'SELECT e, sum(v) AS v FROM narrowed GROUP BY e', 'true');
SELECT ran('by_k', 'TABLE by_k', 'SELECT k, sum(v) FROM narrowed GROUP BY k');
SELECT ran('by_e', 'TABLE by_e', 'SELECT e, sum(v) FROM narrowed GROUP BY e');
DO $$ BEGIN FOR i IN 1 .. 4096 LOOP INSERT INTO narrowed VALUES (i, i, 'a'); END LOOP; END $$;
SELECT count(*) FROM replace_flow.change WHERE relid = 'narrowed'::regclass;
SELECT replace_flow.drop_flow('by_e', drop_target => true);
ALTER TABLE narrowed DROP COLUMN e;
DROP TYPE gone;
-- one writer in some 500 looks at the log; that none of these does is improbable
DO $$ BEGIN FOR i IN 1 .. 3000 LOOP INSERT INTO narrowed VALUES (i, i); END LOOP; END $$;
SELECT ran('by_k', 'TABLE by_k', 'SELECT k, sum(v) FROM narrowed WHERE k > 0 GROUP BY k');
SELECT ran('by_k', 'TABLE by_k', 'SELECT k, sum(v) FROM narrowed WHERE k > 0 GROUP BY k');

-- What was kept for one flow alone goes with it; the other one has no reason to look.
CREATE TABLE shared (k int, v int);
SELECT replace_flow.create_where_flow('quick', 'SELECT k, sum(v) AS v FROM shared GROUP BY k', 'true');
SELECT replace_flow.create_where_flow('slow', 'SELECT v, count(*) AS n FROM shared GROUP BY v', 'true');
SELECT ran('quick', 'TABLE quick', 'SELECT k, sum(v) FROM shared GROUP BY k');
SELECT ran('slow', 'TABLE slow', 'SELECT v, count(*) FROM shared GROUP BY v');
INSERT INTO shared VALUES (1, 1);
SELECT ran('quick', 'TABLE quick', 'SELECT k, sum(v) FROM shared GROUP BY k');
SELECT count(*) FROM replace_flow.change WHERE relid = 'shared'::regclass;
SELECT replace_flow.drop_flow('slow', drop_target => true);
SELECT count(*) FROM replace_flow.change WHERE relid = 'shared'::regclass;

\i :finish
