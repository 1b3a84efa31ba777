# E1, E5: after a crash a refresh knows what is there.  A crash empties unlogged tables, and
# no trigger hears of that; a transaction that it ended has changed nothing; one that
# was prepared goes on.

use strict;
use warnings FATAL => 'all';

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(extra => ['--encoding=UTF8']);
$node->append_conf('postgresql.conf', 'max_prepared_transactions = 5');
$node->start;
$node->safe_psql('postgres', q{
	CREATE EXTENSION replace_flow;
	CREATE TABLE logged (k int, v int);
	CREATE UNLOGGED TABLE unlogged (k int, v int);
	CREATE TABLE parts (k int, v int) PARTITION BY LIST (k);
	CREATE TABLE parts_1 PARTITION OF parts FOR VALUES IN (1);
	CREATE UNLOGGED TABLE parts_2 PARTITION OF parts FOR VALUES IN (2);
	CREATE TABLE sums (k int, total bigint);
	CREATE TABLE both_sums (k int, total bigint);
	CREATE TABLE parts_sums (k int, total bigint);
	CREATE UNLOGGED TABLE unlogged_sums (k int, total bigint);
	SELECT replace_flow.create_where_flow('sums', 'SELECT k, sum(v) AS total FROM logged GROUP BY k', 'true');
	SELECT replace_flow.create_where_flow('both_sums', 'SELECT k, sum(v) AS total FROM logged LEFT JOIN unlogged USING (k, v) GROUP BY k
		UNION ALL SELECT k, sum(v) FROM unlogged GROUP BY k', 'true');
	SELECT replace_flow.create_where_flow('parts_sums', 'SELECT k, sum(v) AS total FROM parts GROUP BY k', 'true');
	SELECT replace_flow.create_where_flow('unlogged_sums', 'SELECT k, sum(v) AS total FROM logged GROUP BY k', 'true');
	INSERT INTO logged VALUES (1, 1), (2, 2);
	INSERT INTO unlogged VALUES (1, 1), (3, 3);
	INSERT INTO parts VALUES (1, 1), (2, 2)});

my %queries = (
	sums => 'SELECT k, sum(v) FROM logged GROUP BY k',
	both_sums => 'SELECT k, sum(v) FROM logged LEFT JOIN unlogged USING (k, v) GROUP BY k UNION ALL SELECT k, sum(v) FROM unlogged GROUP BY k',
	parts_sums => 'SELECT k, sum(v) FROM parts GROUP BY k',
	unlogged_sums => 'SELECT k, sum(v) FROM logged GROUP BY k');

# Each target is what its query gives.
sub refreshed
{
	my ($name) = @_;
	my @wrong;

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	for my $flow (sort keys %queries)
	{
		my $query = $queries{$flow};

		$node->safe_psql('postgres', qq{SELECT replace_flow.refresh('$flow')});
		push @wrong, $flow if $node->safe_psql('postgres', qq{SELECT count(*) FROM (
			(($query) EXCEPT ALL TABLE $flow) UNION ALL (TABLE $flow EXCEPT ALL ($query))) z}) ne '0';
	}
	is("@wrong", '', $name);
	return;
}

sub crash
{
	$node->stop('immediate');
	$node->start;
	return;
}

refreshed('the first refresh');
refreshed('a second one');
crash();
is($node->safe_psql('postgres', 'SELECT (SELECT count(*) FROM unlogged), (SELECT count(*) FROM parts), (SELECT count(*) FROM unlogged_sums)'),
	'0|1|0', 'the crash has emptied unlogged tables');
is($node->safe_psql('postgres', q{SELECT technique FROM replace_flow.refresh('sums')}), 'NO_OP', 'nothing has changed in others');
refreshed('a refresh after the crash');

# who was writing when the server crashed
my $session = $node->background_psql('postgres');
$session->query_safe(q{BEGIN; INSERT INTO logged VALUES (1, 10); DELETE FROM logged WHERE k = 2; SELECT replace_flow.refresh('sums')});
$node->safe_psql('postgres', q{BEGIN; INSERT INTO logged VALUES (4, 40); PREPARE TRANSACTION 'prepared'});
crash();
$session->{run}->kill_kill;
refreshed('what was not committed is not there');
is($node->safe_psql('postgres', 'SELECT count(*) FROM logged'), '2', 'neither in the source');
$node->safe_psql('postgres', q{COMMIT PREPARED 'prepared'});
refreshed('what was prepared is seen when it is committed');
is($node->safe_psql('postgres', 'SELECT total FROM sums WHERE k = 4'), '40', 'it is there');

$node->stop;
done_testing();
