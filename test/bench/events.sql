-- Events, made from their numbers, so each run has the same.
--
--   psql -v table=events -v first=1 -v last=6000000 -v total=6000000 -f events.sql

-- the events first to last of a total that fills sixty days, in the order of their time
CREATE OR REPLACE FUNCTION public.event_rows(first bigint, last bigint, total bigint)
RETURNS TABLE (event_id bigint, ts timestamptz, key int, amount numeric(10,2), note text)
LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT n, '2024-01-01'::timestamptz + (n - 1) * interval '60 days' / total, hashint8(n) & 1023,
        ((hashint8(n * 7) & 65535) / 100.0)::numeric(10,2), repeat('n', 20)
    FROM generate_series(first, last) AS n;
END;

CREATE TABLE :table (
    event_id bigint NOT NULL,
    ts timestamptz NOT NULL,
    key int NOT NULL,
    amount numeric(10,2) NOT NULL,
    note text
);
INSERT INTO :table SELECT * FROM event_rows(:first, :last, :total);
CREATE INDEX ON :table (ts);
VACUUM ANALYZE :table;
