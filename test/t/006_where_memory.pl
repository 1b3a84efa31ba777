# B16, D9: memory of a refresh is bounded by work_mem, whatever the window.

use strict;
use warnings FATAL => 'all';

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

plan skip_all => 'needs /proc' unless -r '/proc/self/status';

# The compiler of queries takes memory of its own.
my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(extra => ['--encoding=UTF8']);
$node->append_conf('postgresql.conf', q{
fsync = off
jit = off
autovacuum = off
shared_buffers = 32MB
max_wal_size = 4GB
work_mem = 4MB
});
$node->start;

# Two million rows, which take 200 MB, then with one in a hundred changed, then
# some that are all alike.
$node->safe_psql('postgres', q{
	CREATE EXTENSION replace_flow;
	CREATE TABLE source (k int, v text);
	CREATE TABLE target (k int, v text);
	SELECT replace_flow.create_where_flow('target', 'SELECT * FROM source', 'k > 0', name => 'f', reset_allowed => true);
});

# Run a statement in a session of its own; give what it says and the session's
# peak of memory in MB.
sub measure
{
	my ($statement) = @_;
	my $result = $node->safe_psql('postgres', qq{
		$statement;
		SELECT sum((regexp_match(line, 'VmHWM:[^0-9]*([0-9]+)'))[1]::int) / 1024
		FROM regexp_split_to_table(pg_read_file('/proc/' || pg_backend_pid() || '/status'), E'\\n') line;
	});
	return split /\n/, $result;
}

sub is_bounded
{
	my ($memory) = @_;
	cmp_ok($memory, '<', 100, "the session needed $memory MB at its peak, 32 MB of it shared buffers");
}

my $written = 'rows_inserted + rows_updated, rows_deleted + rows_updated';
my $refresh = "SELECT $written, rows_unchanged FROM replace_flow.refresh('f')";
$node->safe_psql('postgres', q{INSERT INTO source SELECT g, repeat('x', 60) || g FROM generate_series(1, 2000000) g});
my ($said, $memory) = measure($refresh);
is($said, '2000000|0|0', 'a large window is filled');
is_bounded($memory);

$node->safe_psql('postgres', q{UPDATE source SET v = v || 'y' WHERE k % 100 = 0});
($said, $memory) = measure($refresh);
is($said, '20000|20000|1980000', 'its changed rows are written');
is_bounded($memory);

$node->safe_psql('postgres', q{TRUNCATE source; INSERT INTO source SELECT 1, 'same' FROM generate_series(1, 200000)});
($said, $memory) = measure("SELECT $written FROM replace_flow.preview('f')");
is($said, '200000|2000000', 'it is compared with another one');
is_bounded($memory);
($said, $memory) = measure("SELECT $written FROM replace_flow.full_refresh('f')");
is($said, '200000|2000000', 'and replaced by it');
is_bounded($memory);

$node->stop;
done_testing();
