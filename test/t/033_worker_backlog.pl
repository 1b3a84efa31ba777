# F1, F3, B17: the worker takes what has piled up in few runs, and what is too much
# for one run in several that never cut a key's rows; everybody has his turn,
# in all databases; and one can see what it does.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

use Worker;

my $node = worker_node('main', q{
replace_flow.max_workers = 1
log_statement = none
autovacuum = off
});
my @databases = map { "db$_" } 1 .. 3;

# A trigger on the target that waits for a lock holds a run for as long as we like.
query(q{
	CREATE EXTENSION replace_flow;
	CREATE TABLE stream (k int, s int, v int);
	SELECT replace_flow.create_using_flow('target', 'stream', '{k}', 's', name => 'f');
	CREATE INDEX ON target (k);
	CREATE TABLE other_stream (k int, s int);
	SELECT replace_flow.create_using_flow('other', 'other_stream', '{k}', 's');
	CREATE FUNCTION hold() RETURNS trigger LANGUAGE plpgsql AS $$
	BEGIN
		PERFORM pg_catalog.pg_advisory_xact_lock_shared(1);
		RETURN NULL;
	END $$;
	CREATE TRIGGER hold AFTER INSERT ON target FOR EACH STATEMENT EXECUTE FUNCTION hold()});
my $holder = $node->background_psql('postgres');
my $held = q{SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'replace_flow worker' AND wait_event = 'advisory'};

# Many commits during a run are one run.
$holder->query_safe('SELECT pg_advisory_lock(1)');
query(q{INSERT INTO stream VALUES (0, 0, 0)});
soon($held, '1', 'a run is held');
query(join ';', map { "INSERT INTO stream VALUES ($_, 1, 1)" } 1 .. 200);
is(query(q{SELECT query FROM pg_stat_activity WHERE backend_type = 'replace_flow worker'}),
	'apply of flow "f": firing triggers', 'pg_stat_activity shows flow and phase of the run');
is(query(q{SELECT flow, state, backlog_rows FROM replace_flow.flows WHERE flow = 'f'}), 'f|running|201',
	'replace_flow.flows shows that it runs');
$holder->query_safe('SELECT pg_advisory_unlock(1)');
soon(q{SELECT count(*) FROM target}, '201', 'rows that came meanwhile are applied');
cmp_ok(query(q{SELECT count(*) FROM replace_flow.run WHERE flow = 'f'}), '<=', 3, 'in one run or two');

# Many sessions that commit all the time: the number of runs does not follow that
# of commits, and nothing is lost.
my $commits = 'INSERT INTO stream SELECT k, 2, 1 FROM generate_series(1, 10) k;' . "\n";
my @stagers = map { session($node, 'postgres', $commits x 200) } 1 .. 2;
finished($_, 'a session stages rows') foreach @stagers;
soon(q{SELECT count(*) FROM target WHERE s = 2}, '4000', 'rows of 400 commits are applied');
cmp_ok(query(q{SELECT count(*) FROM replace_flow.run WHERE flow = 'f'}), '<', 400, 'in fewer runs');

# What it waits for has a name.
soon(q{SELECT wait_event_type FROM pg_stat_activity WHERE backend_type = 'replace_flow scheduler' AND datname = 'postgres'},
	'Extension', 'the scheduler waits for something of an extension');
SKIP:
{
	skip 'wait events of extensions have no names', 2
		if query(q{SELECT current_setting('server_version_num')::int}) < 170000;
	is(query(q{
			SELECT backend_type, wait_event FROM pg_stat_activity JOIN pg_wait_events w
				ON w.type = wait_event_type AND w.name = wait_event
			WHERE backend_type LIKE 'replace_flow%' AND (datname = 'postgres' OR datname IS NULL) ORDER BY 1}),
		join("\n",
			'replace_flow launcher|ReplaceFlowLauncherMain',
			'replace_flow scheduler|ReplaceFlowSchedulerMain',
			'replace_flow worker|ReplaceFlowWorkerMain'),
		'which has a name');
	is(query(q{SELECT count(*) FROM pg_wait_events WHERE name LIKE 'ReplaceFlow%'}), '3', 'that the server lists');
}

