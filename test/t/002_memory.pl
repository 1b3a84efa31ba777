# B16: memory is bounded by work_mem, whatever the batch and the set.

use strict;
use warnings FATAL => 'all';

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

plan skip_all => 'needs /proc' unless -r '/proc/self/status';

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(extra => ['--encoding=UTF8']);
$node->append_conf('postgresql.conf', q{
fsync = off
autovacuum = off
shared_buffers = 32MB
max_wal_size = 4GB
work_mem = 1MB
});
$node->start;

# One key of half a million rows, then the same set with one row in a hundred
# changed; the rows alone take 60 MB.
$node->safe_psql('postgres', q{
	CREATE EXTENSION replace_flow;
	CREATE TABLE target (k int, line int, v text);
	CREATE INDEX ON target (k);
	CREATE TABLE stream (k int, line int, v text, s int);
	SELECT replace_flow.create_using_flow('target', 'stream', '{k}', 's', name => 'f');
});

# Run a batch in a session of its own; give the record and the session's peak
# of memory in MB.
sub apply_batch
{
	my ($batch) = @_;
	my $result = $node->safe_psql('postgres', qq{
		INSERT INTO stream $batch;
		CREATE TEMP TABLE record AS SELECT * FROM replace_flow.apply('f');
		SELECT rows_inserted, rows_updated + rows_inserted, rows_unchanged FROM record;
		SELECT sum((regexp_match(line, 'VmHWM:[^0-9]*([0-9]+)'))[1]::int) / 1024
		FROM regexp_split_to_table(pg_read_file('/proc/' || pg_backend_pid() || '/status'), E'\\n') line;
	});
	return split /\n/, $result;
}

my ($record, $memory) = apply_batch(
	q{SELECT 1, g, repeat('x', 80) || g, 1 FROM generate_series(1, 500000) g});
is($record, '500000|500000|0', 'a large set is inserted');
cmp_ok($memory, '<', 100, "the session needed $memory MB at its peak, 32 MB of it shared buffers");

($record, $memory) = apply_batch(
	q{SELECT 1, g, repeat('x', 80) || g || CASE WHEN g % 100 = 0 THEN 'y' ELSE '' END, 2
	  FROM generate_series(1, 500000) g});
is((split /\|/, $record)[1], '5000', 'its changed rows are written');
is((split /\|/, $record)[2], '495000', 'the others are left in place');
cmp_ok($memory, '<', 100, "the session needed $memory MB at its peak, 32 MB of it shared buffers");

$node->stop;
done_testing();
