\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- B11: constraints and triggers that are deferred act at the end of the
-- transaction, as for the user's own statements, when the owner runs the flow.
--
CREATE TABLE parent (n int PRIMARY KEY);
INSERT INTO parent VALUES (1), (2);
CREATE TABLE item (k int, s int, n int REFERENCES parent DEFERRABLE INITIALLY DEFERRED);
CREATE INDEX ON item (k);
CREATE TABLE item_in (LIKE item);
SELECT replace_flow.create_using_flow('item', 'item_in', '{k}', 's');
INSERT INTO item_in VALUES (1, 1, 1), (2, 1, 2);
SELECT applied('item');

-- The row that is missed may come later in the transaction.
BEGIN;
INSERT INTO item_in VALUES (1, 2, 3);
SELECT applied('item');
INSERT INTO parent VALUES (3);
COMMIT;
SELECT * FROM item ORDER BY k;

-- Or else the transaction fails whole.
INSERT INTO item_in VALUES (1, 3, 4), (2, 3, 1);
SELECT status FROM replace_flow.apply('item');
\echo :LAST_ERROR_SQLSTATE
SELECT * FROM item ORDER BY k;
SELECT count(*) AS staged FROM item_in;
INSERT INTO parent VALUES (4);
SELECT applied('item');
SELECT * FROM item ORDER BY k;

-- A table that refers to the target, checked at the end: the key is there again.
CREATE TABLE account (id int PRIMARY KEY, s int, v text);
CREATE TABLE account_in (LIKE account);
SELECT replace_flow.create_using_flow('account', 'account_in', '{id}', 's');
INSERT INTO account_in VALUES (1, 1, 'a'), (2, 1, 'b');
SELECT applied('account');
CREATE TABLE child (id int REFERENCES account DEFERRABLE INITIALLY DEFERRED);
INSERT INTO child VALUES (1);
INSERT INTO account_in VALUES (1, 2, 'A'), (2, 2, 'B');
SELECT applied('account');
SELECT * FROM account ORDER BY id;
TABLE child;

-- A unique constraint and a trigger that are deferred.
CREATE TABLE line_item (ord int, line int, v text, UNIQUE (line) DEFERRABLE INITIALLY DEFERRED);
CREATE INDEX ON line_item (ord);
CREATE TABLE line_item_in (ord int, line int, v text, s int);
CREATE TABLE written (v text);
CREATE FUNCTION note_row() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO test.written VALUES (NEW.v);
    RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER note_row AFTER INSERT ON line_item DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION note_row();
SELECT replace_flow.create_using_flow('line_item', 'line_item_in', '{ord}', 's');
INSERT INTO line_item_in VALUES (1, 1, 'a', 1), (2, 2, 'b', 1);
SELECT applied('line_item');
INSERT INTO line_item_in VALUES (1, 2, 'c', 2), (2, 1, 'd', 2);
SELECT applied('line_item');
SELECT * FROM line_item ORDER BY ord;
SELECT * FROM written ORDER BY v;
INSERT INTO line_item_in VALUES (1, 1, 'e', 3);
SELECT status FROM replace_flow.apply('line_item');
\echo :LAST_ERROR_SQLSTATE
SELECT * FROM line_item ORDER BY ord;
DELETE FROM line_item_in;

-- When another role runs it they would fire as that role: an error (A9).
CREATE ROLE regress_rf_owner;
GRANT USAGE ON SCHEMA test TO regress_rf_owner;
CREATE SCHEMA test_owner AUTHORIZATION regress_rf_owner;
SET ROLE regress_rf_owner;
CREATE TABLE test_owner.parent (n int PRIMARY KEY);
CREATE TABLE test_owner.item (k int, s int, n int REFERENCES test_owner.parent DEFERRABLE INITIALLY DEFERRED);
CREATE INDEX ON test_owner.item (k);
CREATE TABLE test_owner.item_in (k int, s int, n int);
SELECT replace_flow.create_using_flow('test_owner.item', 'test_owner.item_in', '{k}', 's', name => 'owned');
INSERT INTO test_owner.parent VALUES (1);
INSERT INTO test_owner.item_in VALUES (1, 1, 1);
RESET ROLE;
SELECT refused($$ SELECT replace_flow.apply('owned') $$);
SET ROLE regress_rf_owner;
SELECT status, rows_inserted FROM replace_flow.apply('owned');
RESET ROLE;
SELECT replace_flow.drop_flow('owned');
DROP SCHEMA test_owner CASCADE;
REVOKE USAGE ON SCHEMA test FROM regress_rf_owner;
DROP ROLE regress_rf_owner;
\i :finish
