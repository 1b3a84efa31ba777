\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- E1, E2: partitions are not emptied while this session reads them, or while triggers
-- have yet to look at their rows.
--
CREATE TABLE known (v int PRIMARY KEY);
INSERT INTO known SELECT generate_series(1, 3000);
CREATE TABLE source (k int, v int);
INSERT INTO source SELECT i, i FROM generate_series(1, 2000) AS i;
CREATE TABLE target (k int, v int REFERENCES known DEFERRABLE INITIALLY DEFERRED) PARTITION BY RANGE (k);
CREATE TABLE low_part PARTITION OF target FOR VALUES FROM (0) TO (1000);
CREATE TABLE high_part PARTITION OF target FOR VALUES FROM (1000) TO (3000);
SELECT replace_flow.create_where_flow('target', 'TABLE source', 'k >= 0 AND k < 3000', name => 'flow');
SELECT refreshed('flow');
UPDATE source SET v = v + 1;

-- a cursor
BEGIN;
DECLARE reader CURSOR FOR TABLE target;
MOVE 1 FROM reader;
SELECT refused($$SELECT replace_flow.refresh('flow', technique => 'PARTITION_OVERWRITE')$$);
MOVE ALL FROM reader;
COMMIT;

-- a loop
DO $$
DECLARE
    row record;
BEGIN
    FOR row IN SELECT k FROM test.target LOOP
        IF row.k = 3 THEN
            RAISE WARNING '%', (SELECT string_agg(line, ' ') FROM test.refused(
                $r$SELECT replace_flow.refresh('flow', technique => 'PARTITION_OVERWRITE')$r$) AS line);
        END IF;
    END LOOP;
END $$;

-- a foreign key that is checked at commit
BEGIN;
INSERT INTO target VALUES (2999, 1);
SELECT refused($$SELECT replace_flow.refresh('flow', technique => 'PARTITION_OVERWRITE')$$);
SELECT (replace_flow.refresh('flow')).technique;
SELECT refused($$SELECT replace_flow.refresh('flow', technique => 'PARTITION_OVERWRITE')$$);
COMMIT;
UPDATE source SET v = v + 1 WHERE k < 1000;
SELECT (replace_flow.refresh('flow', technique => 'PARTITION_OVERWRITE')).technique;
SELECT same('TABLE target', 'TABLE source');

-- Groups of many rows: what counts are the rows that are affected.
CREATE TABLE event (day int, kind int, n int);
INSERT INTO event SELECT i % 6, i % 12, i FROM generate_series(1, 100000) AS i;
CREATE TABLE kind (kind int PRIMARY KEY, name text COLLATE "C");
INSERT INTO kind SELECT i, 'kind ' || i FROM generate_series(0, 11) AS i;
CREATE TABLE named (day int, name text COLLATE "C", n int) PARTITION BY RANGE (day);
CREATE TABLE named_1 PARTITION OF named FOR VALUES FROM (0) TO (3);
CREATE TABLE named_2 PARTITION OF named FOR VALUES FROM (3) TO (6);
SELECT replace_flow.create_where_flow('named', 'SELECT day, name, n FROM event JOIN kind USING (kind)', 'day >= 0 AND day < 6');
SELECT refreshed('named');
UPDATE kind SET name = upper(name);
-- as far as is known
SELECT technique FROM replace_flow.planning('named') WHERE chosen;
ANALYZE event, kind, named;
SELECT technique, affected_groups, split_part(reason, ':', 1) AS reason FROM replace_flow.planning('named');
SELECT (replace_flow.refresh('named')).technique;
SELECT same('TABLE named', 'SELECT day, name, n FROM event JOIN kind USING (kind)');

-- A group whose column is NULL is no more than another one.
CREATE TABLE sparse (k int, v int);
INSERT INTO sparse SELECT nullif(i, 0), i FROM generate_series(0, 60000) AS i;
SELECT replace_flow.create_where_flow('summed', 'SELECT k, sum(v) AS v FROM sparse GROUP BY k', 'true');
SELECT refreshed('summed');
ANALYZE sparse, summed;
UPDATE sparse SET v = 1 WHERE k IS NULL;
SELECT technique, affected_groups FROM replace_flow.planning('summed') WHERE chosen;
SELECT refreshed('summed');

\i :finish
