-- The lists of some packages again, a day later: of the files (not folders) of
-- each, one in ten is gone and one in ten has a companion.
CREATE TABLE later_snapshot AS
WITH picked AS (
    SELECT package FROM first_snapshot GROUP BY package HAVING count(*) >= 10 ORDER BY md5(package) LIMIT 50
), path AS (
    SELECT * FROM first_snapshot JOIN picked USING (package)
), folder AS (
    SELECT package, regexp_replace(path, '/[^/]*$', '') AS path FROM path
), file AS (
    SELECT package, path, row_number() OVER (PARTITION BY package ORDER BY path) AS number
    FROM path WHERE (package, path) NOT IN (TABLE folder) AND path <> '/.'
)
SELECT package, path, listed_at + interval '1 day' AS listed_at
FROM (
    SELECT package, path FROM path
    EXCEPT ALL
    SELECT package, path FROM file WHERE number % 10 = 1
    UNION ALL
    SELECT package, path || '.new' FROM file WHERE number % 10 = 2
) AS later
JOIN (SELECT DISTINCT package, listed_at FROM path) AS time USING (package);

CREATE TABLE before AS SELECT ctid AS place, * FROM package_file;
CREATE INDEX ON before (package, path);
ANALYZE before, later_snapshot;

-- what is in it, and the package to look at
SELECT count(*) AS staged, count(DISTINCT l.package) AS packages,
       count(b.package) AS stay, count(*) - count(b.package) AS came,
       (SELECT count(*) FROM before WHERE package IN (SELECT package FROM later_snapshot)) - count(b.package) AS gone
FROM later_snapshot l LEFT JOIN before b USING (package, path) \gset
SELECT package FROM later_snapshot GROUP BY package ORDER BY count(*), package LIMIT 1 \gset
SELECT floor AS floor_before FROM replace_flow.floors('package_file') WHERE key ->> 'package' = :'package' \gset

\echo
\echo == 2. A later snapshot of :packages packages
\echo
\echo 'In the lists of a day later some files are gone, some are new and most are as'
\echo 'they were.  Nobody says which: the rows are staged like any others.'
\echo

\set ECHO queries
INSERT INTO package_file_in SELECT * FROM later_snapshot;
\o /dev/null
SELECT status FROM replace_flow.apply('package_file');
\o
\set ECHO none
\echo
TABLE last_run;

\echo Package :"package", and where its rows lie in the table (ctid):
SELECT path, b.place AS before, a.ctid AS after,
       CASE WHEN b.place IS NULL THEN 'new' WHEN a.ctid IS NULL THEN 'gone' WHEN a.ctid = b.place THEN 'in place' END AS "row"
FROM (SELECT * FROM before WHERE package = :'package') AS b
FULL JOIN (SELECT ctid, path FROM package_file WHERE package = :'package') AS a USING (path)
ORDER BY path COLLATE "C";

SELECT :'floor_before' AS floor_before, floor AS floor_after
FROM replace_flow.floors('package_file') WHERE key ->> 'package' = :'package';

SELECT claim(what, holds) AS "checked"
FROM last_run, LATERAL (VALUES
    (:came || ' files came, ' || :gone || ' went, ' || :stay || ' stayed and were not written',
        read = :staged AND inserted = :came AND deleted = :gone AND unchanged = :stay AND updated = 0),
    ('the ' || :packages || ' packages have exactly their later files',
        NOT EXISTS (SELECT package, path FROM package_file WHERE package IN (SELECT package FROM later_snapshot)
                    EXCEPT ALL SELECT package, path FROM later_snapshot)
        AND NOT EXISTS (SELECT package, path FROM later_snapshot EXCEPT ALL SELECT package, path FROM package_file)),
    ('all other rows, and those that stayed, lie where they lay, as first seen',
        NOT EXISTS (SELECT FROM before b
                    WHERE (b.package NOT IN (SELECT package FROM later_snapshot)
                           OR EXISTS (SELECT FROM later_snapshot l WHERE (l.package, l.path) = (b.package, b.path)))
                      AND NOT EXISTS (SELECT FROM package_file f
                                      WHERE (f.package, f.path) = (b.package, b.path)
                                        AND f.ctid = b.place AND f.first_seen = b.first_seen)))
) AS c (what, holds);
