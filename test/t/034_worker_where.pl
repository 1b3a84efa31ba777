# F5: a where flow with refresh_on_change => true is refreshed after its sources
# have changed, at most once in its min_interval, and not otherwise.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

use Worker;

my $node = worker_node('main', q{
max_prepared_transactions = 5
log_statement = none
autovacuum = off
});

# The target is what the query gives.
sub refreshed
{
	my ($target, $query, $name) = @_;
	soon(qq{
			SELECT count(*) FROM (
				(SELECT * FROM $target EXCEPT ALL ($query)) UNION ALL (($query) EXCEPT ALL SELECT * FROM $target)) d},
		'0', $name);
	return;
}

sub runs
{
	my ($flow) = @_;
	return query("SELECT count(*) FROM replace_flow.run WHERE flow = '$flow'");
}

# A flow over a view over two tables, one of them partitioned, and a flow over the
# target of a using flow.
my $sums = 'SELECT g AS grp, name, sum(v) AS total FROM facts JOIN names USING (g) GROUP BY 1, 2';
my $chained = 'SELECT k, 2 * v AS v FROM target';
query(qq{
	CREATE EXTENSION replace_flow;
	CREATE TABLE fact (g int, v int) PARTITION BY RANGE (v);
	CREATE TABLE fact_1 PARTITION OF fact FOR VALUES FROM (0) TO (100);
	CREATE VIEW facts AS SELECT g, v FROM fact;
	CREATE TABLE names (g int, name text);
	INSERT INTO names SELECT g, 'group ' || g FROM generate_series(1, 10) g;
	INSERT INTO fact VALUES (1, 1), (2, 2);
	SELECT replace_flow.create_where_flow('sums', '$sums', 'grp < 100', refresh_on_change => true, min_interval => '10 ms');
	SELECT replace_flow.create_where_flow('by_hand', '$sums', 'grp < 100');
	CREATE TABLE stream (k int, s int, v int);
	SELECT replace_flow.create_using_flow('target', 'stream', '{k}', 's', name => 'f');
	SELECT replace_flow.create_where_flow('chained', '$chained', 'k > 0', refresh_on_change => true, min_interval => '10 ms');
	CREATE TABLE unrelated (k int)});
refreshed('sums', $sums, 'a new flow is refreshed');

# Changes of sources.
foreach my $change (
	'INSERT INTO fact VALUES (3, 3)',
	'INSERT INTO fact_1 VALUES (3, 4)',
	'UPDATE fact SET v = v + 1',
	'DELETE FROM fact_1 WHERE g = 3',
	q{UPDATE names SET name = 'first' WHERE g = 1},
	'TRUNCATE names',
	q{INSERT INTO names SELECT g, 'new ' || g FROM generate_series(1, 10) g},
	'CREATE TABLE fact_2 (g int, v int); INSERT INTO fact_2 VALUES (4, 100); ALTER TABLE fact ATTACH PARTITION fact_2 FOR VALUES FROM (100) TO (200)',
	'ALTER TABLE fact DETACH PARTITION fact_2',
	'ALTER TABLE fact ATTACH PARTITION fact_2 FOR VALUES FROM (100) TO (200); INSERT INTO fact_2 VALUES (4, 101)',
	'UPDATE fact_2 SET v = v + 1',
	'CREATE TABLE fact_3 PARTITION OF fact FOR VALUES FROM (200) TO (300); INSERT INTO fact_3 VALUES (5, 200)',
	'TRUNCATE fact_2',
	'SET session_replication_role = replica; INSERT INTO fact VALUES (6, 6)',
	q{BEGIN; INSERT INTO fact VALUES (7, 7); PREPARE TRANSACTION 'p'; COMMIT PREPARED 'p'},
	'CREATE TABLE more (g int, v int); CREATE OR REPLACE VIEW facts AS SELECT g, v FROM fact UNION ALL SELECT g, v FROM more; INSERT INTO more VALUES (8, 8)',
	'DELETE FROM more')
{
	my $runs = runs('sums');
	query($change);
	refreshed('sums', $sums, "after: $change");
	soon(q{SELECT waiting_since FROM replace_flow.flows WHERE flow = 'sums'}, '', 'and nothing waits');
	cmp_ok(runs('sums'), '>', $runs, 'since there was a run');
}
is(runs('by_hand'), '0', 'without refresh_on_change there is none');

# What changes nothing of the sources leads to no run; the chain is a fence.
my $runs = runs('sums');
query(q{
	INSERT INTO unrelated VALUES (1);
	BEGIN;
	INSERT INTO fact VALUES (9, 9);
	ROLLBACK;
	INSERT INTO stream VALUES (1, 1, 1)});
soon('SELECT v FROM chained WHERE k = 1', '2', 'the run of a using flow refreshes what reads its target');
is(runs('sums'), $runs, 'nothing else is refreshed');
query('UPDATE target SET v = 5');
refreshed('chained', $chained, 'and so do rows that are written by hand');
query('INSERT INTO stream VALUES (1, 2, 7), (2, 2, 7)');
refreshed('chained', $chained, 'again');
is(query('SELECT count(*) FROM chained'), '2', 'with all rows');

