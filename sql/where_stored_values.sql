\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- D2: the predicate is evaluated on the values as the target stores them, on both
-- sides alike.  So a row is in the window when it would be found there once it is
-- stored, and no row is stored twice or out of its window.
--
-- A target with one column of some type, which a query fills from values of
-- another type: run it three times; the target must hold what is found by storing
-- all and looking, plus what it held out of the window.
SET datestyle = ISO;
CREATE FUNCTION stored(target_type text, source_type text, given text, predicate text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    result text;
BEGIN
    EXECUTE format('CREATE TABLE t (v %s)', target_type);
    EXECUTE format('CREATE TABLE t_in (v %s)', source_type);
    EXECUTE format('CREATE TABLE t_all (v %s)', target_type);
    EXECUTE format('INSERT INTO t_in SELECT v::%s FROM unnest(%L::text[]) AS v', split_part(source_type, ' COLLATE', 1), given);
    INSERT INTO t_all TABLE t_in;
    PERFORM replace_flow.create_where_flow('t', 'SELECT v FROM t_in', predicate);
    PERFORM refreshed('t') FROM generate_series(1, 3);
    result := (SELECT string_agg(quote_literal(v), ' ' ORDER BY v::text COLLATE "C") FROM t);
    IF NOT same('TABLE t', format('SELECT * FROM t_all AS t WHERE %s', predicate)) THEN
        result := 'WRONG: ' || result;
    END IF;
    PERFORM replace_flow.drop_flow('t', drop_target => true);
    DROP TABLE t_in, t_all;
    RETURN result;
END $$;
-- Rounding: into the window and out of it.
SELECT stored('numeric(6,2)', 'numeric', '{9.994,9.995,10.004,10.005,NULL}', 'v >= 10');
SELECT stored('numeric(6,2)', 'numeric', '{9.994,9.995,10.004,10.005,NULL}', 'v > 10');
SELECT stored('int', 'numeric', '{4.4,4.5,5.4,5.5}', 'v = 5');
SELECT stored('int', 'float8', '{4.5,5.5,6.5}', 'v IN (4, 6)');
SELECT stored('float4', 'float8', '{0.1,0.2}', 'v = 0.1::float4');
SELECT stored('float4', 'float8', '{16777217,16777216}', 'v <= 16777216');
SELECT stored('date', 'timestamp', '{2026-03-01 00:00,2026-03-01 23:59,2026-03-02 00:00}', 'v <= ''2026-03-01''');
SELECT stored('timestamp(0)', 'timestamp', '{2026-03-01 23:59:59.4,2026-03-01 23:59:59.6}', 'v < ''2026-03-02''');
SELECT stored('interval hour', 'interval', '{1 hour 50 min,2 hours}', 'v < ''2 hours''');
SELECT stored('time(0)', 'time', '{10:00:00.4,10:00:00.6}', 'v = ''10:00''');
-- Cutting and padding.
SELECT stored('char(5)', 'text', '{ab,"ab ",abc}', 'v = ''ab''');
SELECT stored('char(5)', 'text', '{ab,"ab ",abc}', 'v::text = ''ab''');
SELECT stored('char(5)', 'text', '{ab,"ab ",abc}', 'length(v) = 2');
SELECT stored('char(5)', 'text', '{ab,"ab ",abc}', 'octet_length(v) = 5');
SELECT stored('text', 'char(9)', '{ab,"ab ",abc}', 'v = ''ab''');
SELECT stored('varchar(3)', 'text', '{abc,"abc ",ab}', 'v = ''abc''');
SELECT stored('name', 'text', '{a,b}', 'v = ''a''');
-- Values that are equal and differ in what the predicate looks at.
SELECT stored('numeric(6,2)', 'numeric', '{1.5,1.50}', 'v::text = ''1.50''');
SELECT stored('text', 'numeric', '{1.5,1.50}', 'v = ''1.50''');
SELECT stored('text', 'int', '{9,10}', 'v > ''5''');
SELECT stored('jsonb', 'jsonb', '{"{\"b\":1, \"a\":1.0}"}', 'v::text = ''{"a": 1.0, "b": 1}''');
SELECT stored('numeric(4,1)[]', 'numeric[]', '{"{1.25}","{1.24}","{1.3,2}"}', 'v = ''{1.3}''');
SELECT stored('text[]', 'varchar[]', '{"{a,b}","{c}"}', 'v @> ''{a}''');
SELECT stored('timestamptz', 'date', '{2026-03-07,2026-03-08,2026-03-09}', 'v < ''2026-03-08 08:00+00''');
SELECT stored('int[]', 'int[]', '{"{1,2}","{3,4}",NULL}', 'v[2] > 2');
-- The order is that of the target's type and collation.
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE CAST (text AS mood) WITH INOUT AS ASSIGNMENT;
SELECT stored('mood', 'text', '{sad,happy,ok}', 'v > ''ok''');
CREATE COLLATION folded (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
SELECT stored('text COLLATE folded', 'text', '{a,A,b}', 'v = ''a''');
SELECT stored('text', 'text COLLATE folded', '{a,A,b}', 'v = ''a''');
CREATE DOMAIN positive AS int CHECK (VALUE > 0);
SELECT stored('positive', 'numeric', '{0.5,1.4,2}', 'v = 1');

-- A row out of the window need not fit the target in its other columns.
CREATE TABLE item (day int, code varchar(3) NOT NULL, n smallint);
CREATE TABLE item_in (day int, code text, n numeric);
INSERT INTO item_in VALUES (1, 'too long', 1), (1, 'a', 1e6), (1, NULL, 1), (2, 'ok', 2);
SELECT replace_flow.create_where_flow('item', 'TABLE item_in', 'day = 2');
SELECT refreshed('item');
TABLE item;
INSERT INTO item_in VALUES (2, 'much too long', 3);
SELECT refused($$ SELECT replace_flow.refresh('item') $$);
TABLE item;

-- Case O26: a literal with a zone means one window, whatever the source's type is,
-- and whatever zone is in force in the session that runs the flow.
SET timezone = 'America/Chicago';
CREATE TABLE zoned (ts timestamptz, v text);
CREATE TABLE zoned_in (ts timestamp, v text);
INSERT INTO zoned_in VALUES ('2025-02-28 18:19:14', 'a'), ('2025-03-31 20:00:00', 'b');
SELECT replace_flow.create_where_flow('zoned', 'SELECT ts, v FROM zoned_in',
    $$ ts >= '2025-03-01 00:00:00+00' AND ts < '2025-04-01 00:00:00+00' $$);
SELECT refreshed('zoned', technique => 'COMPLETE_REPLACE_WHERE');
SELECT refreshed('zoned', technique => 'COMPLETE_REPLACE_WHERE');
SELECT refreshed('zoned', technique => 'COMPLETE_REPLACE_WHERE');
SELECT v, ts AT TIME ZONE 'UTC' AS utc FROM zoned;
-- The creator's zone is the flow's.
SET timezone = 'UTC';
SELECT refreshed('zoned', technique => 'COMPLETE_REPLACE_WHERE');
SET timezone = 'Asia/Tokyo';
SELECT refreshed('zoned', technique => 'COMPLETE_REPLACE_WHERE');
SELECT v, ts AT TIME ZONE 'UTC' AS utc FROM zoned;
-- also for an override that another session gives, and for literals in it
SET datestyle = 'German';
SELECT refreshed('zoned', $$ ts >= '2025-03-31 19:00' AND ts < '2025-04-01' $$);
SELECT refreshed('zoned', $$ ts >= '2025-03-31 19:00' AND ts < '2025-04-01' $$);
SET datestyle = ISO;
SELECT v, ts AT TIME ZONE 'UTC' AS utc FROM zoned ORDER BY v;
RESET timezone;

-- The other way round: the source knows the zone, the target does not.
SET timezone = 'America/Chicago';
CREATE TABLE local (at timestamp, v text);
CREATE TABLE local_in (at timestamptz, v text);
INSERT INTO local_in VALUES ('2025-03-09 05:59+00', 'before'), ('2025-03-09 06:00+00', 'first'), ('2025-03-10 04:59+00', 'last'), ('2025-03-10 05:00+00', 'after');
SELECT replace_flow.create_where_flow('local', 'TABLE local_in', $$ at >= '2025-03-09' AND at < '2025-03-10' $$);
SET timezone = 'UTC';
SELECT refreshed('local', technique => 'COMPLETE_REPLACE_WHERE');
SELECT refreshed('local', technique => 'COMPLETE_REPLACE_WHERE');
SELECT * FROM local ORDER BY at;
RESET timezone;

-- The day of an instant, in the creator's zone, over the end of summer time: the
-- hour that comes twice.
SET timezone = 'America/New_York';
CREATE TABLE hourly (day date, hours bigint);
CREATE TABLE hour_in (at timestamptz);
INSERT INTO hour_in SELECT generate_series('2026-10-31 04:00+00'::timestamptz, '2026-11-03 04:00+00', '1 hour');
SELECT replace_flow.create_where_flow('hourly', 'SELECT at::date AS day, count(*) AS hours FROM hour_in GROUP BY 1', $$ day BETWEEN '2026-10-31' AND '2026-11-01' $$);
SET timezone = 'Asia/Tokyo';
SELECT refreshed('hourly');
SELECT * FROM hourly ORDER BY day;
SELECT refreshed('hourly', $$ day = '2026-11-02' $$);
SELECT * FROM hourly ORDER BY day;
RESET timezone;

-- A stable function that looks at the session's settings sees the flow's.
SET timezone = 'America/Chicago';
CREATE TABLE shown (ts timestamptz, v text);
SELECT replace_flow.create_where_flow('shown', 'TABLE zoned_in', $$ to_char(ts, 'HH24') = '18' $$);
SET timezone = 'UTC';
SELECT refreshed('shown');
SELECT v FROM shown;
RESET timezone;
\i :finish
