\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- A5: the query reads the stream once, and may join, project, rename and compute.
--
CREATE TABLE product (id int PRIMARY KEY, name text, price numeric);
INSERT INTO product VALUES (1, 'widget', 2.5), (2, 'gadget', 4), (3, 'bolt', 0.1);
CREATE TABLE order_line (order_id int, product text, cost numeric, version int);
CREATE INDEX ON order_line (order_id);
CREATE TABLE order_line_in (order_no int, product_id int, quantity int, updated_at timestamptz, major int, minor int);
SELECT replace_flow.create_using_flow('order_line', 'order_line_in', '{order_id}', 'version', query => $$
    SELECT i.order_no AS order_id, p.name AS product, i.quantity * p.price AS cost,
        i.major * 1000 + i.minor AS version
    FROM order_line_in i LEFT JOIN product p ON p.id = i.product_id
    WHERE i.quantity > 0
$$);
INSERT INTO order_line_in VALUES
    (42, 1, 2, now(), 1, 9), (42, 3, 100, now(), 1, 9), (42, 2, 1, now(), 1, 8),
    (43, 2, 0, now(), 1, 9), (44, 9, 1, now(), 0, 1);
SELECT applied('order_line');
SELECT * FROM order_line ORDER BY order_id, product;
-- Rows that the query leaves out are consumed all the same.
SELECT count(*) AS staged FROM order_line_in;
-- The joined table is read as it is when the flow runs.
UPDATE product SET price = 3 WHERE id = 1;
INSERT INTO order_line_in VALUES (42, 1, 2, now(), 1, 10);
SELECT applied('order_line');
SELECT * FROM order_line ORDER BY order_id, product;
-- A query may give no row at all.
INSERT INTO order_line_in VALUES (45, 1, 0, now(), 1, 1);
SELECT applied('order_line');
SELECT replace_flow.drop_flow('order_line');

-- Aggregates, DISTINCT, window functions, set operations with other tables, WITH,
-- subqueries, functions of the user; the sequence as an expression over the
-- query's output.
CREATE FUNCTION doubled(int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT $1 * 2';
CREATE TABLE other (k int, v text);
INSERT INTO other VALUES (100, 'other');
CREATE TABLE item_in (k int, v text, s int);
CREATE FUNCTION try(query text, sequence_by text DEFAULT 's') RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
    PERFORM replace_flow.create_using_flow('item', 'item_in', '{k}', sequence_by, query => query);
    INSERT INTO item_in VALUES (1, 'a', 1), (1, 'a', 1), (1, 'b', 2), (2, 'c', 1), (NULL, 'd', 5);
    RETURN NEXT applied('item');
    RETURN QUERY SELECT to_jsonb(i)::text FROM item i ORDER BY 1;
    PERFORM replace_flow.drop_flow('item', drop_target => true);
END $$;
SELECT try('SELECT * FROM item_in');
SELECT try('TABLE item_in');
SELECT try('SELECT k, v, s FROM item_in;');
SELECT try('SELECT k, v, s FROM item_in -- all of it');
SELECT try('SELECT DISTINCT k, v, s FROM item_in');
SELECT try('SELECT k, count(*) AS n, max(s) AS s FROM item_in GROUP BY k HAVING k IS NOT NULL');
SELECT try('SELECT k, v, row_number() OVER (PARTITION BY k ORDER BY s, v) AS s FROM item_in');
SELECT try('SELECT doubled(k) AS k, v, s FROM item_in', 'doubled(s) + length(v)');
SELECT try('SELECT k, v, s FROM item_in UNION ALL SELECT k, v, 0 FROM other');
SELECT try('WITH i AS (SELECT * FROM item_in), o AS (SELECT * FROM other) SELECT i.k, i.v, i.s, o.v AS w FROM i, o');
SELECT try('SELECT k, v, s, (SELECT o.v FROM other o) AS w FROM item_in i WHERE EXISTS (SELECT FROM other)');
SELECT try('SELECT i.k, e.v, i.s FROM item_in i, LATERAL unnest(ARRAY[i.v, upper(i.v)]) AS e (v) WHERE k = 2');
SELECT try('SELECT x.* FROM (SELECT k, v, s FROM item_in ORDER BY s DESC LIMIT 2) AS x');
SELECT try('SELECT k, v, s FROM item_in WHERE k < 0');
-- sequence_by may be a constant: then all sets of a key tie.
SELECT try('SELECT k, v FROM item_in WHERE k = 1', '1');
SELECT try($$ SELECT k, v, s FROM item_in WHERE k = 1 $$, $$ CASE v WHEN 'a' THEN 'high' ELSE 'low' END COLLATE "C" $$);

-- Through views, and from a partitioned stream.
CREATE VIEW item_view AS SELECT k, v, s FROM item_in;
CREATE VIEW item_view2 AS SELECT v.*, o.v AS w FROM item_view v, other o;
SELECT try('SELECT * FROM item_view2');
CREATE TABLE part_in (k int, v text, s int) PARTITION BY LIST (k);
CREATE TABLE part_in_1 PARTITION OF part_in FOR VALUES IN (1);
CREATE TABLE part_in_2 (s int, gone int, v text, k int);
ALTER TABLE part_in_2 DROP COLUMN gone;
ALTER TABLE part_in ATTACH PARTITION part_in_2 DEFAULT;
SELECT replace_flow.create_using_flow('part', 'part_in', '{k}', 's');
INSERT INTO part_in VALUES (1, 'a', 1), (2, 'b', 1), (1, 'c', 2);
INSERT INTO part_in_2 (k, v, s) VALUES (2, 'd', 2);
SELECT applied('part');
SELECT * FROM part ORDER BY k;
SELECT count(*) AS staged FROM part_in;

-- Without a query the flow takes all columns of the stream; a dropped one is none.
CREATE TABLE plain_in (gone int, k int, s int);
ALTER TABLE plain_in DROP COLUMN gone;
SELECT replace_flow.create_using_flow('plain', 'plain_in', '{k}', 's');
INSERT INTO plain_in VALUES (1, 2);
SELECT applied('plain');
TABLE plain;
\i :finish
