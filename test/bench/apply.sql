-- our side
SELECT wal_bytes FROM replace_flow.apply('t') \gset run_
