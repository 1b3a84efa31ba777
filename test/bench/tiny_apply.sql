-- Many tiny batches, our side: each is staged and applied in one transaction.
--
--   psql -v count=2000 -f tiny_apply.sql
PREPARE stage (bigint) AS
INSERT INTO s
SELECT order_id, line_no, product, qty + (line_no = 1)::int, price, note, 2 FROM order_lines($1, $1, 10);
PREPARE apply AS SELECT * FROM replace_flow.apply('t');
SELECT 'BEGIN', format('EXECUTE stage(%s)', n), 'EXECUTE apply', 'COMMIT'
FROM generate_series(1, :count) AS n
\gexec
