\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- B11: foreign keys from the target to other tables are checked as for the user's
-- own statements, and what they do to its rows when the other table changes is seen
-- by the next run.
--
CREATE TABLE customer (id int PRIMARY KEY);
CREATE TABLE product (shop int, code text, PRIMARY KEY (shop, code)) PARTITION BY LIST (shop);
CREATE TABLE product_1 PARTITION OF product FOR VALUES IN (1);
CREATE TABLE product_rest PARTITION OF product DEFAULT;
CREATE TABLE order_line (
    customer int REFERENCES customer ON UPDATE CASCADE ON DELETE CASCADE, line int, shop int, code text, v text, s int,
    FOREIGN KEY (shop, code) REFERENCES product MATCH FULL ON DELETE SET NULL);
CREATE INDEX ON order_line (customer);
CREATE TABLE order_line_in (LIKE order_line);
INSERT INTO customer VALUES (1), (2), (3);
INSERT INTO product VALUES (1, 'a'), (1, 'b'), (2, 'a');
SELECT replace_flow.create_using_flow('order_line', 'order_line_in', '{customer}', 's');
CREATE VIEW state AS
    SELECT 'order_line' AS what, ctid::text || xmin::text || t::text AS "row" FROM order_line t
    UNION ALL SELECT 'order_line_in', ctid::text || xmin::text || s::text FROM order_line_in s
    UNION ALL SELECT 'run', run_id::text FROM replace_flow.run;
CREATE TABLE state_before (what text, "row" text);
INSERT INTO order_line_in VALUES (1, 1, 1, 'a', 'v', 1), (1, 2, 2, 'a', 'v', 1), (2, 1, NULL, NULL, 'v', 1), (NULL, 1, 1, 'b', 'v', 1);
SELECT applied('order_line');

-- A row that nothing is there for, in part and whole, and one that gives half of
-- the reference; then the other table has what was missed.
CREATE FUNCTION try_bad(bad text) RETURNS SETOF text
LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('INSERT INTO order_line_in VALUES (1, 1, 1, ''a'', ''good'', 9), %s', bad);
    DELETE FROM state_before;
    INSERT INTO state_before TABLE state;
    RETURN QUERY SELECT line FROM refused($r$ SELECT replace_flow.apply('order_line') $r$) AS line WHERE line !~ '^CONTEXT';
    RETURN NEXT 'as it was: ' || same('TABLE state', 'TABLE state_before');
    DELETE FROM order_line_in;
END $$;
SELECT try_bad($$ (4, 1, 1, 'a', 'bad', 1) $$);
SELECT try_bad($$ (2, 1, 2, 'b', 'bad', 2) $$);
SELECT try_bad($$ (2, 1, 2, NULL, 'bad', 2) $$);
INSERT INTO customer VALUES (4);
INSERT INTO order_line_in VALUES (4, 1, 1, 'a', 'v', 1);
SELECT applied('order_line');

-- What the other tables do to rows of the target: their key changes with the
-- customer, a reference is set to null, rows go with the customer.
UPDATE customer SET id = 5 WHERE id = 1;
DELETE FROM product WHERE shop = 2;
DELETE FROM customer WHERE id = 2;
SELECT * FROM order_line ORDER BY customer, line;
SELECT * FROM replace_flow.floors('order_line');
INSERT INTO customer VALUES (1), (2);
INSERT INTO order_line_in VALUES (5, 1, 1, 'a', 'w', 1), (5, 0, NULL, NULL, 'late', 0), (1, 1, 1, 'a', 'new', 0), (2, 1, 1, 'a', 'again', 0);
SELECT applied('order_line');
INSERT INTO order_line_in VALUES (5, 2, 1, 'b', 'x', 2);
SELECT applied('order_line');
SELECT * FROM order_line ORDER BY customer, line;

-- With a ledger the floor stays with the key that was sent.
CREATE TABLE note (customer int REFERENCES customer ON UPDATE CASCADE ON DELETE CASCADE, v text);
CREATE INDEX ON note (customer);
CREATE TABLE note_in (customer int, v text, s int);
SELECT replace_flow.create_using_flow('note', 'note_in', '{customer}', 's');
INSERT INTO note_in VALUES (3, 'a', 5), (4, 'b', 5);
SELECT applied('note');
UPDATE customer SET id = 6 WHERE id = 3;
DELETE FROM customer WHERE id = 4;
INSERT INTO customer VALUES (3), (4);
INSERT INTO note_in VALUES (3, 'late', 4), (4, 'late', 4), (6, 'replaces', 4);
SELECT applied('note');
SELECT * FROM note ORDER BY customer;

-- Parents and children from two flows in one transaction, in the order that the
-- reference asks for.
CREATE TABLE parent (id int PRIMARY KEY, v text);
CREATE TABLE child (parent int REFERENCES parent, n int, v text);
CREATE INDEX ON child (parent);
CREATE TABLE parent_in (id int, v text, s int);
CREATE TABLE child_in (parent int, n int, v text, s int);
SELECT replace_flow.create_using_flow('parent', 'parent_in', '{id}', 's');
SELECT replace_flow.create_using_flow('child', 'child_in', '{parent}', 's');
INSERT INTO parent_in SELECT i, 'v', 1 FROM generate_series(1, 100) AS i;
INSERT INTO child_in SELECT i, n, 'v', 1 FROM generate_series(1, 100) AS i, generate_series(1, 3) AS n;
SELECT refused($$ SELECT replace_flow.apply('child') $$) LIMIT 1;
SELECT applied('parent'), applied('child');
-- children that are rewritten do not touch their parents
INSERT INTO child_in SELECT i, n, 'w', 2 FROM generate_series(1, 100) AS i, generate_series(2, 4) AS n;
SELECT applied('child');
SELECT count(*), count(*) FILTER (WHERE v = 'w' AND n BETWEEN 2 AND 4) AS right FROM child;
\i :finish
