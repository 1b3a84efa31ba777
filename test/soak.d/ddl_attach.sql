-- one partition more, up to ten; only then rows go there
BEGIN;
SELECT nextval('soak.next_part') AS part, count(*) < 10 AS room FROM soak.part \gset
\if :room
CREATE TABLE soak.parts_in_:part (LIKE soak.parts_in INCLUDING DEFAULTS);
ALTER TABLE soak.parts_in ATTACH PARTITION soak.parts_in_:part FOR VALUES IN (:part);
INSERT INTO soak.part VALUES (:part);
\endif
COMMIT;
