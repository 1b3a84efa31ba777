-- one partition more, up to ten; only then rows go there
BEGIN;
SELECT parts AS part, parts < 10 AS room FROM soak.part_count \gset
\if :room
CREATE TABLE soak.parts_in_:part (LIKE soak.parts_in INCLUDING DEFAULTS);
ALTER TABLE soak.parts_in ATTACH PARTITION soak.parts_in_:part FOR VALUES IN (:part);
UPDATE soak.part_count SET parts = parts + 1;
\endif
COMMIT;
