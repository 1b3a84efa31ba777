-- A fresh target in a schema of its own, with the rows and indexes of another table.
--
--   psql -v side=theirs -v rows=stale_daily -f where_target.sql
\ir schema.sql
CREATE TABLE t (LIKE :rows INCLUDING ALL);
INSERT INTO t SELECT * FROM :rows;
VACUUM ANALYZE t;
