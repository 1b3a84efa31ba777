-- the oldest partition but one goes; its rows are staged once more, and go to the default one
BEGIN;
SELECT coalesce(min(part), 0) AS part, count(*) > 0 AS some FROM soak.part WHERE part > 0 \gset
\if :some
ALTER TABLE soak.parts_in DETACH PARTITION soak.parts_in_:part;
DELETE FROM soak.part WHERE part = :part;
INSERT INTO soak.parts_in SELECT * FROM soak.parts_in_:part;
DROP TABLE soak.parts_in_:part;
\endif
COMMIT;
