\set flow random(1, 7)
BEGIN;
SELECT replace_flow.apply('flow_' || :flow);
ROLLBACK;
