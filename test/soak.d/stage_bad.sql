-- a key that the target refuses, between others
\set bad 40 * random(1, 5)
CALL soak.stage_keys('strict', ARRAY[1, :bad, 199]);
