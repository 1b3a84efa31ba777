\echo
\echo == 6. Order lines: the sequence in the ledger
\echo
\echo 'This target has no updated_at, so the flow keeps the floors in a ledger of its'
\echo 'own, and a line that is sent again unchanged need not be written.'
\echo

\set ECHO queries
CREATE TABLE order_line (
    id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    order_id int, item text, quantity int);
CREATE INDEX ON order_line (order_id);

CREATE TABLE order_line_in (
    order_id int, item text, quantity int, updated_at timestamptz);
\o /dev/null
SELECT replace_flow.create_using_flow(
    'order_line', 'order_line_in', '{order_id}', 'updated_at', auto_apply => false);
\o

INSERT INTO order_line_in VALUES
    (42, 'widget', 2, '2026-03-01 10:00+00'),
    (42, 'gadget', 5, '2026-03-01 10:00+00'),
    (42, 'bolt', 10, '2026-03-01 10:00+00');
\o /dev/null
SELECT status FROM replace_flow.apply('order_line');
\o
SELECT ctid, * FROM order_line ORDER BY item;
\set ECHO none
CREATE TABLE lines_before AS SELECT ctid AS place, * FROM order_line;
\set ECHO queries
INSERT INTO order_line_in VALUES
    (42, 'widget', 3, '2026-03-01 11:30+00'),
    (42, 'bolt', 10, '2026-03-01 11:30+00'),
    (42, 'cable', 1, '2026-03-01 11:30+00');
SELECT rows_read, rows_inserted, rows_updated, rows_deleted, rows_unchanged
FROM replace_flow.apply('order_line');
SELECT ctid, * FROM order_line ORDER BY item;
\set ECHO none

SELECT claim(what, holds) AS "checked"
FROM (VALUES
    ('the order is widget 3, bolt 10, cable 1; nobody sent a delete for gadget',
        (SELECT array_agg(item || ' ' || quantity ORDER BY item) FROM order_line) = '{bolt 10,cable 1,widget 3}'),
    ('the bolt line keeps its ctid and its id',
        EXISTS (SELECT FROM order_line l JOIN lines_before b ON (l.ctid, l.id, l.item) = (b.place, b.id, b.item)
                WHERE l.item = 'bolt')),
    ('the floor of the order is the later updated_at',
        (SELECT array_agg(floor::timestamptz) FROM replace_flow.floors('order_line')) = '{2026-03-01 11:30+00}')
) AS c (what, holds);
