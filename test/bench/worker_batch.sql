-- For pgbench: a batch of ten rows of one key, each time of another one, applied by
-- the worker or by hand; then a pause.
\set n :n + 1
INSERT INTO s_1
SELECT :n::int * 7, line, 'line ' || line || (:n::int % 2), :n::int, :n::int, pg_current_xact_id()
FROM generate_series(1, 10) AS line;
\if :by_hand
SELECT replace_flow.apply('theirs.t_1');
\endif
\sleep :pause ms
