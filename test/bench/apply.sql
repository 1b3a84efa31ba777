-- our side
SELECT * FROM replace_flow.apply('t') \gset run_
