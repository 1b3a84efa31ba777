\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- B1, B15: code that a run calls cannot pull the tables away from under it: what
-- would rewrite, empty or drop one of them is refused by the server, and a change
-- that it allows is seen.  The run fails whole.
--
CREATE TABLE item (k int, s int, v text);
CREATE INDEX ON item (k);
CREATE TABLE label (k int, label text);
CREATE TABLE item_in (k int, s int, v text);
SELECT replace_flow.create_using_flow('item', 'item_in', '{k}', 's', delete_when => $$ v = 'gone' $$,
    query => 'SELECT i.k, i.s, i.v FROM item_in i LEFT JOIN label USING (k)');
INSERT INTO item_in VALUES (1, 1, 'a'), (2, 1, 'b'), (3, 1, 'gone');
SELECT applied('item');
CREATE FUNCTION meddle() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE current_setting('test.statement');
    RETURN NULL;
END $$;
CREATE TRIGGER meddle AFTER DELETE ON item_in EXECUTE FUNCTION meddle();
CREATE FUNCTION try(statement text) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
    statement := replace(statement, 'floor_N', (SELECT 'floor_' || flow_id FROM replace_flow.flow WHERE name = 'item'));
    statement := replace(statement, 'flow_N', (SELECT 'flow_' || flow_id FROM replace_flow.flow WHERE name = 'item'));
    PERFORM set_config('test.statement', statement, true);
    INSERT INTO item_in VALUES (1, 2, 'A'), (3, 2, 'C');
    RETURN QUERY SELECT r FROM refused($r$ SELECT replace_flow.apply('item') $r$) AS r WHERE r !~ '^(CONTEXT|HINT)';
    RETURN NEXT format('%s stored, %s staged', (SELECT string_agg(i::text, ' ' ORDER BY k) FROM test.item i), (SELECT count(*) FROM item_in));
    ALTER TABLE item_in DISABLE TRIGGER meddle;
    DELETE FROM item_in;
    ALTER TABLE item_in ENABLE TRIGGER meddle;
END $$;
SELECT try('ALTER TABLE test.item DROP v, ADD v int8 DEFAULT 6148914691236517205');
SELECT try('ALTER TABLE test.item ALTER v TYPE varchar USING v || ''x''');
SELECT try('TRUNCATE test.item');
SELECT try('DROP TABLE test.item CASCADE');
SELECT try('ALTER TABLE replace_flow.floor_N DROP sequence, ADD sequence int8 DEFAULT 1');
SELECT try('TRUNCATE test.label');
SELECT try('ALTER TABLE test.label ADD COLUMN r float DEFAULT random()');
SELECT try('DROP TABLE test.label CASCADE');
SELECT try('ALTER TABLE test.item RENAME v TO w; ALTER TABLE test.item RENAME s TO v');
SELECT try('ALTER VIEW replace_flow.flow_N RENAME v TO w; ALTER VIEW replace_flow.flow_N RENAME s TO v');
SELECT try('ALTER VIEW replace_flow.flow_N RENAME tombstone TO v_; ALTER VIEW replace_flow.flow_N RENAME k TO tombstone');
SELECT try('SELECT replace_flow.drop_flow(''item'')');
SELECT try('SELECT 1');
\i :finish
