\set flow random(1, 7)
\set seed random(1, 999999)
\set pause random(1, 50)
BEGIN;
CALL concurrent.stage(:flow, :seed);
\sleep :pause ms
ROLLBACK;