# A backlog that is too much for one run.  Each key has ten rows, which an
# observer must see together: some of the keys, but never some of a key's rows.
reconfigure($node, 'replace_flow.max_batch_rows = 1000');
query(q{
	TRUNCATE target;
	DROP TRIGGER hold ON target;
	CREATE FUNCTION observe() RETURNS text LANGUAGE plpgsql AS $$
	DECLARE
		cut bigint;
		nkeys bigint;
		seen bigint = 0;
	BEGIN
		LOOP
			-- one statement, one snapshot
			SELECT count(*) FILTER (WHERE n <> 10), count(*) INTO cut, nkeys
			FROM (SELECT count(*) AS n FROM target GROUP BY k) AS keys;
			IF cut > 0 THEN RETURN 'part of a key'; END IF;
			seen = seen + (nkeys BETWEEN 1 AND 4999)::int;
			EXIT WHEN nkeys = 5000;
		END LOOP;
		RETURN CASE WHEN seen > 0 THEN 'part of the keys' ELSE 'all at once' END;
	END $$});
$holder->query_safe('BEGIN; LOCK TABLE target IN SHARE MODE');
my $last = query(q{SELECT max(run_id) FROM replace_flow.run});
query(q{INSERT INTO stream SELECT n % 5000, 3, n FROM generate_series(1, 50000) n});
my $observer = session($node, 'postgres', 'SET statement_timeout = 60000; SELECT observe()');
# when the first run has failed or waits, a flow with little to do comes next
query(q{INSERT INTO other_stream VALUES (1, 1)});
$holder->query_safe('COMMIT');
is(finished($observer, 'an observer'), "part of the keys\n", 'sees some keys, but no part of one');
soon(q{SELECT backlog_rows FROM replace_flow.flows WHERE flow = 'f'}, '0', 'a large backlog is applied');
is(query(q{SELECT count(*), count(DISTINCT v), count(DISTINCT k) FROM target}), '50000|50000|5000', 'with all rows, each once');
is(query(qq{
		SELECT count(*) BETWEEN 45 AND 55, max(rows_staged) < 2000, min(rows_staged) > 300, sum(rows_staged)
		FROM replace_flow.run WHERE flow = 'f' AND status = 'succeeded' AND run_id > $last}),
	't|t|t|50000', 'in some fifty runs of about a thousand rows')
  or diag(query(qq{SELECT rows_staged FROM replace_flow.run WHERE flow = 'f' AND run_id > $last}));
is(query(qq{
		SELECT count(*) FROM replace_flow.run WHERE flow = 'f' AND status = 'succeeded' AND run_id > $last
		AND finished_at < (SELECT max(finished_at) FROM replace_flow.run WHERE flow = 'other')})
	  < 5 ? 'soon' : 'late', 'soon', 'a flow that has little to do need not wait for the end');

# A key that cannot be seen in the stream: one run, however large.
query(q{
	CREATE TABLE whole_stream (k int, s int);
	SELECT replace_flow.create_using_flow('whole', 'whole_stream', '{k}', 's', query => 'SELECT k + 0 AS k, s FROM whole_stream');
	INSERT INTO whole_stream SELECT n, 1 FROM generate_series(1, 3000) n});
soon(q{SELECT count(*) FROM whole}, '3000', 'a flow whose keys cannot be told');
is(query(q{SELECT count(*) FROM replace_flow.run WHERE flow = 'whole' AND rows_staged > 0}), '1', 'is run at once');

# A backlog of a flow that fails in one of its slices.
query(q{
	ALTER TABLE target ADD CONSTRAINT lacks CHECK (v <> -1);
	INSERT INTO stream SELECT n % 5000, 4, CASE WHEN n = 2500 THEN -1 ELSE n END FROM generate_series(1, 10000) n});
