-- The same by hand, without care: concurrent writers mix, and an old batch that
-- comes late wins.
--
--   psql -v batch=stg_10 -f naive.sql
BEGIN;
DELETE FROM t WHERE order_id IN (SELECT order_id FROM :batch);
INSERT INTO t SELECT * FROM :batch;
COMMIT;
