\set flow random(1, 7)
\set seed random(1, 999990)
\set pause random(1, 30)
BEGIN;
SAVEPOINT a;
CALL concurrent.stage(:flow, :seed);
SAVEPOINT b;
CALL concurrent.stage(:flow, :seed + 1);
\sleep :pause ms
ROLLBACK TO b;
CALL concurrent.stage(:flow, :seed + 2);
RELEASE b;
\sleep :pause ms
CALL concurrent.stage(:flow, :seed + 3);
RELEASE a;
SAVEPOINT c;
CALL concurrent.stage(:flow, :seed + 4);
ROLLBACK TO c;
COMMIT;
