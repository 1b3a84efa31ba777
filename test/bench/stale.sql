-- What the targets of the cases of where flows hold of the events before they are
-- refreshed.
--
--   psql -f stale.sql

-- 10 of 1,024 groups have another amount
CREATE TABLE stale_daily (
    day timestamptz,
    key int,
    events bigint NOT NULL,
    amount numeric NOT NULL,
    last timestamptz NOT NULL,
    PRIMARY KEY (day, key)
);
INSERT INTO stale_daily
SELECT date_trunc('day', ts), key, count(*),
    sum(amount) + ((hashint8(max(event_id)) & 1023) < 10)::int, max(ts)
FROM events GROUP BY date_trunc('day', ts), key;
VACUUM ANALYZE stale_daily;

-- 8 of 1,024 rows have another amount; 2 have another id, so that they go and others come
CREATE TABLE stale_events (LIKE events);
INSERT INTO stale_events
SELECT CASE WHEN chance IN (8, 9) THEN -event_id ELSE event_id END, ts, key, amount + (chance < 8)::int, note
FROM (SELECT *, hashint8(event_id * 131) & 1023 AS chance FROM events) AS e;
ALTER TABLE stale_events ADD PRIMARY KEY (event_id);
CREATE INDEX stale_events_ts ON stale_events (ts);
VACUUM ANALYZE stale_events;
