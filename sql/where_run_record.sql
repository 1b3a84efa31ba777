\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- G1: the record of a run of a where flow.
--
CREATE TABLE t (day int, v text);
CREATE TABLE s (LIKE t);
INSERT INTO t VALUES (0, 'outside'), (1, 'outside'), (5, 'goes'), (6, 'stays');
INSERT INTO s VALUES (0, 'not read'), (5, 'comes'), (6, 'stays'), (7, 'comes'), (8, 'bad');
CREATE FUNCTION today() RETURNS int LANGUAGE sql STABLE AS 'SELECT 7';
SELECT replace_flow.create_where_flow('t', 'TABLE s', 'day >= today() - 2 AND v IS NOT NULL', reset_allowed => true);
SELECT replace_flow.add_expectation('t', 'good', $$ v <> 'bad' $$, 'drop');
SELECT flow, kind, status, technique, definition_version, rows_staged, rows_read, rows_rejected, rows_superseded, rows_late, rows_tie_ignored, rows_tombstone,
    rows_inserted + rows_updated AS came, rows_deleted + rows_updated AS went, rows_unchanged, rows_reset, keys_replaced
FROM replace_flow.refresh('t') \gx
-- What refresh gives is the row that it wrote.
SELECT replace_flow.refresh('t') AS refreshed \gset
SELECT r = :'refreshed'::replace_flow.run AS as_recorded FROM replace_flow.run r ORDER BY run_id;
SELECT started_at <= finished_at AS in_time, started_at > now() - interval '1 hour' AS of_now, wal_bytes > 0 AS wal, error_code, error_message, error_detail
FROM replace_flow.run ORDER BY run_id;

-- The predicate as the run had it, with its stable parts evaluated.
SELECT DISTINCT predicate FROM replace_flow.run;
SELECT predicate FROM replace_flow.refresh('t', 'day = today() + 1 OR day = 2 + 3');
SELECT predicate FROM replace_flow.refresh('t', $$ v LIKE '%x''y' -- a comment $$);
SELECT predicate FROM replace_flow.refresh('t', 'true');
SELECT predicate = format('(day)::text = %L::text', current_user) OR predicate ~ current_user AS evaluated FROM replace_flow.refresh('t', 'day::text = current_user');
SELECT predicate FROM replace_flow.refresh('t', 'day >= CASE WHEN today() > 5 THEN 1 ELSE 9 END OR day < coalesce(today(), 3)');
-- it can be used: it means the same window
SELECT predicate AS window FROM replace_flow.refresh('t', 'day BETWEEN today() - 2 AND today()') \gset
SELECT string_agg(day::text, ' ' ORDER BY day) FROM t WHERE :window;
SELECT refreshed('t', :'window');

-- Reasons: a code, and a sentence.
SELECT count(*) AS malformed FROM replace_flow.run, unnest(reasons) AS reason WHERE reason !~ '^[A-Z_]+: ';
SELECT regexp_replace(reason, ':.*', '') AS code, count(*) FROM replace_flow.run, unnest(reasons) AS reason GROUP BY 1 ORDER BY 1;
SELECT replace_flow.alter_flow('t', query => 'SELECT day, v FROM s');
SELECT technique, definition_version, array_to_string(reasons, ' ') ~ 'DEFINITION_CHANGED' AS changed FROM replace_flow.refresh('t');
SELECT array_to_string(reasons, ' ') ~ 'DEFINITION_CHANGED' AS changed FROM replace_flow.refresh('t');
SELECT array_to_string(reasons, ' ') ~ 'REQUESTED' AS requested FROM replace_flow.refresh('t', technique => 'COMPLETE_REPLACE_WHERE');
SELECT kind, technique, reasons IS NOT NULL AS with_reasons, predicate, rows_reset FROM replace_flow.full_refresh('t');

-- A run that is skipped tells that, why, and nothing else.
SELECT replace_flow.pause_flow('t');
SELECT kind, status, technique, predicate, rows_read, rows_unchanged, finished_at IS NOT NULL AS finished FROM replace_flow.refresh('t');
SELECT kind, status, reasons, rows_read FROM replace_flow.full_refresh('t');
SELECT replace_flow.resume_flow('t');
-- Those that failed leave no row.
SELECT count(*) AS runs FROM replace_flow.run \gset
SELECT status FROM replace_flow.refresh('t', '1 / (day - 6) > 0');
SELECT count(*) = :runs AS as_before FROM replace_flow.run;
-- Updates are counted as such, where rows are alike in all that is indexed and there
-- is room beside them.
CREATE TABLE wide (k int PRIMARY KEY, v text) WITH (fillfactor = 10);
CREATE TABLE wide_in (k int, v text);
INSERT INTO wide_in VALUES (1, 'a'), (2, 'b'), (3, 'c');
SELECT replace_flow.create_where_flow('wide', 'TABLE wide_in', 'k > 0');
SELECT rows_inserted, rows_updated, rows_deleted, rows_unchanged FROM replace_flow.refresh('wide');
UPDATE wide_in SET v = 'B' WHERE k = 2;
DELETE FROM wide_in WHERE k = 3;
INSERT INTO wide_in VALUES (4, 'd');
SELECT rows_inserted, rows_updated, rows_deleted, rows_unchanged FROM replace_flow.refresh('wide');

-- The history goes with the flow.
SELECT replace_flow.drop_flow('t');
SELECT flow, count(*) FROM replace_flow.run GROUP BY flow;
\i :finish
