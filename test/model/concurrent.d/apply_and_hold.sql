\set flow random(1, 7)
\set pause random(1, 50)
BEGIN;
SELECT replace_flow.apply('flow_' || :flow);
\sleep :pause ms
COMMIT;
