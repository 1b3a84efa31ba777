-- For pgbench: a batch of ten rows of one key, for one of many flows in turn; then a
-- pause.
\set n :n + 1
\set flow 1 + :n % :receivers
INSERT INTO s_:flow
SELECT :n / :receivers, line, 'line ' || line || (:n / :receivers % 2), :n, :n, pg_current_xact_id()
FROM generate_series(1, 10) AS line;
\sleep :pause ms
