-- Some events of the last seven days change: amounts; and as many go as come.
--
--   psql -v round=1 -v total=6000000 -v updated=860 -v moved=350 -f change_rows.sql
--
-- They lie evenly over the time, and in each round are others.

-- count numbers of events, from the last one backwards
CREATE FUNCTION pg_temp.chosen(total bigint, round bigint, kind bigint, count bigint)
RETURNS SETOF bigint LANGUAGE sql
AS 'SELECT total - kind - 3 * round - n * (total * 7 / 60 / count) FROM generate_series(0, count - 1) AS n';

UPDATE live_events SET amount = amount + 1
WHERE ts >= '2024-02-23' AND event_id IN (SELECT pg_temp.chosen(:total, :round, 0, :updated));

DELETE FROM live_events
WHERE :moved > 0 AND ts >= '2024-02-23' AND event_id IN (SELECT pg_temp.chosen(:total, :round, 1, greatest(:moved, 1)));

INSERT INTO live_events
SELECT -event_id, ts, key, amount, note FROM live_events
WHERE :moved > 0 AND ts >= '2024-02-23' AND event_id IN (SELECT pg_temp.chosen(:total, :round, 2, greatest(:moved, 1)));
