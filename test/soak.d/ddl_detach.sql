-- the last partition goes; its rows are staged once more
BEGIN;
SELECT parts - 1 AS part, parts > 1 AS some FROM soak.part_count \gset
\if :some
ALTER TABLE soak.parts_in DETACH PARTITION soak.parts_in_:part;
UPDATE soak.part_count SET parts = parts - 1;
INSERT INTO soak.parts_in SELECT * FROM soak.parts_in_:part;
DROP TABLE soak.parts_in_:part;
\endif
COMMIT;
