# F1, F3, F4: what a prepared transaction did reaches the worker with COMMIT PREPARED,
# which nobody who did it has to live to see.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Worker;

my $node = worker_node('main', 'max_prepared_transactions = 2');

# A transaction that one session prepares and another one commits.
sub in_prepared_transaction
{
	my ($database, $sql) = @_;

	$node->safe_psql($database, "BEGIN; $sql; PREPARE TRANSACTION 'p'");
	$node->safe_psql($database, q{COMMIT PREPARED 'p'});
	return;
}

sub rows_become
{
	my ($rows, $name) = @_;

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	return becomes($node, 'postgres', 'SELECT (SELECT count(*) FROM target), (SELECT count(*) FROM stream)',
		"$rows|0", $name);
}

$node->safe_psql('postgres', q{
	CREATE EXTENSION replace_flow;
	CREATE TABLE target (k int PRIMARY KEY, s int);
	CREATE TABLE stream (LIKE target);
	INSERT INTO stream VALUES (1, 1)});
becomes($node, 'postgres', q{SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'replace_flow scheduler'},
	'1', 'there is a scheduler');
in_prepared_transaction('postgres', q{SELECT replace_flow.create_using_flow('target', 'stream', '{k}', 's', name => 'f')});
rows_become(1, 'a flow that was created is run');
in_prepared_transaction('postgres', 'INSERT INTO stream VALUES (2, 1)');
rows_become(2, 'rows that were staged are applied');
$node->safe_psql('postgres', q{SELECT replace_flow.pause_flow('f'); INSERT INTO stream VALUES (3, 1)});
in_prepared_transaction('postgres', q{SELECT replace_flow.resume_flow('f')});
rows_become(3, 'a flow that was resumed is run');

# The session that has renamed a database goes before the transaction is committed.
$node->safe_psql('postgres', 'CREATE DATABASE other');
$node->safe_psql('other', 'CREATE EXTENSION replace_flow');
in_prepared_transaction('postgres', 'ALTER DATABASE other RENAME TO another');
$node->safe_psql('another', q{
	CREATE TABLE target (k int PRIMARY KEY, s int);
	CREATE TABLE stream (LIKE target);
	SELECT replace_flow.create_using_flow('target', 'stream', '{k}', 's', name => 'f');
	INSERT INTO stream VALUES (1, 1)});
becomes($node, 'another', 'SELECT count(*) FROM target', '1', 'a database that was renamed is served');

$node->stop;
done_testing();
