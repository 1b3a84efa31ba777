-- up to a hundred; first the target's lock, as a run takes them
BEGIN;
LOCK TABLE soak.grown IN SHARE ROW EXCLUSIVE MODE;
SELECT count(*) < 100 AS room FROM pg_attribute WHERE attrelid = 'soak.grown_in'::regclass \gset
\if :room
ALTER TABLE soak.grown_in ADD COLUMN added_:n int;
SELECT replace_flow.alter_flow('grown', query => '');
\endif
COMMIT;
