-- one transaction, one statement
\set flow random(1, 7)
\set seed random(1, 999999)
CALL concurrent.stage(:flow, :seed);
