-- For pgbench: our side, when there may be nothing to do.
SELECT * FROM replace_flow.refresh(:flow);
