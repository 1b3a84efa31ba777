# O30, A13: what pg_dump takes and pg_restore brings back are the same flows:
# nothing is applied twice, nothing is missed.

use strict;
use warnings FATAL => 'all';

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(extra => ['--encoding=UTF8']);
$node->append_conf('postgresql.conf', "fsync = off\nclient_min_messages = error\ntimezone = 'UTC'");
$node->start;
my $dumps = PostgreSQL::Test::Utils::tempdir;

$node->safe_psql('postgres', q{
	CREATE ROLE owner;
	CREATE ROLE second_superuser SUPERUSER LOGIN;
	CREATE DATABASE source;
});
$node->safe_psql('source', q{
	CREATE EXTENSION replace_flow;
	CREATE SCHEMA "Other ""Schema""" AUTHORIZATION owner;
	CREATE SCHEMA sales AUTHORIZATION owner;
	SET ROLE owner;
	SET search_path = sales;

	-- the target stores the sequence
	CREATE TABLE plain_in (k int, s int, v text);
	SELECT replace_flow.create_using_flow('plain', 'plain_in', '{k}', 's', on_tie => 'ignore',
		settings => '{"work_mem": "3MB"}', comment => $$it's one$$);
	INSERT INTO plain_in VALUES (1, 5, 'x'), (2, 6, 'y');

	-- with a ledger; partitioned, with dropped and renamed columns and names
	-- that need quotes; an unlogged stream
	SET search_path = "Other ""Schema""";
	CREATE TABLE "Order" (gone int, "User Id" int, v text, "v""q" text, n numeric) PARTITION BY LIST ("User Id");
	CREATE TABLE "Order 1" PARTITION OF "Order" FOR VALUES IN (1, 2, 3);
	ALTER TABLE "Order" DROP COLUMN gone;
	CREATE TABLE "Order 2" (n numeric, "v""q" text, gone int, v text, "User Id" int);
	ALTER TABLE "Order 2" DROP COLUMN gone;
	ALTER TABLE "Order" ATTACH PARTITION "Order 2" DEFAULT;
	CREATE UNLOGGED TABLE "order" (gone int, "User Id" int, "select" int, v text, "v""q" text);
	ALTER TABLE "order" DROP COLUMN gone;
	SET TimeZone = 'Asia/Tokyo';
	SELECT replace_flow.create_using_flow('"Order"', '"order"', '{User Id}', '"select"', name => 'quo"te; --é',
		query => 'SELECT *, 2.5 AS n FROM "order"');
	ALTER TABLE "Order" RENAME v TO renamed;
	ALTER TABLE "order" RENAME v TO "else";
	INSERT INTO "order" VALUES (1, 5, 'x', 'q'), (9, 6, 'y', NULL);

	-- a change feed with emptied keys, and expectations of each kind
	SET search_path = sales;
	CREATE TABLE feed_in (k text, k2 int, s timestamptz, v text, op text);
	SELECT replace_flow.create_using_flow('feed', 'feed_in', '{k,k2}', 's', delete_when => $$ op = 'd' $$);
	SELECT replace_flow.add_expectation('feed', 'first letter', $$ v ~ '^a' $$, 'warn');
	SELECT replace_flow.add_expectation('feed', 'drop', $$ v <> 'bad' $$, 'drop');
	SELECT replace_flow.add_expectation('feed', 'fail', 'length(v) < 10', 'fail');
	INSERT INTO feed_in VALUES ('a', 1, '2020-01-01', 'abc', 'i'), ('a', 2, '2020-01-01', 'abc', 'i'), ('b', NULL, '2020-01-01', 'bad', 'i');

	-- the flow's view needs a primary key, which pg_dump creates after views
	CREATE TABLE label (k int PRIMARY KEY, label text);
	CREATE TABLE joined_in (k int, s int);
	INSERT INTO label VALUES (1, 'one');
	SELECT replace_flow.create_using_flow('joined', 'joined_in', '{k}', 's',
		query => 'SELECT i.k, i.s, l.label, count(*) AS n FROM joined_in i JOIN label l ON l.k = i.k GROUP BY l.k, i.k, i.s');
	INSERT INTO joined_in VALUES (1, 1);

	-- altered since
	SELECT replace_flow.alter_flow('plain', query => 'SELECT *, length(v) AS length FROM plain_in', name => 'renamed');
	SELECT replace_flow.pause_flow('renamed');
	SELECT replace_flow.resume_flow('renamed');
	SELECT replace_flow.apply(name) FROM replace_flow.flow ORDER BY name;
	INSERT INTO feed_in VALUES ('a', 2, '2021-01-01', 'abc', 'd'), ('z', NULL, '2021-01-01', 'abc', 'd');
	SELECT replace_flow.apply('feed');
	SELECT replace_flow.pause_flow('renamed');
	-- an id that no flow has any more
	CREATE TABLE dropped_in (k int, s int);
	SELECT replace_flow.create_using_flow('dropped', 'dropped_in', '{k}', 's');
	SELECT replace_flow.drop_flow('dropped', drop_target => true);

	-- where flows: of a predicate with an alias, texts of which the session's style
	-- decides, and all kinds of types; of another flow's target
	CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
	CREATE DOMAIN positive AS numeric(6,2) NOT NULL CHECK (value > 0);
	CREATE DOMAIN small AS positive CHECK (value < 100);
	CREATE TYPE pair AS (a int, b varchar(4));
	CREATE COLLATION "no case" (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
	CREATE TABLE fact (id int PRIMARY KEY, day date, at timestamptz(0), code char(5), name varchar(10), price numeric(6,2),
		rest small, mood mood, label text COLLATE "no case", "we""ird" int4range, list varchar(3)[], pair pair, letter "char");
	SET DateStyle = 'German';
	SELECT replace_flow.create_where_flow('facts', 'SELECT f.*, count(*) AS n FROM fact AS f GROUP BY f.id', $$
		f.day >= '1.2.2020' AND at > '2.1.2020 0:30' AND code <> 'zz' AND name LIKE 'a%' AND price < 99.999 AND f.rest > 0.5
		AND mood > 'sad' AND label <> 'HIDDEN' AND facts."we""ird" @> 5 AND list[1] IS DISTINCT FROM 'x'
		AND (pair).b = 'b' AND letter = 'l' AND (n, id) > (0, 0) $$, name => 'wh"ere', reset_allowed => true);
	SET DateStyle = 'ISO';
	SELECT replace_flow.add_expectation('wh"ere', 'sane', $$ name <> 'a mess' $$, 'fail'),
		replace_flow.add_expectation('wh"ere', 'cheap', 'price < 50', 'drop');
	INSERT INTO fact SELECT g, '2020-01-31'::date + g, '2020-03-01'::timestamptz + g * interval '1 h', 'c' || g, 'a' || g, g * 10,
		g, 'ok', CASE g WHEN 4 THEN 'hidden' ELSE 'shown' END, '[1,10)', '{a,b}', (1, 'b')::pair, 'l' FROM generate_series(1, 6) g;
	SELECT replace_flow.create_where_flow('copied', 'SELECT k, v FROM plain', 'k < 10');
	SELECT replace_flow.start_update(ARRAY['wh"ere', 'copied']);
	DELETE FROM fact WHERE id = 3;
	INSERT INTO facts (id, day, rest) VALUES (0, '2019-01-01', 1);

	-- what waits
	INSERT INTO plain_in VALUES (1, 6, 'pending'), (1, 4, 'late'), (2, 6, 'tie');
	INSERT INTO feed_in VALUES ('a', 2, '2020-06-01', 'late', 'i'), ('a', 1, '2022-06-01', 'a pending', 'i'), ('n', 3, '2022-06-01', 'bad', 'i');
	INSERT INTO joined_in VALUES (1, 2);
	INSERT INTO "Other ""Schema"""."order" VALUES (1, 6, 'pending', 'q'), (9, 4, 'late', 'q');
});

# A backfill that is stopped by a row of its second slice.
my $backfill = q{CALL replace_flow.backfill('wh"ere', 'id', 1, 7, 2)};
$node->safe_psql('source', q{UPDATE sales.fact SET name = 'a mess' WHERE id = 2});
isnt($node->psql('source', $backfill), 0, 'a backfill stops');

# Everything there is to know of flows, by names.
my $definitions = q{
	SET search_path = '';
	SELECT to_jsonb(f) - 'flow_id', replace_flow.flow_owner(f) FROM replace_flow.flow f ORDER BY name;
	SELECT f.name, to_jsonb(e) - 'flow_id', f.flow_id FROM replace_flow.expectation e JOIN replace_flow.flow f USING (flow_id) ORDER BY 1, e.name;
	SELECT to_jsonb(r) FROM replace_flow.run r ORDER BY run_id;
	SELECT to_jsonb(r) FROM replace_flow.expectation_result r ORDER BY run_id, expectation;
	SELECT to_jsonb(r) FROM replace_flow.rejected r ORDER BY rejected_id;
	SELECT to_jsonb(b) FROM replace_flow.backfill b ORDER BY backfill_id;
	SELECT name, key, floor FROM replace_flow.flow, replace_flow.floors(name) WHERE kind = 'using' ORDER BY 1, 2;
};

# The triggers that wake the worker, which no dump has.
my $triggers = q{
	SELECT t.tgrelid::regclass, t.tgtype, t.tgenabled, d.refclassid::regclass FROM pg_trigger t LEFT JOIN pg_depend d
	ON d.classid = 'pg_trigger'::regclass AND d.objid = t.oid AND d.deptype = 'x'
	WHERE t.tgfoid = 'replace_flow.note_staged'::regproc ORDER BY t.tgrelid::regclass::text, 2;
};

# One more run of each flow, then the tables.
my $continue = q{
	SELECT replace_flow.resume_flow('renamed');
	CREATE TEMPORARY TABLE run AS SELECT r.* FROM replace_flow.flow, replace_flow.apply(name) r WHERE flow.kind = 'using';
	SELECT flow, rows_staged, rows_read, rows_rejected, rows_late, rows_tie_ignored, rows_tombstone,
		rows_inserted + rows_updated, rows_deleted + rows_updated FROM run ORDER BY flow COLLATE "C";
	SELECT name, key, floor FROM replace_flow.flow, replace_flow.floors(name) WHERE kind = 'using' ORDER BY name COLLATE "C", 2;
	SELECT 'plain', * FROM sales.plain ORDER BY k;
	SELECT 'feed', * FROM sales.feed ORDER BY k, k2;
	SELECT 'joined', * FROM sales.joined ORDER BY k;
	SELECT 'Order', * FROM "Other ""Schema"""."Order" ORDER BY "User Id";
	SELECT count(*) FROM sales.plain_in, sales.feed_in, sales.joined_in, "Other ""Schema"""."order";
	UPDATE sales.fact SET name = 'a2' WHERE id = 2;
	CALL replace_flow.backfill('wh"ere', 'id', 1, 7, 2);
	SELECT predicate, rows_rejected, rows_inserted, rows_updated, rows_deleted, rows_unchanged
	FROM replace_flow.run WHERE flow = 'wh"ere' AND predicate ~ '^..id >=' ORDER BY run_id;
	SELECT count(*) FROM replace_flow.progress;
	UPDATE sales.fact SET rest = rest + 1 WHERE id IN (2, 5);
	-- the first refresh of a restored flow is complete, so it reads more
	SELECT flow, rows_inserted + rows_updated, rows_deleted + rows_updated
	FROM replace_flow.start_update(ARRAY['copied', 'wh"ere']);
	SELECT count(DISTINCT predicate) FROM replace_flow.run WHERE predicate ~ 'day';
	SELECT 'facts', * FROM sales.facts ORDER BY id;
	SELECT 'copied', * FROM sales.copied ORDER BY k;
	SELECT rows_reset, rows_unchanged FROM replace_flow.full_refresh('wh"ere');
};

# What can be done with flows can be done with restored ones.
my $change = q{
	CREATE TABLE public.new_in (k int, s int);
	SELECT replace_flow.create_using_flow('public.new', 'public.new_in', '{k}', 's', name => 'new');
	SELECT replace_flow.add_expectation(name, 'added', 'true', 'drop') FROM replace_flow.flow;
	SELECT replace_flow.drop_expectation('feed', 'drop');
	SELECT replace_flow.alter_flow('feed', query => 'SELECT *, 1 AS added FROM sales.feed_in', on_tie => 'replace');
	SELECT replace_flow.alter_flow('joined', delete_when => 'n > 1');
	SELECT replace_flow.alter_flow('renamed', name => 'plain', delete_when => 'v IS NULL');
	SELECT replace_flow.alter_flow('wh"ere', query => 'SELECT g.*, 1::bigint AS n, 1 AS more FROM sales.fact g');
	SELECT replace_flow.alter_flow('wh"ere', replace_where => 'g.id > 2 AND facts.more = 1', allow_empty => false);
	SELECT definition_version, predicate, rows_read, rows_rejected FROM replace_flow.refresh('wh"ere');
	SELECT replace_flow.drop_flow('copied', drop_target => true);
	INSERT INTO sales.plain_in VALUES (1, 9, NULL);
	INSERT INTO sales.feed_in VALUES ('a', 1, '2023-01-01', 'bad', 'i');
	INSERT INTO sales.joined_in VALUES (1, 3), (1, 3);
	INSERT INTO "Other ""Schema"""."order" VALUES (9, 9, 'z', 'q');
	INSERT INTO public.new_in VALUES (1, 1);
	SELECT sum(rows_staged) FROM replace_flow.flow, replace_flow.apply(name) WHERE flow.kind = 'using';
	SELECT name, key, floor FROM replace_flow.flow, replace_flow.floors(name) WHERE kind = 'using' ORDER BY name COLLATE "C", 2;
	DROP TABLE sales.joined;
	SELECT name, definition_version FROM replace_flow.flow ORDER BY name COLLATE "C";
};

my $before = $node->safe_psql('source', $definitions);
like($before, qr/renamed.*feed/s, 'there are flows');
my $triggers_before = $node->safe_psql('source', $triggers);
like($triggers_before, qr/sales\.feed_in\|\d+\|A\|pg_extension/, 'streams have triggers');

sub dump_source
{
	my ($name, @options) = @_;
	$node->command_ok([ 'pg_dump', '--file', "$dumps/$name", @options, $node->connstr('source') ],
		"pg_dump: $name");
}

sub restore
{
	my ($database, @command) = @_;
	$node->command_ok([ @command, '--dbname', $node->connstr($database) . ' user=second_superuser' ],
		"$database: restored without an error");
}

sub run_script
{
	my ($database, $file) = @_;
	restore($database, 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-o', '/dev/null', '-f', "$dumps/$file");
}

# A database where other objects have been made already.
sub create_database
{
	my ($database) = @_;
	$node->safe_psql('postgres', "CREATE DATABASE $database TEMPLATE template0");
	$node->safe_psql($database, 'CREATE TABLE public.other_' . $_ . ' (id serial PRIMARY KEY, t text)')
	  for 1 .. 3;
}

dump_source('plain.sql');
dump_source('inserts.sql', '--column-inserts');
dump_source('custom', '--format=custom');
dump_source('directory', '--format=directory', '--jobs=2');
dump_source('schema.sql', '--schema-only');
dump_source('data.sql', '--data-only');

my %restore = (
	plain => sub { run_script($_[0], 'plain.sql') },
	inserts => sub { run_script($_[0], 'inserts.sql') },
	custom => sub { restore($_[0], 'pg_restore', '--exit-on-error', "$dumps/custom") },
	directory => sub { restore($_[0], 'pg_restore', '--exit-on-error', '--jobs=3', "$dumps/directory") },
	parallel => sub { restore($_[0], 'pg_restore', '--exit-on-error', '--jobs=2', "$dumps/custom") },
	without_triggers => sub {
		restore($_[0], 'pg_restore', '--exit-on-error', '--schema-only', "$dumps/custom");
		restore($_[0], 'pg_restore', '--exit-on-error', '--data-only', '--disable-triggers', "$dumps/custom");
	},
	one_transaction => sub { restore($_[0], 'pg_restore', '--single-transaction', "$dumps/custom") },
	two_scripts => sub { run_script($_[0], 'schema.sql'); run_script($_[0], 'data.sql') },
	three_sections => sub {
		restore($_[0], 'pg_restore', '--exit-on-error', "--section=$_", "$dumps/custom")
		  for qw(pre-data data post-data);
	},
	clean => sub {
		restore($_[0], 'pg_restore', '--exit-on-error', "$dumps/custom");
		restore($_[0], 'pg_restore', '--exit-on-error', '--clean', '--if-exists', "$dumps/custom");
	},
	no_owner => sub { restore($_[0], 'pg_restore', '--exit-on-error', '--no-owner', "$dumps/custom") },
);

for my $name (sort keys %restore)
{
	create_database($name);
	$restore{$name}->($name);
	my $restored = $node->safe_psql($name, $definitions);
	$restored =~ s/\|second_superuser$/|owner/mg if $name eq 'no_owner';
	is($restored, $before, "$name: flows, floors and history are the same");
}

# The same goes on in all of them.
my $continued = $node->safe_psql('source', $continue);
is($continued . "\n", <<'END', 'source: what waited is applied once');

feed|3|3|1|1|0|0|1|1
joined|1|1|0|0|0|0|1|1
quo"te; --é|2|2|0|1|0|0|1|1
renamed|3|3|0|0|1|0|1|1
feed|{"k": "a", "k2": 1}|2022-06-01 00:00:00+09
feed|{"k": "a", "k2": 2}|2021-01-01 00:00:00+09
feed|{"k": "z", "k2": null}|2021-01-01 00:00:00+09
joined|{"k": 1}|2
quo"te; --é|{"User Id": 1}|6
quo"te; --é|{"User Id": 9}|6
renamed|{"k": 1}|6
renamed|{"k": 2}|6
plain|1|6|pending|7
plain|2|6|y|1
feed|a|1|2022-05-31 15:00:00+00|a pending|i
joined|1|2|one|1
Order|1|pending|q|2.5
Order|9|y||2.5
0
((id >= 5) AND (id < 7))|2|0|0|0|0
((id >= 3) AND (id < 5))|0|0|1|0|0
((id >= 1) AND (id < 3))|0|0|0|0|2
0
wh"ere|1|1
copied|1|1
1
facts|0|2019-01-01|||||1.00|||||||
facts|1|2020-02-01|2020-02-29 16:00:00+00|c1   |a1|10.00|1.00|ok|shown|[1,10)|{a,b}|(1,b)|l|1
facts|2|2020-02-02|2020-02-29 17:00:00+00|c2   |a2|20.00|3.00|ok|shown|[1,10)|{a,b}|(1,b)|l|1
facts|4|2020-02-04|2020-02-29 19:00:00+00|c4   |a4|40.00|4.00|ok|hidden|[1,10)|{a,b}|(1,b)|l|1
copied|1|pending
copied|2|y
2|2
END
my $changed = $node->safe_psql('source', $change);
my $triggers_changed = $node->safe_psql('source', $triggers);
for my $name (sort keys %restore)
{
	is($node->safe_psql($name, $continue), $continued, "$name: what waited is applied once");
	is($node->safe_psql($name, $change), $changed, "$name: flows can be changed");
	is($node->safe_psql($name, $triggers), $triggers_changed, "$name: with that the triggers are there again");
	$node->safe_psql($name, 'DROP EXTENSION replace_flow');
	is($node->safe_psql($name, q{
		SELECT nspname FROM pg_namespace WHERE nspname = 'replace_flow'
		UNION ALL SELECT evtname FROM pg_event_trigger
		UNION ALL SELECT tgname FROM pg_trigger WHERE tgname ~ '^replace_flow_(staged|captured)'
		UNION ALL SELECT relname FROM pg_class WHERE relname ~ '^(flow|floor|window)_'}),
		'', "$name: the extension goes, with all that is its own");
	is($node->safe_psql($name, q{SELECT count(*) FROM sales.feed}), 1, "$name: users' tables stay");
}

# Parts of the database.
create_database('part');
dump_source('sales.sql', '--schema=sales');
dump_source('other.sql', '--schema="Other ""Schema"""');
run_script('part', $_) for qw(sales.sql other.sql);
is($node->safe_psql('part', 'SELECT count(*) FROM sales.feed'), 1, 'one schema is restored, without flows');

create_database('without');
dump_source('without.sql', '--exclude-schema=replace_flow');
run_script('without', 'without.sql');
is($node->safe_psql('without', 'SELECT count(*) FROM replace_flow.flow'), 0, 'flows can be left out');

# What holds a flow's texts was left out: it says so, changes nothing, and can be
# dropped and created again.
for my $left_out ('window_*', 'flow_*')
{
	my $database = $left_out =~ s/_\*//r . '_left_out';

	create_database($database);
	dump_source("$database.sql", "--exclude-table=replace_flow.$left_out");
	run_script($database, "$database.sql");
	my $facts = q{SELECT md5(string_agg(f::text, ' ' ORDER BY id)) FROM sales.facts f};
	my $before = $node->safe_psql($database, $facts);
	for my $run (q{refresh('wh"ere')}, q{refresh('wh"ere', 'id > 0')}, q{full_refresh('wh"ere')},
		q{start_update(ARRAY['wh"ere'])}, q{preview('wh"ere')})
	{
		my ($status, $out, $err) = $node->psql($database, "SELECT replace_flow.$run");
		like($err, qr/of flow "wh"ere" no longer exists|read by flow "wh"ere" no longer exists/, "$database: $run says what is missing")
	}
	isnt($node->psql($database, $backfill), 0, "$database: nor is it backfilled");
	is($node->safe_psql($database, $facts), $before, "$database: nothing was changed");
	$node->safe_psql($database, q{
		SELECT replace_flow.drop_flow('wh"ere');
		SELECT replace_flow.create_where_flow('sales.facts', 'SELECT * FROM sales.fact', 'id > 0', name => 'wh"ere')});
	is($node->safe_psql($database, q{SELECT status FROM replace_flow.refresh('wh"ere')}), 'succeeded',
		"$database: but anew it can");
}

# Where the rows of flows were left out, what they had does not hold up others.
create_database('schema_only');
run_script('schema_only', 'schema.sql');
is($node->safe_psql('schema_only', q{
		SELECT replace_flow.create_where_flow('sales.facts', 'SELECT * FROM sales.fact', 'id > 0');
		SELECT status FROM replace_flow.refresh('sales.facts');
		DROP EXTENSION replace_flow;
		SELECT relname FROM pg_class WHERE relname ~ '^(flow|floor|window)_'}),
	"sales.facts\nsucceeded", 'flows can be left out, and their views go with the extension');

is(slurp_file("$dumps/plain.sql") =~ /note_staged|capture_change|TABLE replace_flow\.(captured|change|seen)|COPY replace_flow\.(captured|change|seen)/,
	'', 'triggers are not in a dump, nor what they note');

# A server with the worker makes the triggers by itself, when it starts
create_database('woken');
run_script('woken', 'plain.sql');
$node->safe_psql('woken', q{
	DO $$
	DECLARE
		t record;
	BEGIN
		FOR t IN SELECT tgname, tgrelid::regclass AS table_name FROM pg_trigger WHERE tgfoid = 'replace_flow.note_staged'::regproc LOOP
			EXECUTE format('DROP TRIGGER %I ON %s', t.tgname, t.table_name);
		END LOOP;
	END $$});
is($node->safe_psql('woken', $triggers), '', 'woken: triggers are missing');
$node->append_conf('postgresql.conf', "shared_preload_libraries = 'replace_flow'\nmax_worker_processes = 20");
$node->restart;
ok($node->poll_query_until('woken', $triggers, $triggers_before), 'the worker brings back the triggers');
ok($node->poll_query_until('woken', q{SELECT count(*) FROM sales.feed_in}, 0), 'and applies what waited');

# and while it runs.
create_database('live');
run_script('live', 'plain.sql');
ok($node->poll_query_until('live', $triggers, $triggers_before), 'live: triggers come with the flows');

$node->stop;
done_testing();