# min_interval: a flow is not started twice within it, however often its source
# changes, and the last change is not forgotten.
query(q{
	CREATE TABLE often (v int);
	SELECT replace_flow.create_where_flow('rarely', 'SELECT v FROM often', 'v > 0', refresh_on_change => true,
		min_interval => '2 s')});
soon(q{SELECT status FROM replace_flow.run WHERE flow = 'rarely'}, 'succeeded', 'a flow with an interval');
my $start = query('SELECT clock_timestamp()');
query("INSERT INTO often VALUES ($_)") foreach 1 .. 50;
refreshed('rarely', 'SELECT v FROM often', 'is refreshed');
is(query(qq{
		SELECT count(*) <= 1 + ceil(extract(epoch FROM clock_timestamp() - '$start') / 2)
		FROM replace_flow.run WHERE flow = 'rarely' AND started_at > '$start'}),
	't', 'not as often as its source changes');
is(query(q{
		SELECT min(distance) >= interval '1.9 s' FROM (
			SELECT started_at - lag(started_at) OVER (ORDER BY run_id) AS distance
			FROM replace_flow.run WHERE flow = 'rarely') runs}),
	't', 'but at most once in its interval');
query(q{SELECT replace_flow.alter_flow('rarely', min_interval => '1 h'); INSERT INTO often VALUES (51)});
query(q{INSERT INTO fact VALUES (1, 50)});
refreshed('sums', $sums, 'others go on');
isnt(query('SELECT count(*) FROM rarely'), '51', 'while it waits');
query(q{SELECT replace_flow.alter_flow('rarely', min_interval => '10 ms')});
refreshed('rarely', 'SELECT v FROM often', 'until its interval is made shorter');

# Paused, and resumed.
query(q{SELECT replace_flow.pause_flow('sums'); INSERT INTO fact VALUES (2, 51), (3, 51)});
query(q{INSERT INTO often VALUES (52)});
refreshed('rarely', 'SELECT v FROM often', 'others go on');
isnt(query('SELECT sum(total) FROM sums'), query('SELECT sum(v) FROM facts'), 'a paused flow is not refreshed');
query(q{SELECT replace_flow.resume_flow('sums')});
refreshed('sums', $sums, 'a resumed flow is');

# Turned off, and on.
query(q{SELECT replace_flow.alter_flow('sums', refresh_on_change => false); INSERT INTO fact VALUES (4, 52)});
query(q{INSERT INTO often VALUES (53)});
refreshed('rarely', 'SELECT v FROM often', 'others go on');
isnt(query('SELECT sum(total) FROM sums'), query('SELECT sum(v) FROM facts'), 'refresh_on_change can be turned off');
query(q{SELECT replace_flow.alter_flow('sums', refresh_on_change => true)});
refreshed('sums', $sums, 'and on, which refreshes at once');

# A failure is retried.
query(q{
	ALTER TABLE sums ADD CONSTRAINT small CHECK (total < 1000);
	INSERT INTO fact SELECT 5, 99 FROM generate_series(1, 20)});
soon(q{SELECT state, last_error ~ 'small', next_retry_at IS NOT NULL FROM replace_flow.flows WHERE flow = 'sums'},
	'failing|t|t', 'a failing refresh is recorded');
query('ALTER TABLE sums DROP CONSTRAINT small');
refreshed('sums', $sums, 'and tried again');
soon(q{SELECT state, next_retry_at FROM replace_flow.flows WHERE flow = 'sums'}, 'active|', 'and well then');

# What changed while there was no worker is refreshed when there is one.
$node->stop;
$node->append_conf('postgresql.conf', q{shared_preload_libraries = ''});
$node->start;
query('INSERT INTO fact VALUES (6, 60); INSERT INTO stream VALUES (3, 3, 3)');
is(query(q{SELECT count(*) FROM pg_stat_activity WHERE backend_type LIKE 'replace_flow%'}), '0', 'there is no worker');
$node->stop;
$node->append_conf('postgresql.conf', q{shared_preload_libraries = 'replace_flow'});
$node->start;
refreshed('sums', $sums, 'what changed without the worker is refreshed at its start');
soon('SELECT v FROM chained WHERE k = 3', '6', 'and staged rows are applied, and what reads them is refreshed');

# Many changes at the same time as refreshes: the last one is seen.
my $script = join '', map { "INSERT INTO fact VALUES ($_ % 10, $_ % 99); UPDATE names SET name = 'at ' || $_ WHERE g = $_ % 10;\n" } 1 .. 200;
my @sessions = map { session($node, 'postgres', $script) } 1 .. 3;
finished($_, 'a session changes the sources') foreach @sessions;
refreshed('sums', $sums, 'what many sessions have changed is refreshed in the end');

is(count_in_log($node, qr/PANIC|TRAP|was terminated/), 0, 'nothing broke');
$node->stop;
done_testing();
