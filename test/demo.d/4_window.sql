-- Still later lists of some packages: each has one more file below /usr/share and
-- one elsewhere.
CREATE TABLE third_snapshot AS
WITH picked AS (
    SELECT package FROM package_file WHERE path = '/usr/share/doc/' || package
    GROUP BY package ORDER BY md5(package) LIMIT 30
)
SELECT package, path, now() + interval '2 days' AS listed_at FROM package_file JOIN picked USING (package)
UNION ALL
SELECT package, dir || package || '/later', now() + interval '2 days' FROM picked, (VALUES ('/usr/share/doc/'), ('/opt/')) AS d (dir);
SELECT package FROM third_snapshot GROUP BY package ORDER BY count(*), package LIMIT 1 \gset

\echo
\echo == 4. A where flow: a window of another table
\echo
\echo 'How many entries each package has in each directory is computed from the table'
\echo 'that the using flow keeps.  Only the directories below /usr/share are to follow.'
\echo

\set ECHO queries
CREATE TABLE directory (
    package text, directory text, entries bigint,
    PRIMARY KEY (package, directory));

\o /dev/null
SELECT replace_flow.create_where_flow(
    target => 'directory',
    query => $$
        SELECT package, regexp_replace(path, '/[^/]*$', '') AS directory, count(*) AS entries
        FROM package_file GROUP BY 1, 2 $$,
    replace_where => $$ starts_with(directory, '/usr/share') $$);
\o

-- for once, all directories
SELECT rows_read, rows_inserted FROM replace_flow.refresh('directory', predicate_override => 'true');
\set ECHO none

DROP TABLE before;
CREATE TABLE before AS SELECT ctid AS place, * FROM directory;
SELECT count(*) AS window_size FROM directory WHERE starts_with(directory, '/usr/share') \gset
SELECT count(DISTINCT package) AS packages FROM third_snapshot \gset

\echo 'New lists of' :packages 'packages come.  Each has one more file below /usr/share, and one'
\echo 'below /opt.  An update runs both flows, whichever order they are named in.'
\echo

\set ECHO queries
INSERT INTO package_file_in SELECT * FROM third_snapshot;
CREATE TABLE update_runs AS
SELECT * FROM replace_flow.start_update('{directory, package_file}');
SELECT flow, kind, rows_read, rows_inserted, rows_updated, rows_deleted, rows_unchanged
FROM update_runs ORDER BY run_id;
SELECT technique, reasons, predicate FROM update_runs WHERE kind = 'where';
\set ECHO none

\echo Package :"package", and where its rows lie in the table (ctid):
SELECT directory, b.entries AS before, a.entries AS after, b.place AS place_before, a.ctid AS place_after,
       CASE WHEN a.ctid = b.place THEN 'in place' ELSE 'written' END AS "row"
FROM (SELECT * FROM before WHERE package = :'package') AS b
FULL JOIN (SELECT ctid, * FROM directory WHERE package = :'package') AS a USING (directory)
ORDER BY directory COLLATE "C";

CREATE VIEW fresh AS
SELECT package, regexp_replace(path, '/[^/]*$', '') AS directory, count(*) AS entries
FROM package_file GROUP BY 1, 2;
SELECT claim(what, holds) AS "checked"
FROM (VALUES
    ('the flow that is read ran before the one that reads it',
        (SELECT array_agg(flow ORDER BY run_id) FROM update_runs) = '{package_file,directory}'),
    ('of ' || :window_size || ' rows in the window ' || :packages || ' were written, one per package',
        EXISTS (SELECT FROM update_runs WHERE flow = 'directory' AND rows_read = :window_size
                AND rows_updated + rows_inserted = :packages AND rows_deleted = rows_inserted
                AND rows_unchanged = :window_size - :packages)),
    ('all others lie where they lay, those outside the window too',
        (SELECT count(*) FROM (SELECT ctid, * FROM directory INTERSECT ALL TABLE before) AS s)
        = (SELECT count(*) - :packages FROM directory)),
    ('the window is exactly what the query gives',
        NOT EXISTS (SELECT * FROM fresh WHERE starts_with(directory, '/usr/share')
                    EXCEPT ALL SELECT * FROM directory WHERE starts_with(directory, '/usr/share'))
        AND NOT EXISTS (SELECT * FROM directory WHERE starts_with(directory, '/usr/share')
                        EXCEPT ALL SELECT * FROM fresh WHERE starts_with(directory, '/usr/share')))
) AS c (what, holds);

\echo 'What would a run for a single package read, if the predicate were another one?'
\echo

\set ECHO queries
SELECT * FROM replace_flow.explain('directory', $$ package = 'bash' $$);
\set ECHO none

\echo 'Outside of the window nothing has followed.  What would a run for all directories'
\echo 'do, and what does it?'
\echo

\set ECHO queries
CREATE TABLE preview AS
SELECT * FROM replace_flow.preview('directory', predicate_override => 'true');
SELECT rows_inserted, rows_updated, rows_deleted, rows_unchanged FROM preview;
SELECT rows_inserted, rows_updated, rows_deleted, rows_unchanged
FROM replace_flow.refresh('directory', predicate_override => 'true');
\set ECHO none

SELECT claim(what, holds) AS "checked"
FROM replace_flow.run AS r CROSS JOIN preview AS p, LATERAL (VALUES
    ('the preview gave the numbers of the run',
        (r.rows_inserted, r.rows_updated, r.rows_deleted, r.rows_unchanged)
        = (p.rows_inserted, p.rows_updated, p.rows_deleted, p.rows_unchanged)),
    ('the table is what the query gives',
        NOT EXISTS (TABLE fresh EXCEPT ALL TABLE directory)
        AND NOT EXISTS (TABLE directory EXCEPT ALL TABLE fresh))
) AS c (what, holds)
WHERE run_id = (SELECT max(run_id) FROM replace_flow.run);

\echo 'A run computes no more than has changed: here one package has one more file.  When'
\echo 'nothing has changed it does nothing, however large the window.'
\echo

\set ECHO queries
INSERT INTO package_file_in
SELECT package, '/usr/share/doc/' || package || '/news', now() + interval '3 days' FROM package_file WHERE package = :'package'
GROUP BY package
UNION ALL
SELECT package, path, now() + interval '3 days' FROM package_file WHERE package = :'package';
SELECT rows_staged, rows_inserted, rows_updated FROM replace_flow.apply('package_file');
CREATE TABLE incremental_runs AS SELECT * FROM replace_flow.refresh('directory');
INSERT INTO incremental_runs SELECT * FROM replace_flow.refresh('directory');
SELECT flow, technique, rows_read, rows_inserted, rows_updated, rows_deleted
FROM incremental_runs WHERE kind = 'where' ORDER BY run_id;
\set ECHO none

SELECT claim(what, holds) AS "checked"
FROM (VALUES
    ('the first run read the directories of one package, not ' || :window_size || ' of all; the second read nothing',
        (SELECT array_agg(technique = ANY ('{APPEND_ONLY,ROW_BASED,NO_OP}') AND rows_read < 100 ORDER BY run_id)
         FROM incremental_runs WHERE kind = 'where') = '{t,t}'
        AND (SELECT technique FROM incremental_runs WHERE kind = 'where' ORDER BY run_id DESC LIMIT 1) = 'NO_OP'),
    ('the window is what the query gives',
        NOT EXISTS (SELECT * FROM fresh WHERE starts_with(directory, '/usr/share')
                    EXCEPT ALL SELECT * FROM directory WHERE starts_with(directory, '/usr/share')))
) AS c (what, holds);
