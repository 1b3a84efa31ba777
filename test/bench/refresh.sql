-- our side, of where flows
SELECT * FROM replace_flow.refresh(:'side') \gset run_
