-- Run a script; tell how long it took, and what was written meanwhile.
--
--   psql -v script=correct.sql -v counted=t -v process=FILE -f measure.sql
--
-- With -v before=FILE the session runs that one first.
--
-- Gives one line: seconds, bytes of WAL, bytes of WAL by the run's record, rows
-- of the table inserted, updated, updated heap-only, deleted, where its WAL begins
-- and ends, the technique of the run and the reasons.  The file gets the id of the
-- server process.
\set run_wal_bytes 0
\set run_technique ''
\set run_reasons ''
SELECT pg_backend_pid() \g :process
\if :{?before}
\o /dev/null
\ir :before
\o
\endif
SELECT pg_stat_force_next_flush() \g /dev/null
SELECT array_agg(relid::oid) AS parts
FROM (SELECT :'counted'::regclass UNION SELECT relid FROM pg_partition_tree(:'counted')) AS p (relid) \gset
SELECT sum(n_tup_ins) AS ins, sum(n_tup_upd) AS upd, sum(n_tup_hot_upd) AS hot, sum(n_tup_del) AS del
FROM pg_stat_user_tables WHERE relid = ANY (:'parts') \gset before_
CHECKPOINT;
SELECT clock_timestamp() AS began, pg_current_wal_insert_lsn() AS began_at \gset
\o /dev/null
\ir :script
\o
SELECT clock_timestamp() AS ended, pg_current_wal_insert_lsn() AS ended_at \gset
SELECT pg_stat_force_next_flush() \g /dev/null
SELECT round(extract(epoch FROM :'ended'::timestamptz - :'began'::timestamptz), 4),
    pg_wal_lsn_diff(:'ended_at', :'began_at'),
    :run_wal_bytes,
    sum(n_tup_ins) - :before_ins,
    sum(n_tup_upd) - :before_upd,
    sum(n_tup_hot_upd) - :before_hot,
    sum(n_tup_del) - :before_del,
    :'began_at',
    :'ended_at',
    :'run_technique',
    :'run_reasons'
FROM pg_stat_user_tables WHERE relid = ANY (:'parts');
