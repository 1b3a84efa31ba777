-- The same by hand, with care: other writers wait, only a key's highest sequence
-- counts, a key whose rows in the target are newer is left alone, and rows at the
-- sequence that the target has are added.
--
--   psql -v batch=stg_10 -f correct.sql
BEGIN;
LOCK TABLE t IN SHARE ROW EXCLUSIVE MODE;
CREATE TEMP TABLE k ON COMMIT DROP AS SELECT order_id, max(seq) AS seq FROM :batch GROUP BY 1;
ANALYZE k;
DELETE FROM k USING (SELECT t.order_id, max(t.seq) AS floor FROM t JOIN k USING (order_id) GROUP BY 1) f
WHERE f.order_id = k.order_id AND k.seq < f.floor;
DELETE FROM t USING k WHERE t.order_id = k.order_id AND t.seq < k.seq;
INSERT INTO t SELECT b.* FROM :batch b JOIN k ON k.order_id = b.order_id AND k.seq = b.seq;
COMMIT;