soon(q{SELECT state FROM replace_flow.flows WHERE flow = 'f'}, 'failing', 'a slice that fails');
query(q{ALTER TABLE target DROP CONSTRAINT lacks});
soon(q{SELECT state, backlog_rows, waiting_since FROM replace_flow.flows WHERE flow = 'f'}, 'active|0|',
	'is tried again');
is(query(q{SELECT count(*), count(DISTINCT v) FROM target WHERE s = 4}), '10000|10000', 'and nothing is missed or doubled');

# Several databases share one process, and each has its turn, although there is
# always something to do in the first, for two flows that do not starve each other
# either.
foreach my $database (@databases)
{
	$node->safe_psql('postgres', "CREATE DATABASE $database");
	$node->safe_psql($database, q{
		CREATE EXTENSION replace_flow;
		CREATE TABLE stream (k int, s int, v int);
		SELECT replace_flow.create_using_flow('target', 'stream', '{k}', 's', name => 'f');
		CREATE TABLE other_stream (k int, s int, v int);
		SELECT replace_flow.create_using_flow('other', 'other_stream', '{k}', 's');
		CREATE TABLE stop (told boolean);
		CREATE PROCEDURE stage_until_told() LANGUAGE plpgsql AS $$
		DECLARE
			n int = 0;
		BEGIN
			WHILE NOT EXISTS (SELECT FROM stop) LOOP
				n = n + 1;
				INSERT INTO stream SELECT k, n, n FROM generate_series(1, 500) k;
				INSERT INTO other_stream VALUES (1, n, n);
				COMMIT;
				-- slower than the worker
				PERFORM pg_sleep(0.02);
			END LOOP;
		END $$});
}
reconfigure($node, 'replace_flow.max_batch_rows = 10000');
my $busy = session($node, 'db1', 'CALL stage_until_told()');
becomes($node, 'db1', 'SELECT count(*) FROM target', '500', 'a database is busy');
becomes($node, 'db1', 'SELECT count(*) FROM other', '1', 'with two flows');
foreach my $database ('db2', 'db3')
{
	$node->safe_psql($database, 'INSERT INTO stream SELECT n, 1, n FROM generate_series(1, 3000) n');
	becomes($node, $database, 'SELECT count(*) FROM target', '3000', "$database has its turn");
}
ok($busy->{run}->pumpable, 'while the first is busy');
$node->safe_psql('db1', 'INSERT INTO stop VALUES (true)');
finished($busy, 'which stops when it is told to');
becomes($node, 'db1', q{SELECT DISTINCT backlog_rows FROM replace_flow.flows}, '0', 'and is done in the end');
is($node->safe_psql('db1', q{SELECT count(*), count(DISTINCT v) FROM target}), '500|1', 'and right');
cmp_ok(scalar(pids($node, 'worker')), '<=', 1, 'one process did it all');

# No workers, and then some.
reconfigure($node, 'replace_flow.max_workers = 0');
query(q{SELECT 1}) until query(q{SHOW replace_flow.max_workers}) eq '0';
query(q{INSERT INTO other_stream VALUES (2, 1)});
$node->safe_psql('db2', 'INSERT INTO stream VALUES (9999, 1, 1)');
soon(q{SELECT waiting_since IS NOT NULL FROM replace_flow.flows WHERE flow = 'other'}, 't', 'rows come in');
is(query(q{SELECT backlog_rows FROM replace_flow.flows WHERE flow = 'other'}), '1', 'max_workers = 0 stops the worker');
reconfigure($node, 'replace_flow.max_workers = 2');
soon(q{SELECT count(*) FROM other}, '2', 'and a reload starts it again');
becomes($node, 'db2', q{SELECT count(*) FROM target WHERE k = 9999}, '1', 'in each database');

$holder->quit;
is(count_in_log($node, qr/PANIC|TRAP|was terminated/), 0, 'nothing broke');
$node->stop;
done_testing();
