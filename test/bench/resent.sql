-- Make a batch: orders that are sent again whole, at a higher sequence, while
-- most of their lines are as they were.
--
--   psql -v batch=stg_10 -v rows=base -v orders='order_id % 6 = 0' -v changed=102 -v gone=1 -v seq=2 -f resent.sql
--
-- changed of 1,024 lines have another quantity; gone of 128 are missing.
DROP TABLE IF EXISTS :batch;
CREATE TABLE :batch AS
SELECT order_id, line_no, product,
    CASE WHEN (hashint8(order_id * 131 + line_no) & 1023) < :changed THEN qty + 1 ELSE qty END AS qty,
    price, note, :seq::bigint AS seq
FROM :rows AS r
WHERE (:orders) AND (hashint8(order_id * 3 + line_no) & 127) >= :gone;
VACUUM ANALYZE :batch;
