-- Newer lists of some packages, each without one of its files, as a file.
CREATE TABLE fourth_snapshot AS
WITH picked AS (
    SELECT package, max(path) AS gone FROM package_file
    WHERE starts_with(path, '/usr/share/doc/') GROUP BY package ORDER BY md5(package) DESC LIMIT 20
)
SELECT f.package, f.path, now() + interval '3 days' AS listed_at
FROM package_file f JOIN picked p USING (package) WHERE f.path <> p.gone;
\copy fourth_snapshot to newer_lists
SELECT count(*) AS rows_before FROM package_file \gset

-- Wait until nothing is left to do, for up to 10 seconds.
CREATE PROCEDURE wait_for_worker(runs_before bigint) LANGUAGE plpgsql AS $$
BEGIN
    FOR i IN 1 .. 1000 LOOP
        EXIT WHEN (SELECT sum(backlog_rows) = 0 AND bool_and(waiting_since IS NULL) FROM replace_flow.flows)
            AND (SELECT count(*) FROM replace_flow.run) >= runs_before + 2;
        COMMIT;
        PERFORM pg_sleep(0.01);
    END LOOP;
END $$;

\echo
\echo == 7. The worker: rows arrive, and nobody calls anything
\echo
\echo 'The server was started with shared_preload_libraries = replace_flow.  Until now the'
\echo 'flows were kept from the worker, to show the single steps.  Now it runs them: the'
\echo 'lists of packages when rows are staged, the directories when the lists change.'
\echo
\set ECHO queries
SELECT replace_flow.alter_flow('package_file', auto_apply => true),
       replace_flow.alter_flow('directory', refresh_on_change => true);
\set ECHO none
CALL wait_for_worker(0);
SELECT count(*) AS runs_before, max(run_id) AS last_run_before FROM replace_flow.run \gset

\echo '\\copy package_file_in from newer_lists'
\copy package_file_in from newer_lists
SELECT clock_timestamp() AS staged_at \gset
CALL wait_for_worker(:runs_before);

\set ECHO queries
SELECT flow, kind, status, rows_read, rows_inserted, rows_updated, rows_deleted, rows_unchanged
FROM replace_flow.run WHERE run_id > :last_run_before ORDER BY run_id;
SELECT flow, state, backlog_rows, last_status FROM replace_flow.flows ORDER BY flow;
\set ECHO none

SELECT round(extract(epoch FROM min(finished_at) - :'staged_at') * 1000) AS took
FROM replace_flow.run WHERE run_id > :last_run_before AND flow = 'package_file' \gset
\echo 'From the end of the COPY to the end of the run:' :took 'ms'
\echo
SELECT claim(what, holds) AS "checked"
FROM (VALUES
    ('the lists of these packages are the new ones, each without the file that is gone',
        NOT EXISTS (SELECT package, path FROM fourth_snapshot EXCEPT ALL SELECT package, path FROM package_file)
        AND (SELECT count(*) FROM package_file) = :rows_before - (SELECT count(DISTINCT package) FROM fourth_snapshot)),
    ('the stream is empty', NOT EXISTS (SELECT FROM package_file_in)),
    ('the directories below /usr/share have followed',
        NOT EXISTS ((SELECT package, regexp_replace(path, '/[^/]*$', ''), count(*) FROM package_file
                     WHERE starts_with(regexp_replace(path, '/[^/]*$', ''), '/usr/share') GROUP BY 1, 2)
                    EXCEPT ALL SELECT * FROM directory))
) AS c (what, holds);
