-- The events that the cases of where flows work on, and what targets hold of them
-- before they are refreshed.
--
--   psql -v events=6000000 -f events.sql
--
-- Everything is computed from the events' numbers, so each run has the same.

-- sixty days, in the order of their time
CREATE TABLE events (
    event_id bigint NOT NULL,
    ts timestamptz NOT NULL,
    key int NOT NULL,
    amount numeric(10,2) NOT NULL,
    note text
);
INSERT INTO events
SELECT n, '2024-01-01'::timestamptz + (n - 1) * interval '60 days' / :events, hashint8(n) & 1023,
    ((hashint8(n * 7) & 65535) / 100.0)::numeric(10,2), repeat('n', 20)
FROM generate_series(1, :events) AS n;
CREATE INDEX events_ts ON events (ts);
VACUUM ANALYZE events;

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
