\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- A7: types of the target that change while the flow is in place are followed, or
-- a run is refused with an error that says what no longer fits.
--
CREATE TABLE item (k int, s int, v text);
CREATE INDEX ON item (k);
CREATE TABLE item_in (k int, s int, v text, gone boolean);
SELECT replace_flow.create_using_flow('item', 'item_in', '{k}', 's', delete_when => 'gone');
INSERT INTO item_in VALUES (1, 1, 'a', NULL), (2, 5, NULL, true), (3, 5, NULL, true);
SELECT applied('item');
-- Where the ledger keeps floors, it keeps them in the type of before.
ALTER TABLE item ALTER s TYPE bigint;
INSERT INTO item_in VALUES (1, 2, 'b', NULL), (2, 4, 'late', NULL);
SELECT refused($$ SELECT replace_flow.apply('item') $$);
ALTER TABLE item ALTER s TYPE text;
SELECT refused($$ SELECT replace_flow.apply('item') $$);
ALTER TABLE item ALTER s TYPE numeric USING s::numeric;
SELECT refused($$ SELECT replace_flow.apply('item') $$);
SELECT refused($$ SELECT * FROM replace_flow.floors('item') $$);
ALTER TABLE item ALTER s TYPE int;
SELECT applied('item');
SELECT * FROM item ORDER BY k;

-- Without a ledger the new type is the one that counts.
CREATE TABLE mark (k int, s int);
CREATE INDEX ON mark (k);
CREATE TABLE mark_in (LIKE mark);
SELECT replace_flow.create_using_flow('mark', 'mark_in', '{k}', 's');
INSERT INTO mark_in VALUES (1, 9);
SELECT applied('mark');
ALTER TABLE mark ALTER s TYPE text, ALTER k TYPE bigint;
INSERT INTO mark_in VALUES (1, 10), (2, 5);
SELECT applied('mark');
SELECT * FROM mark ORDER BY k;

-- A key with the ledger; a key and a sequence that can no longer be sorted.
CREATE TABLE part (k int, v text);
CREATE TABLE part_in (k int, s int, v text);
CREATE INDEX ON part (k);
SELECT replace_flow.create_using_flow('part', 'part_in', '{k}', 's');
INSERT INTO part_in VALUES (1, 1, 'a');
SELECT applied('part');
ALTER TABLE part ALTER k TYPE text;
INSERT INTO part_in VALUES (1, 2, 'b');
SELECT refused($$ SELECT replace_flow.apply('part') $$);
ALTER TABLE part ALTER k TYPE int USING k::int;
SELECT applied('part');
TABLE part;
CREATE TABLE doc (k jsonb, s jsonb);
CREATE TABLE doc_in (LIKE doc);
SET client_min_messages = error;
SELECT replace_flow.create_using_flow('doc', 'doc_in', '{k}', 's');
SET client_min_messages = warning;
INSERT INTO doc_in VALUES ('1', '1');
SELECT applied('doc');
ALTER TABLE doc ALTER s TYPE json;
INSERT INTO doc_in VALUES ('1', '2');
SELECT refused($$ SELECT replace_flow.apply('doc') $$);
ALTER TABLE doc ALTER s TYPE jsonb, ALTER k TYPE json;
SELECT refused($$ SELECT replace_flow.apply('doc') $$);
ALTER TABLE doc ALTER k TYPE jsonb;
SELECT applied('doc');
TABLE doc;
\i :finish
