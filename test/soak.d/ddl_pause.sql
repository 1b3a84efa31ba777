SELECT soak.flow(1 + :n % 5) AS flow \gset
SELECT replace_flow.pause_flow(:'flow');
SELECT pg_sleep(0.5);
SELECT replace_flow.resume_flow(:'flow');
