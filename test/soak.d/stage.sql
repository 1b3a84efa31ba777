\set n random(1, 4)
CALL soak.stage(soak.flow(:n));
