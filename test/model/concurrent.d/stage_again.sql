-- rows that were sent before, as they were; not where a primary key refuses copies
\set flow random(1, 5)
\set key random(1, 199)
CALL concurrent.stage_query(:flow, 'SELECT * FROM concurrent.journal WHERE flow = :flow AND k = :key LIMIT 20');
