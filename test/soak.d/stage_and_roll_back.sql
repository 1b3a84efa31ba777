\set n random(1, 4)
BEGIN;
CALL soak.stage(soak.flow(:n));
ROLLBACK;
