\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- D11: ranges of integers, dates and times.  The slices of a range meet without gap
-- and overlap, in the flow's time zone, also over days of 23 and 25 hours and months
-- of any length.
--
-- The windows of the runs of a flow, in their order, and how many rows each read.
SET datestyle = ISO;
CREATE FUNCTION slices(flow_name text) RETURNS TABLE (predicate text, rows_read bigint) LANGUAGE sql AS $$
    SELECT predicate, rows_read FROM replace_flow.run WHERE flow = flow_name ORDER BY run_id
$$;

CREATE TABLE big (n bigint);
CREATE TABLE small (n smallint);
CREATE TABLE num (n numeric);
SELECT replace_flow.create_where_flow('big', 'SELECT 3000000000 + i AS n FROM generate_series(0, 9) AS i', 'true');
SELECT replace_flow.create_where_flow('small', 'SELECT i::smallint AS n FROM generate_series(0, 9) AS i', 'true');
SELECT replace_flow.create_where_flow('num', 'SELECT i + 0.5 AS n FROM generate_series(0, 9) AS i', 'true');
CALL replace_flow.backfill('big', 'n', 3000000000, 3000000010, 4);
CALL replace_flow.backfill('big', 'n', 9223372036854775806, 9223372036854775807, 4);
SELECT * FROM slices('big');
CALL replace_flow.backfill('small', 'n', 0, 10, 6);
CALL replace_flow.backfill('small', 'n', 32000, 32767, 500);
SELECT * FROM slices('small');
CALL replace_flow.backfill('num', 'n', 0, 10, 6);

-- Dates, by days and by intervals.
CREATE TABLE dated (day date, n int);
CREATE TABLE dated_in AS SELECT day::date, 1 AS n FROM generate_series('2026-01-01'::date, '2026-12-31', '1 day') AS day;
SELECT replace_flow.create_where_flow('dated', 'TABLE dated_in', 'false');
CALL replace_flow.backfill('dated', 'day', '2026-02-26'::date, '2026-03-08'::date, 3);
CALL replace_flow.backfill('dated', 'day', '2026-01-31'::date, '2026-06-15'::date, interval '1 month');
CALL replace_flow.backfill('dated', 'day', '2026-05-01', '2026-05-20', interval '1 week', newest_first => false);
SELECT * FROM slices('dated');
SELECT same('TABLE dated', $$ SELECT * FROM dated_in WHERE day >= '2026-01-31' AND day < '2026-06-15' $$);
CALL replace_flow.backfill('dated', 'day', '2026-05-01', '2026-05-20', interval '1 hour');
CALL replace_flow.backfill('dated', 'day', '2026-05-01', '2026-05-20', interval '0');
CALL replace_flow.backfill('dated', 'day', '2026-05-01', '2026-05-20', interval '-1 day');
CALL replace_flow.backfill('dated', 'day', '2026-05-01', '2026-05-20', interval '1 month -40 days');
CALL replace_flow.backfill('dated', 'day', '2026-05-01', 'infinity', interval '1 day');
CALL replace_flow.backfill('dated', 'day', '-infinity', '2026-05-01', interval '1 day');
SELECT count(*) AS runs FROM slices('dated');

-- Timestamps without a zone: each day has 24 hours.
CREATE TABLE local (at timestamp);
CREATE TABLE local_in AS SELECT generate_series('2026-03-07'::timestamp, '2026-03-10', '1 hour') AS at;
SELECT replace_flow.create_where_flow('local', 'TABLE local_in', 'false');
CALL replace_flow.backfill('local', 'at', '2026-03-07 00:00'::timestamp, '2026-03-10 00:00'::timestamp, interval '1 day', newest_first => false);
CALL replace_flow.backfill('local', 'at', '2026-03-07 00:30', '2026-03-07 03:00', interval '1 hour', newest_first => false);
SELECT * FROM slices('local');
SELECT same('TABLE local', $$ SELECT * FROM local_in WHERE at < '2026-03-10' $$);
-- A number is no length of time, and a time no day.
SELECT count(*) AS runs FROM replace_flow.run \gset
CALL replace_flow.backfill('local', 'at', '2026-03-07 00:00', '2026-03-07 00:02', 60);
CALL replace_flow.backfill('dated', 'day', '2026-05-01 10:00'::timestamp, '2026-05-03 11:00'::timestamp, interval '1 day');
SELECT count(*) - :runs AS new_runs FROM replace_flow.run;

