-- Many tiny batches, by hand: the statements of correct.sql, prepared once, over
-- a temporary table that stays; each batch is staged and applied in one
-- transaction.
--
--   psql -v count=2000 -f tiny_correct.sql
CREATE TABLE s (LIKE base);
CREATE TEMP TABLE k (order_id bigint, seq bigint) ON COMMIT DELETE ROWS;
BEGIN;
INSERT INTO k VALUES (1, 1);
ANALYZE k;
COMMIT;
PREPARE stage (bigint) AS
INSERT INTO s
SELECT order_id, line_no, product, qty + (line_no = 1)::int, price, note, 2 FROM order_lines($1, $1, 10);
PREPARE find_keys AS INSERT INTO k SELECT order_id, max(seq) FROM s GROUP BY 1;
PREPARE drop_late AS
DELETE FROM k USING (SELECT t.order_id, max(t.seq) AS floor FROM t JOIN k USING (order_id) GROUP BY 1) f
WHERE f.order_id = k.order_id AND k.seq < f.floor;
PREPARE take_old AS DELETE FROM t USING k WHERE t.order_id = k.order_id AND t.seq < k.seq;
PREPARE put_new AS INSERT INTO t SELECT s.* FROM s JOIN k ON k.order_id = s.order_id AND k.seq = s.seq;
PREPARE consume AS DELETE FROM s;
SELECT 'BEGIN', 'LOCK TABLE t IN SHARE ROW EXCLUSIVE MODE', format('EXECUTE stage(%s)', n),
    'EXECUTE find_keys', 'EXECUTE drop_late', 'EXECUTE take_old', 'EXECUTE put_new', 'EXECUTE consume', 'COMMIT'
FROM generate_series(1, :count) AS n
\gexec
