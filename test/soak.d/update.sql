CALL soak.run($$ SELECT replace_flow.start_update('{changes, parts, summary}') $$);
\sleep 100 ms
