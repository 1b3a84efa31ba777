# A4, B1, B2: a crash empties an unlogged stream and nothing else: what was applied
# stays, floors too, and the flow goes on.

use strict;
use warnings FATAL => 'all';

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(extra => ['--encoding=UTF8']);
$node->append_conf('postgresql.conf', 'autovacuum = off');
$node->start;

# The sequence is in the target of one flow, and in the ledger of the other.
# Identity columns of an unlogged table begin anew after a crash, so they give no
# sequence.
my ($status, $out, $err) = $node->psql('postgres', q{
	CREATE EXTENSION replace_flow;
	CREATE UNLOGGED TABLE stream (id int GENERATED ALWAYS AS IDENTITY, k int, s int, v text);
	CREATE UNLOGGED TABLE other_stream (id int GENERATED ALWAYS AS IDENTITY, k int, s int, v text);
	CREATE TABLE target (id int, k int, s int, v text);
	CREATE INDEX ON target (k);
	CREATE TABLE other (id int, k int, v text);
	CREATE INDEX ON other (k);
	SELECT replace_flow.create_using_flow('target', 'stream', '{k}', 's', name => 'f');
	SELECT replace_flow.create_using_flow('other', 'other_stream', '{k}', 's', name => 'g');
});
is(() = $err =~ /WARNING:  the stream "(?:other_)?stream" of flow "[fg]" is unlogged/g, 2, 'unlogged streams get a warning');

sub query { return $node->safe_psql('postgres', shift); }

sub stage
{
	my ($rows) = @_;
	return query("INSERT INTO stream (k, s, v) VALUES $rows; INSERT INTO other_stream (k, s, v) VALUES $rows;");
}

sub apply
{
	return query(q{
		SELECT rows_staged, rows_late, rows_inserted + rows_updated FROM replace_flow.apply('f');
		SELECT rows_staged, rows_late, rows_inserted + rows_updated FROM replace_flow.apply('g')});
}

sub targets_are
{
	my ($rows, $name) = @_;
	is( query(qq{
			WITH expected (id, k, s, v) AS (VALUES $rows)
			SELECT 'missing', m::text FROM (TABLE expected EXCEPT ALL TABLE target) m
			UNION ALL SELECT 'superfluous', s::text FROM (TABLE target EXCEPT ALL TABLE expected) s
			UNION ALL SELECT 'missing', m::text FROM (SELECT id, k, v FROM expected EXCEPT ALL TABLE other) m
			UNION ALL SELECT 'superfluous', s::text FROM (TABLE other EXCEPT ALL SELECT id, k, v FROM expected) s}),
		'', $name);
	return;
}

stage(q{(1, 10, 'a'), (1, 10, 'b'), (2, 10, 'c')});
is(apply(), "3|0|3\n3|0|3", 'a batch is applied');
stage(q{(1, 20, 'lost')});

# a run that is under way when the server crashes
my ($run_out, $run_err) = ('', '');
my $run = IPC::Run::start(
	[ 'psql', '-XAtq', '-d', $node->connstr('postgres'),
		'-c', q{SELECT replace_flow.apply('f'), replace_flow.apply('g'), pg_sleep(600)} ],
	'<', '/dev/null', '>', \$run_out, '2>', \$run_err);
$node->poll_query_until('postgres',
	q{SELECT count(*) = 1 FROM pg_stat_activity WHERE wait_event = 'PgSleep'})
  or die "the run did not get under way: $run_err";
$node->stop('immediate');
$run->finish;
$node->start;

is(query(q{SELECT (SELECT count(*) FROM stream), (SELECT count(*) FROM other_stream)}), '0|0', 'the crash empties the streams');
targets_are(q{(1, 1, 10, 'a'), (2, 1, 10, 'b'), (3, 2, 10, 'c')}, 'and nothing else');
is(query(q{SELECT count(*), sum(rows_staged) FROM replace_flow.run}), '2|6', 'the run under way left no record');
is( query(q{SELECT (SELECT string_agg(floor, ' ') FROM replace_flow.floors('f')), (SELECT string_agg(floor, ' ') FROM replace_flow.floors('g'))}),
	'10 10|10 10', 'floors are still there');
is(apply(), "0|0|0\n0|0|0", 'a run finds nothing');

# the ids begin anew; the sequences go on
stage(q{(1, 9, 'late'), (2, 11, 'd'), (3, 1, 'e')});
is(apply(), "3|1|2\n3|1|2", 'the flows go on where they were');
targets_are(q{(1, 1, 10, 'a'), (2, 1, 10, 'b'), (2, 2, 11, 'd'), (3, 3, 1, 'e')}, 'and nothing is doubled or lost that was applied');

# as the hint of the warning says
query(q{ALTER TABLE stream SET LOGGED; ALTER TABLE other_stream SET LOGGED;});
stage(q{(1, 12, 'f')});
$node->stop('immediate');
$node->start;
is(apply(), "1|0|1\n1|0|1", 'a stream that was made logged survives a crash');
targets_are(q{(4, 1, 12, 'f'), (2, 2, 11, 'd'), (3, 3, 1, 'e')}, 'and its rows are applied');

$node->stop;
done_testing();
