# B18: a stream under steady load does not grow: the room of what runs have
# consumed is used again, without autovacuum, while others go on staging.

use strict;
use warnings FATAL => 'all';

use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $rounds = $ENV{ROUNDS} || 60;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(extra => ['--encoding=UTF8']);
$node->append_conf('postgresql.conf', "fsync = off\nautovacuum = off\nmax_wal_size = 4GB");
$node->start;

$node->safe_psql('postgres', q{
	CREATE EXTENSION replace_flow;
	CREATE TABLE target (k int, s int, v text);
	CREATE INDEX ON target (k);
	CREATE TABLE stream (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, k int, s int, v text) PARTITION BY RANGE (id);
	CREATE TABLE stream_1 PARTITION OF stream FOR VALUES FROM (1) TO (1000000000);
	SELECT replace_flow.create_using_flow('target', 'stream', '{k}', 's', name => 'f',
		query => 'SELECT k, s, v FROM stream');
});

# A batch of 20,000 rows, staged while a run goes on.
sub round
{
	my ($number) = @_;
	my ($out, $err) = ('', '');
	my $stager = IPC::Run::start(
		[ 'psql', '-XAtq', '-d', $node->connstr('postgres'), '-c',
			"INSERT INTO stream (k, s, v) SELECT g % 2000, $number, 'payload ' || g FROM generate_series(1, 20000) g" ],
		'<', '/dev/null', '>', \$out, '2>', \$err);
	$node->safe_psql('postgres', q{SELECT replace_flow.apply('f')});
	$stager->finish or die $err;
}

sub size
{
	return $node->safe_psql('postgres', q{SELECT pg_total_relation_size('stream_1')});
}

round($_) for 1 .. 20;
my $early = size();
round($_) for 21 .. $rounds;
my $late = size();
cmp_ok($late, '<=', 2 * $early, "after $rounds batches the stream has $late bytes, after 20 it had $early");
is($node->safe_psql('postgres', q{
	DO $$ BEGIN PERFORM replace_flow.apply('f'); END $$;
	SELECT (SELECT sum(rows_staged) FROM replace_flow.run), (SELECT count(*) FROM stream), (SELECT count(DISTINCT s) FROM target)}),
	20000 * $rounds . '|0|1', 'and every row was consumed once');

# A transaction that still sees the rows keeps their room.  Runs go on all the same.
my $in = "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM stream;\n";
my $out = '';
my $holder = IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr('postgres') ], '<', \$in, '>', \$out);
$holder->pump until $out =~ /0/;
round($_) for $rounds + 1 .. $rounds + 5;
$in .= "SELECT count(*) FROM stream; COMMIT;\n\\q\n";
$holder->finish;
is($out, "0\n0\n", 'a transaction with an old snapshot is not disturbed');

$node->stop;
done_testing();
