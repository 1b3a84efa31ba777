-- Older lists of five packages that step 2 left alone.
CREATE TABLE late_snapshot AS
SELECT package, path, listed_at - interval '30 days' AS listed_at
FROM first_snapshot
WHERE package IN (SELECT package FROM first_snapshot EXCEPT SELECT package FROM later_snapshot ORDER BY package LIMIT 5);

DROP TABLE before;
CREATE TABLE before AS SELECT ctid AS place, * FROM package_file;
SELECT (SELECT count(*) FROM late_snapshot) AS late, (SELECT count(*) FROM later_snapshot) AS replayed \gset

\echo
\echo == 3. A late, older snapshot, and a replay
\echo
\echo 'Lists of five packages arrive that are older than what was applied, and the'
\echo 'batch of step 2 is sent once more.'
\echo

\set ECHO queries
INSERT INTO package_file_in SELECT * FROM late_snapshot;
INSERT INTO package_file_in SELECT * FROM later_snapshot;
\o /dev/null
SELECT status FROM replace_flow.apply('package_file');
\o
\set ECHO none
\echo
TABLE last_run;

SELECT key ->> 'package' AS late_package, l.listed_at AS listed_at, floor
FROM replace_flow.floors('package_file')
JOIN (SELECT DISTINCT package, listed_at FROM late_snapshot) AS l ON l.package = key ->> 'package'
ORDER BY 1;

SELECT claim(what, holds) AS "checked"
FROM last_run, LATERAL (VALUES
    (:late || ' rows were below the floor of their package: late',
        late = :late),
    (:replayed || ' rows were at the floor: ignored, as the flow''s on_tie says',
        ignored = :replayed),
    ('the run wrote nothing to the target',
        read = :late + :replayed AND inserted + updated + deleted = 0
        AND NOT EXISTS (SELECT ctid, * FROM package_file EXCEPT ALL TABLE before)
        AND NOT EXISTS (TABLE before EXCEPT ALL SELECT ctid, * FROM package_file))
) AS c (what, holds);
