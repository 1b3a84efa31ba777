-- A fresh target in a schema of its own: rows, an index on the key, and one more.
--
--   psql -v side=theirs -v rows=base -v with_seq=true -v fillfactor=100 -f target.sql
\ir schema.sql
CREATE TABLE t (
    order_id bigint NOT NULL,
    line_no int NOT NULL,
    product text NOT NULL,
    qty int NOT NULL,
    price numeric(10,2) NOT NULL,
    note text
) WITH (fillfactor = :fillfactor);
\if :with_seq
ALTER TABLE t ADD COLUMN seq bigint NOT NULL;
INSERT INTO t SELECT * FROM :rows;
\else
INSERT INTO t SELECT order_id, line_no, product, qty, price, note FROM :rows;
\endif
CREATE INDEX t_key ON t (order_id);
CREATE INDEX t_product ON t (product);
VACUUM ANALYZE t;
