\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- D3: only those partitions of a source are read that can hold rows of the window,
-- also where the window is about days and the source about times.
--

SET timezone = 'Europe/Berlin';
CREATE TABLE event (at timestamptz, v int) PARTITION BY RANGE (at);
SELECT format('CREATE TABLE event_%s PARTITION OF event FOR VALUES FROM (%L) TO (%L)', to_char(month, 'MM'), month, month + interval '1 month')
FROM generate_series('2026-01-01'::timestamptz, '2026-12-01', '1 month') AS month \gexec
INSERT INTO event SELECT at, 1 FROM generate_series('2026-01-01'::timestamptz, '2026-12-31 23:00', '1 hour') AS at;
SELECT replace_flow.create_where_flow('daily', 'SELECT at::date AS day, count(*) AS n FROM event GROUP BY 1', 'true');

CREATE FUNCTION parts(predicate text) RETURNS SETOF text LANGUAGE sql AS $$
    SELECT DISTINCT (regexp_match(line, ' on (event_\d+)'))[1] AS part
    FROM replace_flow.explain('daily', predicate) AS line WHERE line ~ ' on event_\d+' ORDER BY part
$$;
SELECT count(*) FROM parts('true');
SELECT parts($$ day BETWEEN '2026-10-20' AND '2026-11-02' $$);
-- the last day of a month, on which clocks change or not, and the first of the next
SELECT parts($$ day = '2026-03-31' $$);
SELECT parts($$ day = '2026-04-01' $$);
SELECT parts($$ day < '2026-02-01' $$);
SELECT parts($$ day > '2026-11-30' $$);
SELECT refreshed('daily', $$ day BETWEEN '2026-10-24' AND '2026-10-26' $$);
SELECT * FROM daily ORDER BY day;
\i :finish
