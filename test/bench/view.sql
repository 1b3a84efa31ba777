-- What our flow computes, as a view that pg_ivm keeps up to date in each writer's
-- transaction.  It allows nothing that depends on the time zone.
CREATE EXTENSION IF NOT EXISTS pg_ivm;
SELECT pgivm.create_immv('daily', $$
    SELECT date_trunc('day', ts AT TIME ZONE 'UTC') AS day, key, count(*) AS events, sum(amount) AS amount, max(ts) AS last
    FROM source GROUP BY 1, 2 $$);
