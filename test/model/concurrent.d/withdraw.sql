-- staged rows are withdrawn; not where sets must be whole
\set flow random(1, 5)
\set pause random(1, 30)
BEGIN;
CALL concurrent.edit(:flow, true);
\sleep :pause ms
COMMIT;
