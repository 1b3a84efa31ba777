-- more than one run of the worker takes
CALL soak.stage_keys('grown', ARRAY(SELECT k FROM generate_series(1, 20000) AS k WHERE k % 40 <> 0));
