\set flow random(1, 7)
SELECT replace_flow.apply('flow_' || :flow, wait => false);
