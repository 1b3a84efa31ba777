-- a transaction that is committed late, after others that began later
\set flow random(1, 7)
\set seed random(1, 999998)
\set pause random(1, 300)
BEGIN;
CALL concurrent.stage(:flow, :seed);
\sleep :pause ms
CALL concurrent.stage(:flow, :seed + 1);
COMMIT;
