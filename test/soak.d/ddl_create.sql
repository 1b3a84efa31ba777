-- rows are staged before there is a flow, with it, and afterwards
SELECT 'come_' || :n AS flow, 'come_' || :n || '_in' AS stream \gset
BEGIN;
CREATE TABLE soak.:flow (k int, line int, v text, s bigint, op text);
CREATE INDEX ON soak.:flow (k);
CREATE TABLE soak.:stream (LIKE soak.:flow);
CALL soak.stage(:'flow');
COMMIT;
BEGIN;
SELECT replace_flow.create_using_flow('soak.' || :'flow', ('soak.' || :'stream')::regclass, '{k}', 's', name => :'flow');
CALL soak.stage(:'flow');
COMMIT;
CALL soak.stage(:'flow');
