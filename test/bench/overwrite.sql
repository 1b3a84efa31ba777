-- The same by hand: the window is deleted and inserted again.
--
--   psql -v query='SELECT ...' -v window="day >= '2024-02-23'" -f overwrite.sql
BEGIN;
LOCK TABLE t IN SHARE ROW EXCLUSIVE MODE;
DELETE FROM t WHERE :window;
INSERT INTO t :query;
COMMIT;
