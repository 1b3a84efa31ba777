-- one transaction, all streams
\set seed random(1, 999990)
BEGIN;
CALL concurrent.stage(7, :seed);
CALL concurrent.stage(3, :seed + 1);
CALL concurrent.stage(1, :seed + 2);
CALL concurrent.stage(5, :seed + 3);
CALL concurrent.stage(4, :seed + 4);
CALL concurrent.stage(2, :seed + 5);
CALL concurrent.stage(6, :seed + 6);
COMMIT;
