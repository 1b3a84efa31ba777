\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- D3: the predicate is pushed into the sources wherever the result is the same,
-- and explain() shows what was pushed where.
--
SET TimeZone = 'Europe/Berlin';
SET DateStyle = 'ISO, YMD';
CREATE TABLE event (id bigint, at timestamptz, local_at timestamp, region text, amount int);
CREATE TABLE region (code text, name text);
CREATE TABLE old_event (LIKE event);
CREATE VIEW event_by_day AS
SELECT date_trunc('day', at) AS day, region, sum(amount) AS amount FROM event GROUP BY 1, 2;

-- What was pushed, of a flow that is made for it.
CREATE FUNCTION pushed(query text, predicate text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    line text;
    is_pushed boolean := false;
BEGIN
    PERFORM replace_flow.create_where_flow('pushed', query, predicate);
    FOR line IN SELECT replace_flow.explain('pushed') LOOP
        IF line LIKE '  %' AND is_pushed THEN
            RETURN NEXT btrim(line);
        END IF;
        is_pushed := line LIKE 'Pushed to:%' OR is_pushed AND line LIKE '  %';
    END LOOP;
    PERFORM replace_flow.drop_flow('pushed', drop_target => true);
END $$;

-- Below GROUP BY, through a function of the column.
SELECT pushed('SELECT date_trunc(''day'', at) AS day, region, sum(amount) AS amount FROM event GROUP BY 1, 2',
    $$day >= '2024-03-31' AND day < '2024-04-01' AND region = 'x'$$);
SELECT pushed('SELECT at::date AS day, count(*) AS n FROM event GROUP BY 1',
    $$day IN ('2024-03-30', '2024-04-02')$$);
SELECT pushed('SELECT at::date AS day, count(*) AS n FROM event GROUP BY 1',
    $$day = '2024-03-30' OR day BETWEEN '2024-04-02' AND '2024-04-05'$$);
SELECT pushed('SELECT extract(year FROM at)::int AS year, count(*) AS n FROM event GROUP BY 1', 'year = 2024');
SELECT pushed('SELECT date_bin(''15 min'', at, ''2001-01-01'') AS bin FROM event', $$bin > '2024-01-01 00:07'$$);
SELECT pushed('SELECT (at AT TIME ZONE ''America/New_York'')::date AS day FROM event', $$day = '2024-03-10'$$);
SELECT pushed('SELECT (at - interval ''5 hours'')::date AS day FROM event', $$day = '2024-03-31'$$);
SELECT pushed('SELECT id / 1000 AS bucket FROM event', 'bucket = 7');
-- Through the cast to the target's type.
CREATE TABLE cast_event (at timestamptz);
SELECT replace_flow.create_where_flow('cast_event', 'SELECT local_at AS at FROM event', $$at >= '2024-03-31 12:00'$$);
SELECT * FROM replace_flow.explain('cast_event') AS line WHERE line ~ '^  table';
-- Views, subqueries, joins, UNION ALL, WITH queries, windows partitioned by it.
SELECT pushed('SELECT * FROM event_by_day', $$day >= '2024-03-31'$$);
SELECT pushed('SELECT v.*, r.name FROM event_by_day v JOIN region r ON r.code = v.region', $$day >= '2024-03-31' AND name = 'x'$$);
SELECT pushed('SELECT at::date AS day, id FROM event UNION ALL SELECT local_at::date, id FROM old_event', $$day >= '2024-03-31'$$);
SELECT pushed('WITH d AS (SELECT at::date AS day, id FROM event) SELECT * FROM d', $$day >= '2024-03-31'$$);
SELECT pushed('WITH d AS MATERIALIZED (SELECT at::date AS day, id FROM event) SELECT * FROM d', $$day >= '2024-03-31'$$);
SELECT pushed('SELECT at::date AS day, id, row_number() OVER (PARTITION BY at::date ORDER BY id) AS n FROM event', $$day >= '2024-03-31'$$);
SELECT pushed('SELECT DISTINCT ON (at::date) at::date AS day, id FROM event ORDER BY at::date, id', $$day >= '2024-03-31'$$);
SELECT pushed('SELECT e.at::date AS day, r.name FROM event e LEFT JOIN region r ON r.code = e.region', $$day >= '2024-03-31'$$);

-- And not where the result would be another one.
SELECT pushed('SELECT at::date AS day, id FROM event ORDER BY id LIMIT 3', $$day >= '2024-03-31'$$);
SELECT pushed('SELECT at::date AS day, id, row_number() OVER (ORDER BY id) AS n FROM event', $$day >= '2024-03-31'$$);
SELECT pushed('SELECT DISTINCT ON (id) at::date AS day, id FROM event ORDER BY id, at', $$day >= '2024-03-31'$$);
SELECT pushed('SELECT r.code, e.at::date AS day FROM region r LEFT JOIN event e ON r.code = e.region', $$day >= '2024-03-31'$$);
SELECT pushed('SELECT at::date AS day, region, count(*) AS n FROM event GROUP BY ROLLUP (1, 2)', $$day >= '2024-03-31'$$);
SELECT pushed('SELECT max(at)::date AS day, region FROM event GROUP BY 2', $$day >= '2024-03-31'$$);
SELECT pushed('WITH d AS (SELECT at::date AS day, id FROM event) SELECT a.day, b.id FROM d a JOIN d b USING (id)', $$day >= '2024-03-31'$$);
SELECT pushed('SELECT at::date AS day, generate_series(1, 2) AS n FROM event', 'n = 1');
SELECT pushed('SELECT at::date AS day, id FROM event EXCEPT SELECT at::date, id FROM old_event', $$day >= '2024-03-31'$$);
-- What cannot be told apart by equality, and what can.
SELECT pushed('SELECT amount::numeric AS amount, count(*) AS n FROM event GROUP BY 1', 'amount >= 1 AND amount::text = ''1.0''');
SELECT pushed('SELECT DISTINCT amount::float8 AS amount FROM event', 'amount IN (0, 1) AND amount::text <> ''-0''');
SELECT pushed('SELECT region::char(4) AS region, count(*) OVER (PARTITION BY region::char(4)) AS n FROM event', 'region > ''a'' AND length(region) = 1');
SELECT pushed('SELECT e.id::text AS id, g.n FROM event e JOIN (SELECT amount::numeric AS amount, count(*) AS n FROM event GROUP BY 1) g ON g.amount::text = e.id::text', 'id = ''1''');

-- The row of a join as a whole, for which NULL can stand.
SELECT replace_flow.create_where_flow('joined', $$SELECT e.id, j IS NULL AS alone
    FROM event e LEFT JOIN (region r JOIN old_event o ON o.region = r.code) AS j ON j.code = e.region$$, 'alone AND id < 3');
INSERT INTO event VALUES (1, now(), now(), 'x', 1), (2, now(), now(), 'y', 1), (3, now(), now(), 'y', 1);
INSERT INTO region VALUES ('x', 'known');
INSERT INTO old_event SELECT * FROM event WHERE region = 'x';
SELECT status, rows_read FROM replace_flow.refresh('joined');
TABLE joined;
TRUNCATE event, old_event, region;

-- An index on the source serves the window.
CREATE INDEX ON event (at);
INSERT INTO event SELECT i, timestamptz '2024-01-01' + i * interval '10 min', timestamp '2024-01-01', i % 3, 1
FROM generate_series(1, 20000) i;
ANALYZE event;
SELECT replace_flow.create_where_flow('event_day', 'SELECT at::date AS day, count(*) AS n FROM event GROUP BY 1', $$day >= '2024-05-15'$$);
SELECT DISTINCT btrim(line) AS index_condition FROM replace_flow.explain('event_day') AS line WHERE line ~ 'Index Cond';
SELECT status, rows_read FROM replace_flow.refresh('event_day');
SELECT same('TABLE event_day', $$SELECT at::date AS day, count(*) AS n FROM event WHERE at >= '2024-05-15' GROUP BY 1$$);
\i :finish
