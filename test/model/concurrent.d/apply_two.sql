-- two flows in one transaction; everybody takes them in one order, or they would deadlock
\set one random(1, 6)
\set other random(:one + 1, 7)
\set seed random(1, 999999)
BEGIN;
SELECT replace_flow.apply('flow_' || :one);
CALL concurrent.stage(:one, :seed);
SELECT replace_flow.apply('flow_' || :other);
COMMIT;
