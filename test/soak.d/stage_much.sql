-- a lot at once
CALL soak.stage_many();
