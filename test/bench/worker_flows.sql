-- Flows t_1, t_2, ... with streams s_1, s_2, ...; each target holds ten rows of each
-- of its keys, and a row tells which transaction staged it.
--
--   psql -v side=ours -v flows=1 -v keys=10000 -v auto_apply=true -f worker_flows.sql
\ir schema.sql
CREATE TABLE row_shape (k int, line int, v text, n int, seq bigint, staged xid8);
\o /dev/null
SELECT format('CREATE TABLE s_%1$s (LIKE row_shape)', f),
    format('CREATE TABLE t_%1$s (LIKE row_shape)', f),
    format('INSERT INTO t_%1$s SELECT k, line, ''line '' || line, 0, 0, NULL '
        'FROM generate_series(0, %2$s - 1) AS k, generate_series(1, 10) AS line', f, :keys),
    format('CREATE INDEX ON t_%1$s (k)', f),
    format('SELECT replace_flow.create_using_flow(''%2$s.t_%1$s'', ''s_%1$s'', ''{k}'', ''seq'', auto_apply => %3$L)',
        f, :'side', :'auto_apply')
FROM generate_series(1, :flows) AS f
\gexec
SELECT 'VACUUM ANALYZE ' || string_agg('t_' || f, ', ') FROM generate_series(1, :flows) AS f
\gexec
