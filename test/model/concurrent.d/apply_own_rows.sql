-- several runs in one transaction, each with rows that it staged itself; one is undone
\set flow random(1, 7)
\set seed random(1, 999990)
BEGIN;
CALL concurrent.stage(:flow, :seed);
SELECT replace_flow.apply('flow_' || :flow);
SAVEPOINT a;
CALL concurrent.stage(:flow, :seed + 1);
SELECT replace_flow.apply('flow_' || :flow);
ROLLBACK TO a;
CALL concurrent.stage(:flow, :seed + 2);
SELECT replace_flow.apply('flow_' || :flow);
CALL concurrent.stage(:flow, :seed + 3);
COMMIT;
