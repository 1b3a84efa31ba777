-- The orders that the cases work on, and what is sent of them again.
--
--   psql -v orders=300000 -f orders.sql
--
-- Everything is computed from order and line numbers, so each run has the same.

-- lines_per_order lines for each of the orders first to last, at sequence 1
CREATE FUNCTION order_lines(first bigint, last bigint, lines_per_order int)
RETURNS TABLE (order_id bigint, line_no int, product text, qty int, price numeric(10,2), note text, seq bigint)
LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT o, l, 'product-' || (hashint8(o * 17 + l) & 1023), 1 + (hashint8(o * 31 + l) & 7),
        ((hashint8(o * 7 + l) & 65535) / 100.0)::numeric(10,2), repeat('n', 20), 1::bigint
    FROM generate_series(first, last) AS o, generate_series(1, lines_per_order) AS l;
END;

CREATE TABLE base (
    order_id bigint NOT NULL,
    line_no int NOT NULL,
    product text NOT NULL,
    qty int NOT NULL,
    price numeric(10,2) NOT NULL,
    note text,
    seq bigint NOT NULL
);
INSERT INTO base SELECT * FROM order_lines(1, :orders, 10);
VACUUM ANALYZE base;

-- Every sixth order again, each of its lines with other product, quantity and price.
CREATE TABLE stg_all AS
SELECT order_id, line_no, product || 'x' AS product, qty + 1 AS qty, price + 1 AS price, note, 2::bigint AS seq
FROM base WHERE order_id % 6 = 0;
VACUUM ANALYZE stg_all;
