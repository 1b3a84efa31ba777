\set flow random(1, 7)
\set seed random(1, 999999)
\set pause random(1, 100)
BEGIN;
CALL concurrent.stage_in_pieces(:flow, :seed);
\sleep :pause ms
COMMIT;
