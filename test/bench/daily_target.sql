-- A target with a row for each day and key, which holds what a query gives.
--
--   psql -v query='SELECT ...' -v partition_by='PARTITION BY RANGE (day)' -f daily_target.sql
CREATE TABLE t (
    day timestamptz,
    key int,
    events bigint NOT NULL,
    amount numeric NOT NULL,
    last timestamptz NOT NULL,
    PRIMARY KEY (day, key)
) :partition_by;
SELECT format('CREATE TABLE t_%s PARTITION OF t FOR VALUES FROM (%L) TO (%L)',
    to_char(day, 'YYYYMMDD'), day, day + interval '1 day')
FROM generate_series('2024-01-01'::timestamptz, '2024-02-29', '1 day') AS day
WHERE :'partition_by' <> ''
\gexec
INSERT INTO t :query;
VACUUM ANALYZE t;
