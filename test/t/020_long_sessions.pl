# B15, B16: a session may run flows as often as it likes.  Neither runs that
# succeed nor runs that fail or are undone leave anything in it or behind it but
# their record.

use strict;
use warnings FATAL => 'all';

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use FindBin;
use lib $FindBin::RealBin;
use Footprint;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(extra => ['--encoding=UTF8']);
$node->append_conf('postgresql.conf', q{
fsync = off
jit = off
autovacuum = off
});
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION replace_flow');
create_footprint($node);

# A flow with all that a run can have: a ledger, tombstones, expectations that
# warn, drop and fail, a partitioned target, batches that go to disk.
$node->safe_psql('postgres', q{
	CREATE TABLE target (k int, v text) PARTITION BY LIST (v);
	CREATE TABLE target_a PARTITION OF target FOR VALUES IN ('a');
	CREATE TABLE target_other PARTITION OF target DEFAULT;
	CREATE INDEX ON target (k);
	CREATE TABLE stream (k int, v text, s bigint, op text);
	SELECT replace_flow.create_using_flow('target', 'stream', '{k}', 's', name => 'f',
		delete_when => $$ op = 'delete' $$, settings => '{"work_mem": "64kB"}');
	SELECT replace_flow.add_expectation('f', 'known', 'k > 0', 'drop'),
		replace_flow.add_expectation('f', 'short', 'length(v) < 3', 'warn'),
		replace_flow.add_expectation('f', 'sound', $$ v <> 'bad' $$, 'fail');
	CREATE TABLE other (k int PRIMARY KEY, v text, s bigint);
	CREATE TABLE other_stream (k int, v text, s bigint);
	SELECT replace_flow.create_using_flow('other', 'other_stream', '{k}', 's', name => 'g');
	CREATE SEQUENCE counter;

	CREATE PROCEDURE stage(v text DEFAULT 'a', rows int DEFAULT 10) LANGUAGE sql AS $$
		INSERT INTO stream SELECT n % 5, CASE WHEN n = 1 THEN v ELSE 'a' END, nextval('counter'),
			CASE WHEN n = 4 THEN 'delete' END FROM generate_series(0, rows - 1) n;
		INSERT INTO other_stream SELECT 1, 'x', nextval('counter');
	$$;
});

# One of the ways to run a flow; all of them in turn.
my @ways = (
	q{CALL stage(); SELECT replace_flow.apply('f'), replace_flow.apply('g');},
	q{CALL stage(); SELECT replace_flow.apply('f', wait => false);},
	q{SELECT replace_flow.apply('f');},
	# a run that fails, in its middle and at its end
	q{BEGIN; CALL stage('bad'); SELECT replace_flow.apply('f'); ROLLBACK;},
	q{BEGIN; INSERT INTO other_stream SELECT 2, 'x', 1e15 FROM generate_series(1, 2); SELECT replace_flow.apply('g'); ROLLBACK;},
	# runs that are undone
	q{BEGIN; CALL stage(); SELECT replace_flow.apply('f'); SELECT replace_flow.apply('g'); ROLLBACK;},
	q{BEGIN; CALL stage(); SAVEPOINT a; SELECT replace_flow.apply('f'); ROLLBACK TO a; SELECT replace_flow.apply('f'); COMMIT;},
	q{DO $$ BEGIN CALL stage('bad'); PERFORM replace_flow.apply('f'); EXCEPTION WHEN check_violation THEN NULL; END $$;},
	# runs that are refused
	q{BEGIN READ ONLY; SELECT replace_flow.apply('f'); ROLLBACK;},
	q{SELECT replace_flow.apply('none');},
);

# Batches that do not fit into memory, one of which fails.
my @large = (
	q{CALL stage(rows => 5000); SELECT replace_flow.apply('f'), replace_flow.apply('g');},
	q{BEGIN; CALL stage('bad', rows => 5000); SELECT replace_flow.apply('f'); ROLLBACK;},
);

