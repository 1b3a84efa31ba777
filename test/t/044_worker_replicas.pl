# F1, F4: the worker on a standby and after its promotion, and for streams that a
# subscription fills.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Worker;

my $node = worker_node('main', 'wal_level = logical', 'replace_flow.worker_idle_timeout = 1s');

$node->safe_psql('postgres', q{
	CREATE EXTENSION replace_flow;
	CREATE TABLE target (k int PRIMARY KEY, s int);
	CREATE TABLE stream (LIKE target);
	SELECT replace_flow.create_using_flow('target', 'stream', '{k}', 's', name => 'f');
	INSERT INTO stream VALUES (1, 1);} . hold_on('target'));

# All staged rows were consumed once, and are there.
sub settles
{
	my ($server, $rows, $name) = @_;

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	return becomes($server, 'postgres', q{SELECT (SELECT count(*) FROM stream), (SELECT count(*) FROM target),
		(SELECT sum(rows_staged) FROM replace_flow.run WHERE status = 'succeeded')},
		"0|$rows|$rows", $name);
}

settles($node, 1, 'the primary works');

# A standby has no process of ours: it could not write.  The primary stops in the
# middle of a run, whose rows the standby has.
$node->backup('backup');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'backup', has_streaming => 1);
$standby->start;
$node->safe_psql('postgres', 'INSERT INTO held VALUES (1)');
$node->safe_psql('postgres', 'INSERT INTO stream VALUES (2, 1)');
becomes_held($node, 'postgres');
$node->wait_for_catchup($standby, 'replay', $node->lsn('write'));
becomes($standby, 'postgres', 'SELECT count(*) FROM stream', '1', 'the standby has the staged row');
my $processes = q{SELECT count(*) FROM pg_stat_activity WHERE backend_type LIKE 'replace\_flow%'};
is($standby->safe_psql('postgres', $processes), '0', 'and no process of ours');
is($standby->safe_psql('postgres', q{SELECT count(*) FROM replace_flow.flows}), '1', 'views work there');
$node->stop;
$standby->promote;
$standby->safe_psql('postgres', 'DELETE FROM held');
settles($standby, 2, 'after promotion the row is applied once, with no call');
$standby->safe_psql('postgres', 'INSERT INTO stream VALUES (3, 1)');
settles($standby, 3, 'and so is what comes later');
is(count_in_log($standby, qr/ERROR:|WARNING:/), 0, 'the standby never tried in vain');

# A subscription: what is there when it begins, and what comes, in the stream
# itself and in a partition.  It fires no statement triggers, and runs in replica
# mode.
$standby->stop;
$node->start;
$node->safe_psql('postgres', 'DELETE FROM held');
settles($node, 2, 'the old primary goes on from where it was');
my $publisher = PostgreSQL::Test::Cluster->new('publisher');
$publisher->init(allows_streaming => 'logical', extra => ['--encoding=UTF8']);
$publisher->append_conf('postgresql.conf', 'fsync = off');
$publisher->start;
my $parts = q{
	CREATE TABLE parts (k int, s int) PARTITION BY RANGE (k);
	CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM (0) TO (100);
	CREATE TABLE parts_2 PARTITION OF parts FOR VALUES FROM (100) TO (200);
};
$publisher->safe_psql('postgres', qq{
	CREATE TABLE stream (k int, s int);
	INSERT INTO stream SELECT g, 1 FROM generate_series(11, 20) g;
	$parts
	CREATE PUBLICATION whole FOR TABLE stream, parts WITH (publish_via_partition_root = true);
	CREATE TABLE other (k int, s int);});
$node->safe_psql('postgres', $parts . q{
	CREATE TABLE sums (k int PRIMARY KEY, s int);
	SELECT replace_flow.create_using_flow('sums', 'parts', '{k}', 's', name => 'p');
	CREATE TABLE shown (k int PRIMARY KEY, s int);
	CREATE TABLE other (LIKE shown)});
my $connection = $publisher->connstr('postgres') =~ s/'/''/gr;
$node->safe_psql('postgres', "CREATE SUBSCRIPTION s CONNECTION '$connection' PUBLICATION whole");
becomes($node, 'postgres', 'SELECT count(*) FROM target WHERE k BETWEEN 11 AND 20', '10',
	'the first copy wakes the worker');
# the copy is done, so what comes now is applied row by row
becomes($node, 'postgres', q{SELECT count(*) FROM pg_subscription_rel WHERE srsubstate <> 'r'}, '0',
	'the copy is over');
$publisher->safe_psql('postgres', 'INSERT INTO stream VALUES (21, 1)');
becomes($node, 'postgres', 'SELECT count(*) FROM target WHERE k = 21', '1', 'a row wakes the worker');
$publisher->safe_psql('postgres', 'INSERT INTO parts VALUES (1, 1), (101, 1)');
becomes($node, 'postgres', 'SELECT count(*) FROM sums', '2', 'rows of partitions do');
is($node->safe_psql('postgres', 'SELECT (SELECT count(*) FROM stream), (SELECT count(*) FROM parts)'), '0|0',
	'and are consumed');

# A where flow whose source is replicated: deleted rows matter too.
$node->safe_psql('postgres', q{SELECT replace_flow.create_where_flow('shown',
	'SELECT * FROM other', 'true', name => 'w', refresh_on_change => true)});
$publisher->safe_psql('postgres', q{ALTER TABLE other REPLICA IDENTITY FULL;
	ALTER PUBLICATION whole ADD TABLE other; INSERT INTO other VALUES (1, 1), (2, 1)});
$node->safe_psql('postgres', 'ALTER SUBSCRIPTION s REFRESH PUBLICATION');
becomes($node, 'postgres', 'SELECT count(*) FROM shown', '2', 'a replicated source is copied');
becomes($node, 'postgres', q{SELECT count(*) FROM pg_subscription_rel WHERE srsubstate <> 'r'}, '0',
	'the copy is over');
$publisher->safe_psql('postgres', 'DELETE FROM other WHERE k = 1');
becomes($node, 'postgres', 'SELECT count(*) FROM shown', '1', 'a row that is deleted from it counts');
$publisher->safe_psql('postgres', 'TRUNCATE other');
becomes($node, 'postgres', 'SELECT count(*) FROM shown', '0', 'and so does TRUNCATE');

$node->safe_psql('postgres', 'DROP SUBSCRIPTION s');
$node->stop;
$publisher->stop;
done_testing();
