\set n random(1, 4)
\set wait random(0, 1)
CALL soak.run($$ SELECT replace_flow.apply(soak.flow(:n), wait => (:wait = 1)) $$);
\sleep 100 ms
