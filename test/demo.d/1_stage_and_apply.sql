\echo
\echo == 1. Stage rows, apply them
\echo
\echo 'A package is a key; its files are the set that belongs to the key.'
\echo

\set ECHO queries
CREATE TABLE package_file (
    package text, path text, first_seen timestamptz DEFAULT clock_timestamp(),
    PRIMARY KEY (package, path));

CREATE TABLE package_file_in (package text, path text, listed_at timestamptz);

\o /dev/null
SELECT replace_flow.create_using_flow(
    target => 'package_file', source => 'package_file_in',
    replace_using => '{package}', sequence_by => 'listed_at',
    on_tie => 'ignore', auto_apply => false);
\o
\set ECHO none
\echo '\\copy package_file_in from package_lists'
\copy package_file_in from package_lists

CREATE TABLE first_snapshot AS TABLE package_file_in;
ANALYZE first_snapshot;
SELECT count(*) AS staged, count(DISTINCT package) AS packages FROM first_snapshot \gset

\set ECHO queries
\o /dev/null
SELECT status FROM replace_flow.apply('package_file');
\o
\set ECHO none
\echo
TABLE last_run;

SELECT claim(what, holds) AS "checked"
FROM last_run, LATERAL (VALUES
    ('all ' || :staged || ' rows of ' || :packages || ' packages were read and inserted',
        read = :staged AND inserted = :staged),
    ('the stream is empty again',
        NOT EXISTS (SELECT FROM package_file_in)),
    ('the target holds exactly what was staged',
        NOT EXISTS (SELECT package, path FROM package_file EXCEPT ALL SELECT package, path FROM first_snapshot)
        AND NOT EXISTS (SELECT package, path FROM first_snapshot EXCEPT ALL SELECT package, path FROM package_file))
) AS c (what, holds);
