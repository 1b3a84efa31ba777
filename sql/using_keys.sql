\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- A key is the whole tuple of key columns, and need not be unique.
--

-- Case O01: only the listed pairs are replaced, not each region with each device.
CREATE TABLE device (region int, device text, s int, n int);
CREATE INDEX ON device (region, device);
CREATE TABLE device_in (LIKE device);
CREATE TABLE sent (batch int, LIKE device);
INSERT INTO sent VALUES
    (1, 1, 'ios', 1, 10), (1, 1, 'web', 1, 11), (1, 2, 'ios', 1, 12), (1, 2, 'web', 1, 13),
    (2, 1, 'web', 2, 21), (2, 2, 'ios', 2, 22);
CALL arrange($$ SELECT replace_flow.create_using_flow('device', 'device_in', '{region, device}', 's') $$,
             'device', 'device_in');
SELECT * FROM outcome;
\i :finish
