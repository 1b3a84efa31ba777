\set id random(1, 1000)
\set days random(0, 19)
UPDATE soak.fact SET amount = amount + 1, day = '2026-01-01'::date + :days WHERE id = :id;
