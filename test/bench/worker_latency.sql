-- How long batches took, in ms, from the commit that staged them to the commit that
-- brought them into the target, by the server's own clock and record.
--
--   psql -v receivers=1 -f worker_latency.sql
--
-- Gives one line, of all batches but the first: batches, runs, median, the 99th of 100.
CREATE TEMPORARY TABLE batch (staged xid8, applied xid);
SELECT format('INSERT INTO batch SELECT DISTINCT staged, xmin FROM t_%s WHERE n > 1', f)
FROM generate_series(1, :receivers) AS f
\gexec
SELECT count(*), count(DISTINCT applied::text),
    round(percentile_cont(0.5) WITHIN GROUP (ORDER BY ms)::numeric, 3),
    round(percentile_cont(0.99) WITHIN GROUP (ORDER BY ms)::numeric, 3)
FROM batch, LATERAL (SELECT 1000 * extract(epoch FROM
    pg_xact_commit_timestamp(applied) - pg_xact_commit_timestamp(staged::xid))) AS latency (ms);
