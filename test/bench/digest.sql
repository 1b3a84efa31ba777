-- A digest of rows, copies counted: two tables with the same rows have the same.
--
--   psql -v rows=t -v orders=true -v columns='order_id, qty' -f digest.sql
SELECT count(*), sum(hashtextextended(ROW(:columns)::text, 0)::numeric) FROM :rows AS r WHERE :orders;