# Go so many rounds through all of that.
sub rounds
{
	my ($number) = @_;
	return join("\n", (@ways) x $number, (@large) x ($number / 50), '');
}

my $errors = run_script($node, rounds(100) . "CALL measure('before');\n" . rounds(1000) . "CALL measure('after');\n");
is_deeply(
	$errors,
	{   'rows of flow "f" violate expectation "sound"' => 1100 + 22,
		'duplicate key value violates unique constraint "other_pkey"' => 1100,
		'cannot execute replace_flow.apply() in a read-only transaction' => 1100,
		'flow "none" does not exist' => 1100 },
	'a session runs flows in 10,000 ways, of which 4,000 fail');
is_constant($node, 'runs of one session', $tolerance);

# Many runs in one transaction, in one statement, and in a block that ends
# transactions.  The first footprint of a transaction adds to what it holds.  The
# server itself keeps something for each row that a transaction writes twice.
my $kept = 500 * 800;

is_deeply(
	run_script($node,
		"BEGIN;\n" . join("\n", (@ways[0 .. 2]) x 50) . "CALL measure('first'); CALL measure('before');\n"
		  . join("\n", (@ways[0 .. 2]) x 200) . "CALL measure('after'); COMMIT;\n"),
	{}, 'a transaction runs flows 1,000 times');
is_constant($node, 'runs of one transaction', $kept);

foreach my $end ('', 'COMMIT', 'ROLLBACK')
{
	my $keep = $end ? 'COMMIT;' : '';
	my $what = $end ? "a block with $end" : 'one statement';
	is_deeply(run_script($node, qq{DO \$\$ BEGIN
		FOR i IN 1 .. 250 LOOP
			CALL stage();
			PERFORM replace_flow.apply('f'), replace_flow.apply('g');
			BEGIN
				CALL stage('bad');
				PERFORM replace_flow.apply('f');
			EXCEPTION WHEN check_violation THEN
				NULL;
			END;
			IF i IN (49, 50, 250) THEN
				CALL measure('round ' || i);
				$keep
			END IF;
			@{[$end && "$end;"]}
		END LOOP;
	END \$\$;}) , {}, "$what runs flows 750 times");
	is_constant($node, "runs of $what", $end ? $tolerance : $kept);
}

# A pooler hands one session to many clients, and cleans it up in between.
my $client = q{
	PREPARE run AS SELECT status FROM replace_flow.apply('f');
	SET work_mem = '100kB'; SET TimeZone = 'Asia/Tokyo';
	DECLARE runs CURSOR WITH HOLD FOR SELECT * FROM replace_flow.apply('g');
	CALL stage();
	EXECUTE run;
	EXECUTE run;
	DISCARD ALL;
};
is_deeply(run_script($node, "DISCARD ALL;\n" . $client x 20 . "CALL measure('before');\n" . $client x 100 . "CALL measure('after');\n"),
	{}, 'a pooled session runs flows');
is_constant($node, 'runs of a pooled session', $tolerance);

# And after all of that, no run was lost or doubled.
is( $node->safe_psql('postgres', q{
		SELECT replace_flow.apply('f'), replace_flow.apply('g');
		SELECT count(*) FROM replace_flow.run WHERE rows_read <> rows_rejected + rows_superseded + rows_late
			+ rows_tie_ignored + rows_tombstone + rows_inserted + rows_updated + rows_unchanged;
		SELECT sum(rows_inserted - rows_deleted) - (SELECT count(*) FROM target) FROM replace_flow.run WHERE flow = 'f';
		SELECT sum(rows_inserted - rows_deleted) - (SELECT count(*) FROM other) FROM replace_flow.run WHERE flow = 'g';
	}) =~ s/^\(.*\n//r,
	"0\n0\n0", 'the records of all runs add up');

$node->stop;
done_testing();
