-- What autovacuum would do in the time between two rounds.
SELECT format('VACUUM ANALYZE %s', oid::regclass)
FROM pg_class
WHERE relkind IN ('r', 'p') AND (oid = to_regclass('live_events')
    OR relnamespace IN (SELECT to_regnamespace(n) FROM unnest('{ours, long, theirs, views, replace_flow}'::text[]) AS n))
\gexec
