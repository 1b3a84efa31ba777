-- For pgbench: an event of the last day.
\set key random(0, 1023)
\set second random(0, 86399)
INSERT INTO source
VALUES (:client_id, '2024-02-29'::timestamptz + :second * interval '1 s', :key, :second / 100.0, 'inserted');
