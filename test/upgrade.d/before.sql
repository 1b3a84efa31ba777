-- In the old server: a flow of each kind of floor, with an expectation, a run, and
-- rows that wait in its stream.  What must be the same after the upgrade is saved.

CREATE EXTENSION replace_flow;
CREATE ROLE clerk;
CREATE SCHEMA shop AUTHORIZATION clerk;
SET SESSION AUTHORIZATION clerk;
SET search_path = shop;

-- The target stores the sequence.
CREATE TABLE item (k int, v text, s int);
CREATE INDEX ON item (k);
CREATE TABLE item_in (LIKE item);
SELECT replace_flow.create_using_flow('item', 'item_in', '{k}', 's', comment => 'stored');

-- The ledger keeps it.
CREATE TABLE item_now (k int, v text);
CREATE INDEX ON item_now (k);
CREATE TABLE item_now_in (LIKE item);
SELECT replace_flow.create_using_flow('item_now', 'item_now_in', '{k}', 's', on_tie => 'replace');

-- Both do: the ledger for the keys that were deleted.
CREATE TABLE account (k int PRIMARY KEY, v text, s int);
CREATE TABLE account_in (LIKE account, gone boolean);
SELECT replace_flow.create_using_flow('account', 'account_in', '{k}', 's', delete_when => 'gone');

-- Partitioned, with a query that reads another table.
CREATE TABLE event (k int, day date, v text, s int) PARTITION BY RANGE (day);
CREATE TABLE event_1 PARTITION OF event FOR VALUES FROM ('2026-01-01') TO ('2026-02-01');
CREATE TABLE event_2 PARTITION OF event FOR VALUES FROM ('2026-02-01') TO ('2026-03-01');
CREATE INDEX ON event (k);
CREATE TABLE month (number int, first date);
INSERT INTO month VALUES (1, '2026-01-01'), (2, '2026-02-01');
CREATE TABLE event_in (k int, month int, v text, s int);
SELECT replace_flow.create_using_flow('event', 'event_in', '{k}', 's', name => 'Events',
    query => 'SELECT k, first AS day, v, s FROM event_in JOIN month ON number = month');

SELECT replace_flow.add_expectation(flow, 'not bad', $$ v <> 'bad' $$, 'drop')
FROM unnest(ARRAY['item', 'item_now', 'account', 'Events']) AS flow;

INSERT INTO item_in VALUES (1, 'a', 2), (2, 'b', 2), (3, 'c', 5), (4, 'bad', 9);
INSERT INTO item_now_in TABLE item_in;
INSERT INTO account_in VALUES (1, 'a', 1, false), (2, 'b', 1, false), (2, '', 2, true), (3, '', 5, true), (4, 'bad', 9, false);
INSERT INTO event_in VALUES (1, 1, 'a', 2), (1, 2, 'b', 2), (2, 1, 'c', 2), (4, 1, 'bad', 9);
SELECT replace_flow.apply('item');
SELECT replace_flow.apply('item_now');
SELECT replace_flow.apply('account');
SELECT replace_flow.apply('Events');

-- A window, with an alias and types with modifiers in its predicate, and a backfill
-- of what lies before it, which a row of its second slice has stopped.
CREATE TYPE mood AS ENUM ('sad', 'happy');
CREATE DOMAIN amount AS numeric(6,2) CHECK (value > 0);
CREATE TABLE sale (id int PRIMARY KEY, day date, kind char(3), customer varchar(9), mood mood, amount amount);
CREATE TABLE daily (day date, kind char(3), sales bigint, total numeric(8,2), who varchar(9), mood mood);
SELECT replace_flow.create_where_flow('daily',
    'SELECT s.day, s.kind, count(*) AS sales, sum(s.amount) AS total, max(s.customer) AS who, max(s.mood) AS mood FROM sale s GROUP BY s.day, s.kind',
    $$ s.day >= '2026-02-01' AND kind <> 'x' AND total < 99.999 AND who <= 'm' AND mood > 'sad' $$);
SELECT replace_flow.add_expectation('daily', 'few', 'sales < 3', 'drop');
SELECT replace_flow.add_expectation('daily', 'sound', $$ who <> 'bad' $$, 'fail');
INSERT INTO sale VALUES (1, '2026-01-30', 'a', 'b', 'happy', 1), (2, '2026-01-31', 'a', 'b', 'happy', 2), (3, '2026-02-01', 'a', 'b', 'happy', 3),
    (4, '2026-02-01', 'x', 'b', 'happy', 4), (5, '2026-02-02', 'a', 'b', 'sad', 5), (6, '2026-02-02', 'b', 'b', 'happy', 6);
INSERT INTO daily VALUES ('2025-01-01', 'a', 1, 1, 'history', 'sad');
SELECT replace_flow.refresh('daily');
UPDATE sale SET customer = 'bad' WHERE id = 1;
\set ON_ERROR_STOP 0
CALL replace_flow.backfill('daily', 'day', '2026-01-29', '2026-02-01', 1);
\set ON_ERROR_STOP 1

-- These wait: late ones, ties, newer ones and rejected ones.
INSERT INTO item_in VALUES (1, 'late', 1), (2, 'tie', 2), (3, 'new', 6), (4, 'd', 1), (5, 'bad', 7);
INSERT INTO item_now_in TABLE item_in;
INSERT INTO account_in VALUES (1, '', 3, true), (2, 'late', 1, false), (3, 'late', 4, false), (4, 'd', 1, false), (5, 'bad', 7, false);
INSERT INTO event_in VALUES (1, 1, 'late', 1), (2, 2, 'moved', 3), (4, 1, 'd', 1), (5, 1, 'bad', 7);

RESET SESSION AUTHORIZATION;
RESET search_path;      -- so that names are saved with their schemas
CREATE SCHEMA saved;
CREATE VIEW saved.floor_now AS
SELECT flow, key, floor
FROM unnest(ARRAY['item', 'item_now', 'account', 'Events']) AS flow, replace_flow.floors(flow);
CREATE TABLE saved.floor AS TABLE saved.floor_now;
CREATE VIEW saved.trigger_now AS
SELECT tgrelid, tgtype, tgenabled FROM pg_trigger WHERE tgname ~ '^replace_flow_staged';
CREATE TABLE saved.trigger AS SELECT * FROM saved.trigger_now WHERE tgrelid <> 'shop.item_now_in'::regclass;
CREATE TABLE saved.flow AS SELECT to_jsonb(f) FROM replace_flow.flow f;
CREATE TABLE saved.expectation AS SELECT to_jsonb(e) FROM replace_flow.expectation e;
CREATE TABLE saved.run AS SELECT to_jsonb(r) FROM replace_flow.run r;
CREATE TABLE saved.result AS SELECT to_jsonb(r) FROM replace_flow.expectation_result r;
CREATE TABLE saved.rejected AS SELECT to_jsonb(r) FROM replace_flow.rejected r;
CREATE TABLE saved.backfill AS SELECT to_jsonb(b) FROM replace_flow.backfill b;
