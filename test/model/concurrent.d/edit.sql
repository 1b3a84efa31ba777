-- staged rows are changed, maybe while a run is at them
\set flow random(1, 7)
\set pause random(1, 30)
\set undone random(0, 1)
BEGIN;
CALL concurrent.edit(:flow, false);
\sleep :pause ms
\if :undone
ROLLBACK;
\else
COMMIT;
\endif
