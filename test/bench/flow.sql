-- A stream and the flow from it into t.
CREATE TABLE s (LIKE base);
SELECT replace_flow.create_using_flow('t', 's', '{order_id}', 'seq');
