CALL soak.run($$ SELECT replace_flow.refresh('summary') $$);
\sleep 100 ms
