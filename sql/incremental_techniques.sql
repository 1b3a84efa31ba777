\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- E1, E2, E7: a refresh recomputes what changed, and records how.
--

-- A flow's last run: how it was done, why, and what came of it.
CREATE FUNCTION last_run(flow text) RETURNS text LANGUAGE sql AS $$
    SELECT technique || coalesce(' ' || (SELECT string_agg(split_part(reason, ':', 1), ', ') FROM unnest(reasons) AS reason), '')
        || ': ' || test.in_words(run)
    FROM replace_flow.run AS run WHERE run.flow = last_run.flow ORDER BY run_id DESC LIMIT 1
$$;

-- Refresh a flow in the way that is given; then its window is what the query gives now (E1).
CREATE FUNCTION refreshed_right(flow text, query text, predicate text, technique text DEFAULT NULL) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    columns text := (SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum) FROM pg_attribute
                     WHERE attrelid = flow::regclass AND attnum > 0 AND NOT attisdropped);
BEGIN
    PERFORM replace_flow.refresh(flow, technique => technique);
    IF NOT test.same(format('SELECT %s FROM %s WHERE %s', columns, flow, predicate),
                     format('SELECT %s FROM (%s) AS q WHERE %s', columns, query, predicate)) THEN
        RETURN 'WRONG AFTER ' || test.last_run(flow);
    END IF;
    RETURN test.last_run(flow);
END $$;

CREATE TABLE event (ts timestamp, key int, n int);
CREATE INDEX ON event (key, ts);
INSERT INTO event SELECT '2024-01-01'::timestamp + i * interval '1 minute', i % 50, i % 7 FROM generate_series(0, 14399) AS i;
ANALYZE event;
\set query 'SELECT date_trunc(''day'', ts) AS day, key, count(*) AS events, count(DISTINCT n) AS kinds, percentile_disc(0.5) WITHIN GROUP (ORDER BY n) AS median FROM event GROUP BY 1, 2'
\set window 'day >= ''2024-01-04'''
SELECT replace_flow.create_where_flow('daily', :'query', :'window');
SELECT refreshed_right('daily', :'query', :'window');
ANALYZE daily;

-- Nothing has changed.
SELECT refreshed_right('daily', :'query', :'window');
-- Rows came: only their groups are recomputed.
INSERT INTO event VALUES ('2024-01-05 12:00', 3, 1), ('2024-01-06 12:00', 4, 1), ('2024-01-20 00:00', 3, 1);
SELECT refreshed_right('daily', :'query', :'window');
-- Rows were updated, also from one group to another, and deleted.
UPDATE event SET key = 11, n = 9 WHERE key = 10 AND ts >= '2024-01-07' AND ts < '2024-01-08';
DELETE FROM event WHERE key = 12 AND ts >= '2024-01-07' AND ts < '2024-01-08';
SELECT refreshed_right('daily', :'query', :'window');
-- What changed has no part in the window.
DELETE FROM event WHERE ts < '2024-01-02';
UPDATE event SET n = n + 1 WHERE ts < '2024-01-03';
SELECT refreshed_right('daily', :'query', :'window');
-- NULLs are groups like others.
INSERT INTO event VALUES ('2024-01-05 12:00', NULL, 1), ('2024-01-05 12:00', NULL, 2), (NULL, NULL, 3), (NULL, 3, 3);
SELECT refreshed_right('daily', :'query', :'window');
UPDATE event SET n = 5 WHERE key IS NULL;
SELECT refreshed_right('daily', :'query', :'window');
-- More rows than are kept one by one: the days are recomputed that they lie in.
INSERT INTO event SELECT '2024-01-08'::timestamp + i * interval '8 seconds', i, i % 7 FROM generate_series(0, 10799) AS i;
SELECT refreshed_right('daily', :'query', :'window');
-- A statement that writes nothing is no change, nor is what was rolled back.
UPDATE event SET n = 0 WHERE false;
BEGIN;
DELETE FROM event WHERE key = 20;
ROLLBACK;
BEGIN;
SAVEPOINT a;
DELETE FROM event WHERE key = 20;
ROLLBACK TO a;
COMMIT;
SELECT refreshed_right('daily', :'query', :'window');

