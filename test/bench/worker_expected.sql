-- Does the target hold the newest of all sets that a round of worker_load.sql has staged?
--
--   psql -v first=1000000 -v keys=2500 -v sets=12345 -f worker_expected.sql
--
-- Each client has keys of its own, so its last set must be there, and its number says
-- how many there were; pgbench's own count of all clients' sets must agree.  Gives a
-- line if something differs.
CREATE TEMPORARY TABLE client AS
SELECT k % 8 AS client, max(n) AS sets FROM t_1 WHERE seq > :first GROUP BY 1;
SELECT 'sets: ' || coalesce(sum(sets), 0) || ', expected ' || :sets FROM client HAVING coalesce(sum(sets), 0) <> :sets;
CREATE TEMPORARY TABLE newest AS
SELECT client + 8 * (n * (1 + n % 7) % :keys) AS k, max(n) AS n
FROM client, generate_series(1, sets) AS n GROUP BY 1;
WITH expected AS (
    SELECT k, line, 'line ' || line AS v, n, :first + n AS seq FROM newest, generate_series(1, 10) AS line
), found AS (
    SELECT t.k, line, v, t.n, seq FROM t_1 AS t JOIN newest USING (k)
), difference AS (
    (TABLE expected EXCEPT ALL TABLE found) UNION ALL (TABLE found EXCEPT ALL TABLE expected)
)
SELECT 'rows that differ: ' || count(*) FROM difference HAVING count(*) <> 0;
