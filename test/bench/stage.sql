-- Put a batch into the stream, and leave all tables clean.
--
--   psql -v batch=stg_10 -f stage.sql
VACUUM s;
INSERT INTO s SELECT * FROM :batch;
VACUUM ANALYZE s;
SELECT format('VACUUM ANALYZE %s', oid::regclass)
FROM pg_class
WHERE relnamespace = 'replace_flow'::regnamespace AND relkind = 'r'
\gexec