-- A technique that is asked for is taken when it gives the right rows, and refused otherwise.
SELECT refreshed_right('daily', :'query', :'window', 'COMPLETE_REPLACE_WHERE');
SELECT refreshed_right('daily', :'query', :'window', 'NO_OP');
SELECT refreshed_right('daily', :'query', :'window', 'ROW_BASED');
INSERT INTO event VALUES ('2024-01-05 12:00', 3, 1);
SELECT refused($$ SELECT replace_flow.refresh('daily', technique => 'NO_OP') $$);
SELECT refreshed_right('daily', :'query', :'window', 'ROW_BASED');
DELETE FROM event WHERE key = 3 AND ts >= '2024-01-05 12:00' AND ts < '2024-01-06';
SELECT refused($$ SELECT replace_flow.refresh('daily', technique => 'APPEND_ONLY') $$);
SELECT refused($$ SELECT replace_flow.refresh('daily', technique => 'PARTITION_OVERWRITE') $$);
SELECT refreshed_right('daily', :'query', :'window');
INSERT INTO event VALUES ('2024-01-05 12:00', 3, 1);
SELECT refreshed_right('daily', :'query', :'window', 'APPEND_ONLY');

-- Partitions that are the window are overwritten when most of their rows have changed.
CREATE TABLE monthly (month date NOT NULL, key int NOT NULL, total bigint, PRIMARY KEY (month, key)) PARTITION BY RANGE (month);
CREATE TABLE monthly_1 PARTITION OF monthly FOR VALUES FROM ('2024-01-01') TO ('2024-02-01');
CREATE TABLE monthly_2 PARTITION OF monthly FOR VALUES FROM ('2024-02-01') TO ('2024-03-01');
CREATE TABLE sale (at date, key int, n int);
INSERT INTO sale SELECT date '2024-01-01' + i % 60, i % 1000, 1 FROM generate_series(0, 59999) AS i;
ANALYZE sale;
\set query 'SELECT date_trunc(''month'', at)::date AS month, key, sum(n) AS total FROM sale GROUP BY 1, 2'
\set window 'month >= ''2024-02-01'''
SELECT replace_flow.create_where_flow('monthly', :'query', :'window');
SELECT refreshed_right('monthly', :'query', :'window');
ANALYZE monthly;
INSERT INTO monthly VALUES ('2024-01-01', 1, -1);
SELECT pg_relation_filenode('monthly_1') AS file_1, pg_relation_filenode('monthly_2') AS file_2 \gset
UPDATE sale SET n = 2 WHERE at >= '2024-02-01';
SELECT refreshed_right('monthly', :'query', :'window');
SELECT pg_relation_filenode('monthly_1') = :file_1 AS is_kept, pg_relation_filenode('monthly_2') <> :file_2 AS is_new;
TABLE monthly_1;
SELECT refreshed_right('monthly', :'query', :'window');
-- With few changes it is not worth it; it is still right when it is asked for.
CREATE INDEX ON sale (key, at);
UPDATE sale SET n = 3 WHERE at = '2024-02-10' AND key = 40;
SELECT refreshed_right('monthly', :'query', :'window');
SELECT refreshed_right('monthly', :'query', :'window', 'PARTITION_OVERWRITE');
-- Not where somebody could tell: a trigger, a reference, a column that the query does not give, or part of a partition.
CREATE FUNCTION nothing() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
CREATE TRIGGER t AFTER DELETE ON monthly FOR EACH ROW EXECUTE FUNCTION nothing();
SELECT refused($$ SELECT replace_flow.refresh('monthly', technique => 'PARTITION_OVERWRITE') $$);
DROP TRIGGER t ON monthly;
CREATE TABLE note (month date, key int, FOREIGN KEY (month, key) REFERENCES monthly);
SELECT refused($$ SELECT replace_flow.refresh('monthly', technique => 'PARTITION_OVERWRITE') $$);
DROP TABLE note;
SELECT refused($$ SELECT replace_flow.refresh('monthly', 'month = ''2024-02-01''', 'PARTITION_OVERWRITE') $$);
ALTER TABLE monthly ADD loaded timestamptz DEFAULT now();
SELECT refused($$ SELECT replace_flow.refresh('monthly', technique => 'PARTITION_OVERWRITE') $$);
\i :finish
