\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- A3: what cannot be the key or the sequence of a flow.
--
CREATE TABLE item (order_id int, line int, item text, seq int, doc json);
CREATE INDEX ON item (order_id);
CREATE TABLE item_in (order_id int, line int, item text, seq int, "group" text, doc json);

-- At least one key column, none twice.
SELECT refused($$ SELECT replace_flow.create_using_flow('item', 'item_in', '{}', 'seq') $$);
SELECT refused($$ SELECT replace_flow.create_using_flow('item', 'item_in', '{order_id, order_id}', 'seq') $$);
SELECT refused($$ SELECT replace_flow.create_using_flow('item', 'item_in', '{order_id, NULL}', 'seq') $$);
SELECT refused($$ SELECT replace_flow.create_using_flow('item', 'item_in', NULL, 'seq') $$);
SELECT refused(format($$ SELECT replace_flow.create_using_flow('item', 'item_in', %L, 'seq') $$,
    (SELECT array_agg('k' || i) FROM generate_series(1, 33) AS i)));

-- A3: an unknown key column, with the one that was meant.
SELECT refused($$ SELECT replace_flow.create_using_flow('item', 'item_in', '{oder_id}', 'seq') $$);
SELECT refused($$ SELECT replace_flow.create_using_flow('item', 'item_in', '{order_id, LINE}', 'seq') $$);
SELECT refused($$ SELECT replace_flow.create_using_flow('item', 'item_in', '{nothing_like_it}', 'seq') $$);
SELECT refused($$ SELECT replace_flow.create_using_flow('item', 'item_in', '{"order_id "}', 'seq') $$);
SELECT refused($$ SELECT replace_flow.create_using_flow('item', 'item_in', '{""}', 'seq') $$);
SELECT refused($$ SELECT replace_flow.create_using_flow('item', 'item_in', '{order_id + 1}', 'seq') $$);
SELECT refused($$ SELECT replace_flow.create_using_flow('item', 'item_in', '{ctid}', 'seq') $$);
SELECT refused(format($$ SELECT replace_flow.create_using_flow('item', 'item_in', '{%s}', 'seq') $$, repeat('order_id', 9)));
-- It is in the stream, but not in the query's output; in the output, but not in the target.
SELECT refused($$ SELECT replace_flow.create_using_flow('item', 'item_in', '{order_id}', 'seq',
    query => 'SELECT order_id AS id, line, seq FROM item_in') $$);
SELECT refused($$ SELECT replace_flow.create_using_flow('item', 'item_in', '{group}', 'seq',
    query => 'SELECT order_id, "group", seq FROM item_in') $$);
SELECT refused($$ SELECT replace_flow.create_using_flow('item', 'item_in', '{order_id, n}', 'n',
    query => 'SELECT order_id, seq AS n FROM item_in') $$);

-- A key column that cannot be sorted: what counts is the target's type.
SELECT refused($$ SELECT replace_flow.create_using_flow('item', 'item_in', '{doc}', 'seq',
    query => 'SELECT order_id, seq, doc FROM item_in') $$);

-- sequence_by is one value, and can be sorted.
SELECT refused($$ SELECT replace_flow.create_using_flow('item', 'item_in', '{order_id}', NULL) $$);
SELECT refused($$ SELECT replace_flow.create_using_flow('item', 'item_in', '{order_id}', '') $$);
SELECT refused($$ SELECT replace_flow.create_using_flow('item', 'item_in', '{order_id}', 'seq, line') $$);
SELECT refused($$ SELECT replace_flow.create_using_flow('item', 'item_in', '{order_id}', '(seq, line)',
    query => 'SELECT order_id, line, seq FROM item_in') $$);
SELECT refused($$ SELECT replace_flow.create_using_flow('item', 'item_in', '{order_id}', '*') $$);
SELECT refused($$ SELECT replace_flow.create_using_flow('item', 'item_in', '{order_id}', 'doc',
    query => 'SELECT order_id, seq, doc FROM item_in') $$);
SELECT refused($$ SELECT replace_flow.create_using_flow('item', 'item_in', '{order_id}', 'point(seq, line)',
    query => 'SELECT order_id, line, seq FROM item_in') $$);
SELECT refused($$ SELECT replace_flow.create_using_flow('item', 'item_in', '{order_id}', 'seq COLLATE "C" || item',
    query => 'SELECT order_id, item, seq FROM item_in') $$);

-- A3: an unknown column in sequence_by, alone and in an expression.
SELECT refused($$ SELECT replace_flow.create_using_flow('item', 'item_in', '{order_id}', 'sek',
    query => 'SELECT order_id, seq FROM item_in') $$);
SELECT refused($$ SELECT replace_flow.create_using_flow('item', 'item_in', '{order_id}', 'updated_at',
    query => 'SELECT order_id, seq FROM item_in') $$);
SELECT refused($$ SELECT replace_flow.create_using_flow('item', 'item_in', '{order_id}', 'sek + 1',
    query => 'SELECT order_id, seq FROM item_in') $$);
SELECT refused($$ SELECT replace_flow.create_using_flow('item', 'item_in', '{order_id}', 'line',
    query => 'SELECT order_id, seq FROM item_in') $$);
SELECT refused($$ SELECT replace_flow.create_using_flow('item', 'item_in', '{order_id}', 'xmin::text::bigint',
    query => 'SELECT order_id, seq FROM item_in') $$);

-- 32 key columns are as many as an index can have, and work; 33 do not.
DO $$
BEGIN
    EXECUTE (SELECT format('CREATE TABLE wide_in (%s, s int)', string_agg(format('k%s int', i), ', '))
             FROM generate_series(1, 33) AS i);
END $$;
SELECT refused(format($$ SELECT replace_flow.create_using_flow('wide', 'wide_in', %L, 's') $$,
    (SELECT array_agg('k' || i) FROM generate_series(1, 33) AS i)));
SELECT replace_flow.create_using_flow('wide', 'wide_in', (SELECT array_agg('k' || i) FROM generate_series(1, 32) AS i), 's + 1');
INSERT INTO wide_in (k1, k32, s) VALUES (1, 1, 1), (1, 1, 2), (1, 2, 1), (NULL, NULL, 1);
SELECT applied('wide');
INSERT INTO wide_in (k1, k32, s) VALUES (1, 1, 1), (1, 2, 5), (NULL, NULL, 2);
SELECT applied('wide');
SELECT k1, k32, s FROM wide ORDER BY k1, k32;
\i :finish
