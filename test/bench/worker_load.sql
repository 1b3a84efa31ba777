-- For pgbench: one of the ten-row sets that its client stages, in an order that
-- worker_expected.sql knows.
\set n :n + 1
\set key :client_id + 8 * (:n * (1 + :n % 7) % :keys)
INSERT INTO s_1
SELECT :key::int, line, 'line ' || line, :n::int, :first::bigint + :n::int, pg_current_xact_id()
FROM generate_series(1, 10) AS line;
