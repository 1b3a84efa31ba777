-- Run a script; tell how long it took, and what was written meanwhile.
--
--   psql -v script=correct.sql -v process=FILE -f measure.sql
--
-- Gives one line: seconds, bytes of WAL, bytes of WAL by the run's record, rows
-- of t inserted, updated, updated heap-only, deleted, where its WAL begins and
-- ends.  The file gets the id of the server process.
\set run_wal_bytes 0
SELECT pg_backend_pid() \g :process
SELECT n_tup_ins AS ins, n_tup_upd AS upd, n_tup_hot_upd AS hot, n_tup_del AS del
FROM pg_stat_user_tables WHERE relid = 't'::regclass \gset before_
CHECKPOINT;
SELECT clock_timestamp() AS began, pg_current_wal_insert_lsn() AS began_at \gset
\o /dev/null
\ir :script
\o
SELECT clock_timestamp() AS ended, pg_current_wal_insert_lsn() AS ended_at \gset
SELECT pg_stat_force_next_flush() \g /dev/null
SELECT round(extract(epoch FROM :'ended'::timestamptz - :'began'::timestamptz), 3),
    pg_wal_lsn_diff(:'ended_at', :'began_at'),
    :run_wal_bytes,
    n_tup_ins - :before_ins,
    n_tup_upd - :before_upd,
    n_tup_hot_upd - :before_hot,
    n_tup_del - :before_del,
    :'began_at',
    :'ended_at'
FROM pg_stat_user_tables WHERE relid = 't'::regclass;
