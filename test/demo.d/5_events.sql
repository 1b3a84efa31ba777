\echo
\echo == 5. Events: one set per region
\echo
\echo 'This target has rows already.  It stores the sequence, so they have floors.'
\echo

\set ECHO queries
CREATE TABLE events (region_id int, device_type text, event_type text, seq int);
CREATE INDEX ON events (region_id);
INSERT INTO events VALUES
    (1, 'iOS', 'click', 1), (1, 'Android', 'conversion', 1),
    (2, 'iOS', 'click', 1), (2, 'desktop', 'click', 1);

CREATE TABLE events_in (LIKE events);
\o /dev/null
SELECT replace_flow.create_using_flow(
    'events', 'events_in', '{region_id}', 'seq', auto_apply => false);
\o

INSERT INTO events_in VALUES
    (1, 'iOS', 'click', 2), (1, 'Android', 'conversion', 2),
    (1, 'desktop', 'click', 2),
    (3, 'iOS', 'click', 1), (3, 'desktop', 'click', 2);
SELECT rows_read, rows_superseded, rows_inserted, rows_updated, rows_deleted
FROM replace_flow.apply('events');
SELECT * FROM events ORDER BY region_id, device_type;
\set ECHO none

CREATE TEMP TABLE expected (LIKE events);
INSERT INTO expected VALUES
    (1, 'iOS', 'click', 2), (1, 'Android', 'conversion', 2), (1, 'desktop', 'click', 2),
    (2, 'iOS', 'click', 1), (2, 'desktop', 'click', 1),
    (3, 'desktop', 'click', 2);
SELECT claim(what, holds) AS "checked"
FROM (VALUES
    ('region 1 has its three rows at 2, region 2 is as it was, region 3 has one row',
        NOT EXISTS (TABLE events EXCEPT ALL TABLE expected)
        AND NOT EXISTS (TABLE expected EXCEPT ALL TABLE events))
) AS c (what, holds);
