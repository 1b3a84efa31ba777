\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- A7: keys are equal under the target column's collation; case-insensitive ones fold.
--
SELECT getdatabaseencoding() <> 'UTF8' OR
    NOT EXISTS (SELECT FROM pg_collation WHERE collname = 'und-x-icu') AS skip \gset
\if :skip
\i :finish
\quit
\endif
CREATE COLLATION folding (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TABLE person (name text COLLATE folding, s int, v text);
CREATE INDEX ON person (name);
CREATE TABLE person_in (name text, s int, v text);
CREATE TABLE sent (batch int, LIKE person_in);
INSERT INTO sent VALUES
    (1, 'ann', 1, 'a'), (1, 'BOB', 1, 'b'), (2, 'ANN', 2, 'A'), (2, 'Ann', 2, 'A2'), (3, 'aNN', 1, 'late'), (3, 'änn', 1, 'other');
CALL arrange($$ SELECT replace_flow.create_using_flow('person', 'person_in', '{name}', 's') $$, 'person', 'person_in');
SELECT * FROM outcome;
-- With the ledger, and without an index.
CREATE TABLE person_now (name text COLLATE folding, v text);
SET client_min_messages = error;
CALL arrange($$ SELECT replace_flow.create_using_flow('person_now', 'person_in', '{name}', 's') $$, 'person_now', 'person_in');
SET client_min_messages = warning;
SELECT * FROM outcome;

-- An index under another collation does not serve the key.
DROP INDEX person_name_idx;
CREATE INDEX ON person (name COLLATE "C");
SELECT replace_flow.create_using_flow('person', 'person_in', '{name}', 's');
INSERT INTO person_in VALUES ('ANN', 3, 'new');
SELECT applied('person');
SELECT * FROM person ORDER BY v COLLATE "C";

-- Another spelling is another row, though of the same key (B10).
INSERT INTO person_in VALUES ('ann', 4, 'new');
SELECT applied('person');
SELECT replace_flow.drop_flow('person');

-- What the stream and the query say of collations does not count.
CREATE TABLE plain (name text COLLATE "C", s int);
CREATE INDEX ON plain (name);
CREATE TABLE folded_in (name text COLLATE folding, s int);
SELECT replace_flow.create_using_flow('plain', 'folded_in', '{name}', 's');
INSERT INTO folded_in VALUES ('x', 1), ('X', 2);
SELECT applied('plain');
SELECT * FROM plain ORDER BY s;

-- The sequence is ordered by the collation of the target's column, or else by
-- that of the expression.
CREATE COLLATION numbers (provider = icu, locale = 'und-u-kn-true');
CREATE TABLE version (k int, s text COLLATE numbers);
CREATE INDEX ON version (k);
CREATE TABLE version_in (k int, s text COLLATE "C");
CREATE TABLE sent_versions (batch int, k int, s text);
INSERT INTO sent_versions VALUES (1, 1, 'v9'), (2, 1, 'v10'), (3, 2, 'v10'), (3, 2, 'v9');
CALL arrange($$ SELECT replace_flow.create_using_flow('version', 'version_in', '{k}', 's') $$,
             'version', 'version_in', 'sent_versions');
SELECT * FROM outcome;
CREATE TABLE version_now (k int, v text);
CREATE INDEX ON version_now (k);
CALL arrange($$ SELECT replace_flow.create_using_flow('version_now', 'version_in', '{k}', 's COLLATE test.numbers',
                    query => 'SELECT k, s, s AS v FROM version_in') $$, 'version_now', 'version_in', 'sent_versions');
SELECT * FROM outcome;
\i :finish
