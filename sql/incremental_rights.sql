\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
\set compare :source /sql/include/compare.sql
\i :compare
--
-- E5, A9: whose changes of a table are captured.  Who may make triggers on a table may
-- see what happens to it; others' flows know nothing of it, also where it is captured
-- for somebody else.
--
CREATE ROLE replace_flow_reader;
GRANT ALL ON SCHEMA test TO replace_flow_reader;
CREATE TABLE source (k int, v int);
INSERT INTO source SELECT i, i FROM generate_series(1, 100) AS i;
GRANT SELECT, TRIGGER ON source TO replace_flow_reader;
SET ROLE replace_flow_reader;
CREATE TABLE target (k int, v int);
SELECT replace_flow.create_where_flow('target', 'SELECT k, v FROM source', 'k > 0', name => 'flow');
SELECT ran('flow', 'TABLE target', 'TABLE source');
RESET ROLE;

-- The right goes; the triggers stay for a while.
REVOKE TRIGGER ON source FROM replace_flow_reader;
SELECT ran('flow', 'TABLE target', 'TABLE source');
SELECT ran('flow', 'TABLE target', 'TABLE source');
INSERT INTO source VALUES (101, 1);
SELECT ran('flow', 'TABLE target', 'TABLE source');

-- It comes back: what came before that is not known.
GRANT TRIGGER ON source TO replace_flow_reader;
UPDATE source SET v = 0 WHERE k = 5;
SELECT ran('flow', 'TABLE target', 'TABLE source');
UPDATE source SET v = 0 WHERE k = 6;
SELECT ran('flow', 'TABLE target', 'TABLE source');

-- The same of a right that comes with another role, of which the table knows nothing.
CREATE ROLE replace_flow_watchers;
GRANT TRIGGER ON source TO replace_flow_watchers;
REVOKE TRIGGER ON source FROM replace_flow_reader;
GRANT replace_flow_watchers TO replace_flow_reader;
SELECT ran('flow', 'TABLE target', 'TABLE source');
SELECT ran('flow', 'TABLE target', 'TABLE source');
REVOKE replace_flow_watchers FROM replace_flow_reader;
UPDATE source SET v = 0 WHERE k = 7;
SELECT ran('flow', 'TABLE target', 'TABLE source');
GRANT replace_flow_watchers TO replace_flow_reader;
UPDATE source SET v = 0 WHERE k = 8;
SELECT ran('flow', 'TABLE target', 'TABLE source');

-- A view hides rows.  They are captured for its owner's flow, and not for the reader's,
-- whose functions would be given them.
CREATE TABLE accounts (name text, open boolean);
INSERT INTO accounts VALUES ('a', true), ('secret', false);
CREATE VIEW open_accounts WITH (security_barrier) AS SELECT name FROM accounts WHERE open;
GRANT SELECT ON open_accounts TO replace_flow_reader;
CREATE TABLE accounts_target (name text);
SELECT replace_flow.create_where_flow('accounts_target', 'SELECT name FROM accounts', 'true', name => 'accounts');
SELECT ran('accounts', 'TABLE accounts_target', 'SELECT name FROM accounts');
SET ROLE replace_flow_reader;
CREATE FUNCTION look(name text) RETURNS text IMMUTABLE LANGUAGE plpgsql AS
$$BEGIN RAISE WARNING 'seen: %', name; RETURN name; END$$;
CREATE TABLE reader_target (name text);
SELECT replace_flow.create_where_flow('reader_target', 'SELECT look(name) AS name FROM open_accounts', 'true', name => 'accounts of reader');
SELECT ran('accounts of reader', 'TABLE reader_target', 'SELECT name FROM open_accounts');
RESET ROLE;
UPDATE accounts SET name = name || '!';
SET ROLE replace_flow_reader;
SELECT ran('accounts of reader', 'TABLE reader_target', 'SELECT name FROM open_accounts');
RESET ROLE;
SELECT ran('accounts', 'TABLE accounts_target', 'SELECT name FROM accounts');

\i :finish
DROP OWNED BY replace_flow_reader, replace_flow_watchers;
DROP ROLE replace_flow_reader, replace_flow_watchers;
