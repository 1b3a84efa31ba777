\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- The two examples of what a using flow is for.
--

-- Events: the set of a region is replaced by a newer one, whole; a region that
-- nobody sends is left alone (B3, B4, B5).
CREATE TABLE events (region_id int, device_type text, event_type text, seq int);
CREATE INDEX ON events (region_id);
INSERT INTO events VALUES
    (1, 'iOS', 'click', 1), (1, 'Android', 'conversion', 1),
    (2, 'iOS', 'click', 1), (2, 'desktop', 'click', 1);
CREATE TABLE events_in (LIKE events);
SELECT replace_flow.create_using_flow('events', 'events_in', '{region_id}', 'seq');
INSERT INTO events_in VALUES
    (1, 'iOS', 'click', 2), (1, 'Android', 'conversion', 2), (1, 'desktop', 'click', 2),
    (3, 'iOS', 'click', 1), (3, 'desktop', 'click', 2);
SELECT applied('events');
SELECT * FROM events ORDER BY region_id, device_type COLLATE "C";
SELECT * FROM replace_flow.floors('events');
SELECT count(*) AS staged FROM events_in;

-- Order lines: the target does not store the sequence, so a ledger keeps the
-- floors (B7), and a line that is sent again as it was is not written (B10): it
-- keeps its place and its surrogate id.  A line that is not sent again is gone.
CREATE TABLE order_line (
    id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    order_id int, item text, quantity int);
CREATE INDEX ON order_line (order_id);
CREATE TABLE order_line_in (order_id int, item text, quantity int, updated_at timestamptz);
SELECT replace_flow.create_using_flow('order_line', 'order_line_in', '{order_id}', 'updated_at');
INSERT INTO order_line_in VALUES
    (42, 'widget', 2, '2026-03-01 10:00+00'),
    (42, 'gadget', 5, '2026-03-01 10:00+00'),
    (42, 'bolt', 10, '2026-03-01 10:00+00');
SELECT applied('order_line');
CREATE TABLE line_before AS SELECT ctid AS place, * FROM order_line;
INSERT INTO order_line_in VALUES
    (42, 'widget', 3, '2026-03-01 11:30+00'),
    (42, 'bolt', 10, '2026-03-01 11:30+00'),
    (42, 'cable', 1, '2026-03-01 11:30+00');
SELECT applied('order_line');
SELECT order_id, item, quantity FROM order_line ORDER BY item COLLATE "C";
SELECT item, new.id = old.id AS id_kept, new.ctid = place AS place_kept
FROM order_line new JOIN line_before old USING (order_id, item, quantity);
SELECT key, floor::timestamptz = '2026-03-01 11:30+00' AS is_newest FROM replace_flow.floors('order_line');
\i :finish