-- Instants: in the zone of the flow's creator, whatever that of the session.  A day
-- of 23 hours, and one of 25.
SET timezone = 'America/New_York';
CREATE TABLE zoned (at timestamptz, shown text);
CREATE TABLE zoned_in AS SELECT generate_series('2026-03-01 05:00+00'::timestamptz, '2026-11-30 05:00+00', '1 hour') AS at;
SELECT replace_flow.create_where_flow('zoned', $$ SELECT at, to_char(at, 'MM-DD HH24:MI TZ') AS shown FROM zoned_in $$, 'false');
SET timezone = 'Asia/Tokyo';
CALL replace_flow.backfill('zoned', 'at', '2026-03-07', '2026-03-10', interval '1 day', newest_first => false);
CALL replace_flow.backfill('zoned', 'at', '2026-10-31', '2026-11-03', interval '1 day');
SET timezone = 'UTC';
CALL replace_flow.backfill('zoned', 'at', '2026-11-01 00:00', '2026-11-01 04:00', interval '1 hour', newest_first => false);
CALL replace_flow.backfill('zoned', 'at', '2026-04-30', '2026-08-15', interval '1 month', newest_first => false);
RESET timezone;
SELECT rows_read FROM slices('zoned');
SET timezone = 'America/New_York';
SELECT min(shown), max(shown), count(*) FROM zoned WHERE at < '2026-04-01'
UNION ALL SELECT min(shown), max(shown), count(*) FROM zoned WHERE at >= '2026-10-01'
UNION ALL SELECT min(shown), max(shown), count(*) FROM zoned WHERE at BETWEEN '2026-04-01' AND '2026-10-01';
SELECT same('SELECT at FROM zoned', $$ SELECT at FROM zoned_in WHERE at >= '2026-03-07' AND at < '2026-03-10'
    OR at >= '2026-04-30' AND at < '2026-08-15' OR at >= '2026-10-31' AND at < '2026-11-03' $$);
RESET timezone;
-- Whatever the zone calls itself, and however the creator writes times: a flow of a
-- creator whose zone has the name of another one.
SET datestyle = 'Postgres, DMY';
SET timezone = 'Asia/Kolkata';
CREATE TABLE indian (at timestamptz);
SELECT replace_flow.create_where_flow('indian', 'SELECT at FROM zoned_in', 'false');
SET datestyle = 'ISO, MDY';
SET timezone = 'UTC';
CALL replace_flow.backfill('indian', 'at', '2026-03-06 18:30+00'::timestamptz, '2026-03-08 18:30+00'::timestamptz, interval '1 day');
SELECT min(at), max(at), count(*) FROM indian;
-- A literal is read as the creator would read it.
CALL replace_flow.backfill('indian', 'at', '03/04/2026', '04/04/2026', interval '12 hours');
SELECT min(at), max(at), count(*) FROM indian WHERE at > '2026-03-30';
SELECT rows_read FROM slices('indian');
RESET timezone;
SET datestyle = ISO;

-- The column's type counts, not the query's; a domain is what it stands for.
CREATE DOMAIN day_number AS int CHECK (VALUE >= 0);
CREATE TABLE tagged (n day_number, v text);
SELECT replace_flow.create_where_flow('tagged', $$ SELECT i::numeric AS n, 'v' AS v FROM generate_series(0, 9) AS i $$, 'false');
CALL replace_flow.backfill('tagged', 'n', 0, 10, 5);
SELECT * FROM slices('tagged');
SELECT count(*) FROM tagged;

-- Columns of other kinds.
CREATE TABLE odd (f float8, b boolean, s text, i interval, t time, a int[], u uuid, j jsonb);
SELECT replace_flow.create_where_flow('odd', 'SELECT f, b, s, i, t, a, u, j FROM (SELECT NULL::float8 AS f, NULL::boolean AS b, NULL::text AS s,
    NULL::interval AS i, NULL::time AS t, NULL::int[] AS a, NULL::uuid AS u, NULL::jsonb AS j) AS n', 'false');
CALL replace_flow.backfill('odd', 'b', false, true, 1);
CALL replace_flow.backfill('odd', 's', 'a'::text, 'b'::text, 1);
CALL replace_flow.backfill('odd', 't', '10:00'::time, '11:00'::time, interval '1 minute');
CALL replace_flow.backfill('odd', 'a', '{1}', '{2}', 1);
CALL replace_flow.backfill('odd', 'j', '1', '2', 1);

-- A column whose name must be quoted.
CREATE TABLE "Odd" ("the ""Day""" int, "select" text);
SELECT replace_flow.create_where_flow('"Odd"', $$ SELECT i AS "the ""Day""", 'v' AS "select" FROM generate_series(1, 4) AS i $$, 'false', name => 'odd name');
CALL replace_flow.backfill('odd name', 'the "Day"', 1, 5, 2);
SELECT * FROM slices('odd name');
CALL replace_flow.backfill('odd name', 'the day', 1, 5, 2);
\i :finish
