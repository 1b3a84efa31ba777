# B14, B15: a run can be part of a prepared transaction.  It holds its locks until
# the transaction is settled, across a crash too, and hinders nobody who stages
# rows.

use strict;
use warnings FATAL => 'all';

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(extra => ['--encoding=UTF8']);
$node->append_conf('postgresql.conf', q{
fsync = off
max_prepared_transactions = 5
autovacuum = off
# whoever waits fails
lock_timeout = '100ms'
});
$node->start;

$node->safe_psql('postgres', q{
	CREATE EXTENSION replace_flow;
	CREATE TABLE target (k int, v text);
	CREATE INDEX ON target (k);
	CREATE TABLE stream (k int, s int, v text);
	SELECT replace_flow.create_using_flow('target', 'stream', '{k}', 's', name => 'f', settings => '{"work_mem": "1MB"}');
	SELECT replace_flow.add_expectation('f', 'known', 'k > 0', 'drop');
	CREATE TABLE other (k int PRIMARY KEY, s int, v text);
	CREATE TABLE other_stream (k int, s int, v text);
	SELECT replace_flow.create_using_flow('other', 'other_stream', '{k}', 's', name => 'g');
	INSERT INTO target VALUES (1, 'old'), (2, 'old');
});

sub crash
{
	$node->stop('immediate');
	$node->start;
	return;
}

sub query { return $node->safe_psql('postgres', shift); }

# The error of a statement that must fail.
sub fails
{
	my ($sql, $expected, $name) = @_;
	my ($status, $out, $err) = $node->psql('postgres', $sql);
	like($err, $expected, $name);
	return;
}

# Both ways the same, copies counted.
sub target_is
{
	my ($rows, $name, $target) = @_;
	$target //= 'target';
	is( query(qq{
			SELECT 'missing', * FROM (VALUES $rows EXCEPT ALL TABLE $target) m
			UNION ALL SELECT 'superfluous', * FROM (TABLE $target EXCEPT ALL VALUES $rows) s}),
		'', $name);
	return;
}

# While a run is prepared.
sub run_is_prepared
{
	my ($when) = @_;
	my $before = query(q{SELECT count(*) FROM stream});

	target_is(q{(1, 'old'), (2, 'old')}, "readers see the old rows $when");
	query(q{INSERT INTO stream VALUES (1, 2, 'newer');});
	query(qq{COPY stream FROM stdin;\n3\t1\tnew\n\\.\n});
	is(query(q{SELECT count(*) FROM stream}) - $before, 2, "nobody who stages rows waits $when");
	is(query(q{SELECT status FROM replace_flow.apply('f', wait => false)}), 'skipped', "a run that does not wait is skipped $when");
	fails(q{SELECT replace_flow.apply('f')}, qr/lock timeout/, "another run waits $when");
	fails(q{INSERT INTO target VALUES (9, 'by hand')}, qr/lock timeout/, "writers of the target wait $when");
	fails(q{SELECT replace_flow.drop_flow('f')}, qr/lock timeout/, "drop_flow waits $when");
	return;
}

foreach my $end ('COMMIT', 'ROLLBACK')
{
	query(qq{
		INSERT INTO stream VALUES (1, 1, 'new'), (0, 1, 'dropped');
		INSERT INTO other_stream VALUES (1, 1, 'new');
		BEGIN;
		INSERT INTO stream VALUES (1, 1, 'of its own');
		SELECT replace_flow.apply('f');
		SAVEPOINT a;
		SELECT replace_flow.apply('g');
		RELEASE a;
		PREPARE TRANSACTION 'run'});
	run_is_prepared("before $end");
	crash();
	run_is_prepared("after a crash, before $end");
	query("$end PREPARED 'run'");
	if ($end eq 'COMMIT')
	{
		target_is(q{(1, 'new'), (1, 'of its own'), (2, 'old')}, 'COMMIT PREPARED makes the run happen');
		target_is(q{(1, 1, 'new')}, 'and that of the other flow', 'other');
		is(query(q{SELECT count(*) FROM replace_flow.rejected}), '1', 'and its record');
	}
	else
	{
		target_is(q{(1, 'old'), (2, 'old')}, 'ROLLBACK PREPARED makes it as if it had not been');
		is(query(q{SELECT count(*) FROM replace_flow.rejected}), '0', 'and its record');
		is(query(q{SELECT rows_staged FROM replace_flow.apply('g')}), 1, 'and that of the other flow');
	}
	is(query(q{SELECT status, rows_staged FROM replace_flow.apply('f')}),
		$end eq 'COMMIT' ? 'succeeded|4' : 'succeeded|6', 'the next run takes the rest');
	target_is(q{(1, 'newer'), (1, 'newer'), (2, 'old'), (3, 'new'), (3, 'new')}, "all is there after $end");
	is(query(q{SELECT string_agg(key->>'k' || ' ' || floor, ', ' ORDER BY key->>'k') FROM replace_flow.floors('f')}),
		'1 2, 3 1', 'and so are the floors');

	# begin anew
	query(q{
		SELECT replace_flow.drop_flow('f');
		TRUNCATE target, other;
		SELECT replace_flow.create_using_flow('target', 'stream', '{k}', 's', name => 'f');
		SELECT replace_flow.add_expectation('f', 'known', 'k > 0', 'drop');
		INSERT INTO target VALUES (1, 'old'), (2, 'old')});
}

# B1: rows of a prepared transaction are taken once it is committed, late as it is.
query(q{
	BEGIN;
	INSERT INTO stream VALUES (1, 1, 'first'), (2, 3, 'first');
	PREPARE TRANSACTION 'stage';
	INSERT INTO stream VALUES (1, 2, 'second'), (2, 2, 'second')});
is(query(q{SELECT rows_staged FROM replace_flow.apply('f')}), '2', 'rows of a prepared transaction are not there');
crash();
is(query(q{SELECT rows_staged FROM replace_flow.apply('f')}), '0', 'nor are they after a crash');
query(q{COMMIT PREPARED 'stage'});
is(query(q{SELECT rows_staged, rows_late FROM replace_flow.apply('f')}), '2|1', 'until they are committed');
target_is(q{(1, 'second'), (2, 'first')}, 'the latest of each key counts');

# A flow that is defined, and one that is dropped, in a prepared transaction.
query(q{
	BEGIN;
	SELECT replace_flow.drop_flow('g');
	SELECT replace_flow.create_using_flow('other', 'other_stream', '{k}', 's', name => 'h');
	INSERT INTO other_stream VALUES (5, 5, 'h');
	SELECT replace_flow.apply('h');
	PREPARE TRANSACTION 'define';
	INSERT INTO stream VALUES (1, 3, 'meanwhile')});
is(query(q{SELECT rows_staged FROM replace_flow.apply('f')}), '1', 'other flows go on while definitions are prepared');
fails(q{SELECT replace_flow.apply('h')}, qr/flow "h" does not exist/, 'a flow that is not committed is not there');
crash();
fails(q{SELECT replace_flow.apply('g')}, qr/lock timeout/, 'a flow that may be dropped is locked');
query(q{COMMIT PREPARED 'define'});
fails(q{SELECT replace_flow.apply('g')}, qr/flow "g" does not exist/, 'then it is dropped');
query(q{INSERT INTO other_stream VALUES (5, 6, 'h again')});
is(query(q{SELECT rows_staged FROM replace_flow.apply('h')}), '1', 'and the other runs');
target_is(q{(5, 6, 'h again')}, 'and has its rows', 'other');

$node->stop;
done_testing();
