-- a transaction that is committed late, after others that began later
\set n random(1, 4)
\set pause random(1, 300)
BEGIN;
CALL soak.stage(soak.flow(:n));
\sleep :pause ms
CALL soak.stage(soak.flow(:n));
COMMIT;
