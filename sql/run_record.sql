\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- G1: replace_flow.run has a row per run, and its counts add up.
--
SELECT column_name, data_type FROM information_schema.columns
WHERE table_schema = 'replace_flow' AND table_name = 'run' ORDER BY ordinal_position;
SELECT column_name, data_type FROM information_schema.columns
WHERE table_schema = 'replace_flow' AND table_name = 'expectation_result' ORDER BY ordinal_position;
SELECT column_name, data_type FROM information_schema.columns
WHERE table_schema = 'replace_flow' AND table_name = 'rejected' AND column_name IN ('flow', 'run_id', 'expectation', 'row')
ORDER BY ordinal_position;

-- One run with every count in it.  An index on v, so that no row is updated.
CREATE TABLE item (k int, s int, v text);
CREATE INDEX ON item (k);
CREATE INDEX ON item (s, v);
CREATE TABLE item_in (k int, s int, v text, gone boolean);
CREATE TABLE other (k int, n int);
INSERT INTO other SELECT 6, n FROM generate_series(1, 3) AS n;
SELECT replace_flow.create_using_flow('item', 'item_in', '{k}', 's', delete_when => 'gone', on_tie => 'ignore',
    query => 'SELECT i.k, i.s, i.v, i.gone FROM item_in i LEFT JOIN other USING (k) WHERE k <> 99', comment => 'every count');
SELECT replace_flow.add_expectation('item', 'valid', $$ v <> 'bad' OR v IS NULL $$, 'drop');
INSERT INTO item VALUES (1, 5, 'a'), (2, 5, 'b'), (3, 5, 'c1'), (3, 5, 'c2'), (3, 5, 'c3'), (4, 5, 'd'), (5, 4, 'e');
INSERT INTO item_in VALUES
    (1, 4, 'late', NULL), (1, 3, 'superseded', NULL),
    (2, 5, 'tie', NULL), (2, 5, 'tie', NULL),
    (3, 6, 'new', NULL), (3, 5, 'superseded', NULL), (3, 7, 'bad', NULL),
    (4, 6, NULL, true),
    (6, 1, 'three times', NULL),
    (99, 1, 'not read', NULL);
SELECT status, kind, flow, definition_version, rows_staged, rows_read, rows_rejected, rows_superseded, rows_late,
    rows_tie_ignored, rows_tombstone, rows_inserted, rows_updated, rows_deleted, rows_unchanged, keys_replaced
FROM replace_flow.apply('item') \gx
-- What apply gives is the row that it wrote.
SELECT count(*) FROM replace_flow.run WHERE flow = 'item';
INSERT INTO item_in VALUES (7, 1, 'x', NULL);
SELECT replace_flow.apply('item') AS applied \gset
SELECT r = :'applied'::replace_flow.run AS as_recorded FROM replace_flow.run r WHERE flow = 'item' ORDER BY run_id;
SELECT started_at <= finished_at AS in_time, started_at > now() - interval '1 hour' AS of_now, wal_bytes > 0 AS wal,
    technique, reasons, predicate, error_code, error_message, error_detail
FROM replace_flow.run WHERE flow = 'item' ORDER BY run_id;
-- Runs are numbered as they come; those that failed leave no row.
INSERT INTO item_in VALUES (1, NULL, 'x', NULL);
SELECT status FROM replace_flow.apply('item');
DELETE FROM item_in;
SELECT run_id > (SELECT max(run_id) FROM replace_flow.run) AS later FROM replace_flow.apply('item');
SELECT count(*), count(DISTINCT run_id) FROM replace_flow.run WHERE flow = 'item';

-- Rows that stay are counted; so are updates, where rows are alike in all that
-- is indexed and there is room beside them.
CREATE TABLE part (k int, v text) WITH (fillfactor = 10);
CREATE INDEX ON part (k);
CREATE TABLE part_in (k int, s int, v text);
SELECT replace_flow.create_using_flow('part', 'part_in', '{k}', 's');
INSERT INTO part_in VALUES (1, 1, 'a'), (1, 1, 'b'), (2, 1, 'c');
SELECT rows_inserted, rows_updated, rows_deleted, rows_unchanged, keys_replaced FROM replace_flow.apply('part');
INSERT INTO part_in VALUES (1, 2, 'a'), (1, 2, 'B'), (2, 2, 'c'), (3, 2, 'd');
SELECT rows_read, rows_inserted, rows_inserted + rows_updated AS came, rows_updated + rows_deleted AS went, rows_unchanged, keys_replaced
FROM replace_flow.apply('part');

-- The record of a run that wrote nothing to the target is a record too.
SELECT status, rows_staged, rows_read, keys_replaced FROM replace_flow.apply('part');

-- The history of a flow goes with it, and of no other.
SELECT replace_flow.drop_flow('part');
SELECT flow, count(*) FROM replace_flow.run GROUP BY flow;
\i :finish
