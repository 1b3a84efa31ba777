# F1: the commit that stages rows wakes the worker, whatever way the rows came;
# and nothing else does: a server where nothing is staged does nothing.
#
# Whatever is forgotten by the triggers, or lost between a commit and the
# scheduler, leaves its rows in the stream, and soon() fails.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep);

use Worker;

# The seconds for which nothing may happen.
my $idle = $ENV{IDLE} || 15;

my $node = worker_node('main', q{
max_prepared_transactions = 5
autovacuum = off
});

# The rows have come to the target, in order, each once.
sub applied
{
	my ($rows, $name, $target) = @_;
	$target //= 'target';
	soon("SELECT string_agg(v, ' ' ORDER BY v) FROM $target", $rows, $name);
	query("DELETE FROM $target");
	return;
}

sub runs
{
	my ($flow) = @_;
	return query("SELECT count(*) FROM replace_flow.run WHERE flow = '$flow'");
}

query(q{
	CREATE EXTENSION replace_flow;
	CREATE TABLE stream (k int, s int, v text);
	SELECT replace_flow.create_using_flow('target', 'stream', '{k}', 's', name => 'f');
	CREATE TABLE other_stream (k int, s int, v text);
	SELECT replace_flow.create_using_flow('other', 'other_stream', '{k}', 's', name => 'g');
	CREATE TABLE parted (k int, s int, v text) PARTITION BY RANGE (k);
	CREATE TABLE parted_1 PARTITION OF parted FOR VALUES FROM (0) TO (10);
	SELECT replace_flow.create_using_flow('parted_target', 'parted', '{k}', 's', name => 'p');
	CREATE TABLE by_hand_stream (k int, s int, v text);
	SELECT replace_flow.create_using_flow('by_hand', 'by_hand_stream', '{k}', 's', auto_apply => false);
});

# Ways to stage rows.
query(q{INSERT INTO stream VALUES (1, 1, 'a'), (2, 1, 'b')});
applied('a b', 'by INSERT');
query("COPY stream FROM stdin;\n1\t2\ta\n\\.\n");
applied('a', 'by COPY');
query(q{
	BEGIN;
	SAVEPOINT a;
	INSERT INTO stream VALUES (1, 3, 'a');
	RELEASE a;
	COMMIT});
applied('a', 'in a subtransaction');
query(q{
	BEGIN;
	SAVEPOINT a;
	INSERT INTO stream VALUES (1, 4, 'a');
	SAVEPOINT b;
	INSERT INTO stream VALUES (1, 4, 'b');
	ROLLBACK TO b;
	COMMIT});
applied('a', 'beside a subtransaction that was rolled back');
query(q{
	CREATE FUNCTION stage() RETURNS void LANGUAGE plpgsql AS $$
	BEGIN
		INSERT INTO stream VALUES (1, 5, 'a');
	EXCEPTION WHEN OTHERS THEN NULL;
	END $$;
	SELECT stage()});
applied('a', 'by a function');
query(q{
	CREATE PROCEDURE stage_twice() LANGUAGE plpgsql AS $$
	BEGIN
		INSERT INTO stream VALUES (1, 6, 'a');
		COMMIT;
		INSERT INTO stream VALUES (2, 6, 'b');
	END $$;
	CALL stage_twice()});
applied('a b', 'by a procedure that commits');
query(q{
	WITH staged AS (INSERT INTO stream VALUES (1, 7, 'a') RETURNING *)
	INSERT INTO other_stream SELECT k, s, 'b' FROM staged});
applied('a', 'into several streams at once');
applied('b', 'and into the other', 'other');
query(q{
	SET session_replication_role = replica;
	INSERT INTO stream VALUES (1, 8, 'a')});
applied('a', 'with session_replication_role = replica');
query(q{
	MERGE INTO stream USING (VALUES (1)) AS m (k) ON stream.k = m.k
	WHEN NOT MATCHED THEN INSERT VALUES (1, 9, 'a')});
applied('a', 'by MERGE');

# Partitions.
query(q{INSERT INTO parted VALUES (1, 1, 'a')});
applied('a', 'into a partitioned stream', 'parted_target');
query(q{INSERT INTO parted_1 VALUES (1, 2, 'b')});
applied('b', 'into a partition by its own name', 'parted_target');
query(q{
	CREATE TABLE parted_2 (k int, s int, v text);
	INSERT INTO parted_2 VALUES (11, 1, 'before');
	ALTER TABLE parted ATTACH PARTITION parted_2 FOR VALUES FROM (10) TO (20)});
applied('before', 'with a table that is attached', 'parted_target');
query(q{INSERT INTO parted_2 VALUES (12, 1, 'after')});
applied('after', 'into a partition that was attached later', 'parted_target');
query(q{
	CREATE TABLE parted_3 PARTITION OF parted FOR VALUES FROM (20) TO (30) PARTITION BY RANGE (k);
	CREATE TABLE parted_31 PARTITION OF parted_3 FOR VALUES FROM (20) TO (25)});
query(q{INSERT INTO parted_31 VALUES (21, 1, 'c')});
applied('c', 'and into one below another', 'parted_target');

# Prepared transactions; the session that commits one knows nothing of its rows.
query(q{
	BEGIN;
	INSERT INTO stream VALUES (1, 10, 'a');
	PREPARE TRANSACTION 'stage'});
my $runs = runs('f');
query(q{INSERT INTO other_stream VALUES (1, 2, 'b')});
applied('b', 'others meanwhile', 'other');
is(runs('f'), $runs, 'PREPARE TRANSACTION stages nothing');
query(q{COMMIT PREPARED 'stage'});
applied('a', 'by COMMIT PREPARED');

# What was rolled back leads to no run; the other flow shows that the worker has
# looked since.
$runs = runs('f');
query(q{
	BEGIN;
	INSERT INTO stream VALUES (1, 11, 'a');
	ROLLBACK;
	BEGIN;
	SAVEPOINT a;
	INSERT INTO stream VALUES (1, 11, 'a');
	ROLLBACK TO a;
	INSERT INTO other_stream VALUES (1, 3, 'b');
	COMMIT});
applied('b', 'others after a rollback', 'other');
is(runs('f'), $runs, 'what was rolled back leads to no run');
query(q{
	INSERT INTO by_hand_stream VALUES (1, 1, 'a');
	INSERT INTO other_stream VALUES (1, 4, 'b')});
applied('b', 'others after a flow that is run by hand', 'other');
is(query(q{SELECT backlog_rows, last_run_id, waiting_since FROM replace_flow.flows WHERE flow = 'by_hand'}),
	'1||', 'auto_apply => false: rows wait for apply()');
query(q{SELECT replace_flow.alter_flow('by_hand', auto_apply => true)});
applied('a', 'until alter_flow() lets the worker run the flow', 'by_hand');
query(q{
	SELECT replace_flow.alter_flow('by_hand', auto_apply => false);
	INSERT INTO by_hand_stream VALUES (1, 2, 'a');
	INSERT INTO other_stream VALUES (1, 5, 'b')});
applied('b', 'others once more', 'other');
is(query(q{SELECT backlog_rows FROM replace_flow.flows WHERE flow = 'by_hand'}), '1',
	'and no more when it is taken back');

# Paused flows wait, and are run as soon as they are resumed.
query(q{SELECT replace_flow.pause_flow('f')});
$runs = runs('f');
query(q{
	INSERT INTO stream VALUES (1, 12, 'a');
	INSERT INTO other_stream VALUES (1, 6, 'b')});
applied('b', 'others while a flow is paused', 'other');
is(runs('f'), $runs, 'a paused flow is not run');
is(query(q{SELECT state, backlog_rows, waiting_since < now() FROM replace_flow.flows WHERE flow = 'f'}),
	'paused|1|t', 'and one sees since when its rows wait');
query(q{SELECT replace_flow.resume_flow('f')});
applied('a', 'resume_flow() has it run at once');

# A new flow takes what its stream has already.
query(q{
	CREATE TABLE filled (k int, s int, v text);
	INSERT INTO filled VALUES (1, 1, 'a');
	SELECT replace_flow.create_using_flow('late', 'filled', '{k}', 's')});
applied('a', 'rows that were there before the flow', 'late');

# A run stages rows for another flow.
query(q{
	CREATE FUNCTION forward() RETURNS trigger LANGUAGE plpgsql AS $$
	BEGIN
		INSERT INTO public.other_stream VALUES (NEW.k, NEW.s + 100, NEW.v);
		RETURN NULL;
	END $$;
	CREATE TRIGGER forward AFTER INSERT ON target FOR EACH ROW EXECUTE FUNCTION forward();
	INSERT INTO stream VALUES (1, 13, 'a'), (2, 13, 'b')});
applied('a b', 'by a run of another flow', 'other');
applied('a b', 'which is done too');
query('DROP TRIGGER forward ON target');

# Rows of the stream that are edited or deleted: they may be what made the flow
# fail.  That they wake the worker is seen from a run that starts before the
# flow would be tried again.
foreach my $mend (
	q{UPDATE stream SET s = 14 WHERE s IS NULL},
	q{DELETE FROM stream WHERE s IS NULL},
	q{TRUNCATE stream})
{
	query(q{INSERT INTO stream VALUES (3, NULL, 'bad')});
	soon(q{SELECT next_retry_at > now() + interval '3 s' FROM replace_flow.flows WHERE flow = 'f'},
		't', 'a flow that fails waits');
	my ($failure, $retry_at) = split /\|/,
		query(q{SELECT last_run_id, next_retry_at FROM replace_flow.flows WHERE flow = 'f'});
	query($mend);
	soon(qq{SELECT status, started_at < '$retry_at' FROM replace_flow.run
		WHERE flow = 'f' AND run_id > $failure}, 'succeeded|t', $mend);
	soon(q{SELECT state, backlog_rows, waiting_since, next_retry_at, consecutive_failures
		FROM replace_flow.flows WHERE flow = 'f'}, 'active|0|||0', 'mends it');
}
applied('bad', 'with the row that was edited');

# B14: runs by hand and by the worker get in each other's way, but neither loses
# rows nor doubles them.
my $stage = "INSERT INTO stream SELECT k, 20, 'v' || n FROM generate_series(1, 20) k, nextval('n') n;\n";
my $apply = "SELECT replace_flow.apply('f');\n";
query('CREATE SEQUENCE n');
my @sessions = map { session($node, 'postgres', $_) } ($stage x 100, $stage x 100, $apply x 50);
finished($_, 'a session stages or applies') foreach @sessions;
soon(q{SELECT count(*), count(DISTINCT (k, v)) FROM target}, '4000|4000',
	'beside runs by hand: nothing is lost or doubled');
is(query(q{SELECT DISTINCT status FROM replace_flow.run r WHERE started_at >
	(SELECT max(finished_at) FROM replace_flow.run WHERE status = 'failed')}), 'succeeded',
	'and no run fails');

# Nothing is staged: nothing happens.  Not a transaction, no CPU time, and no
# process wakes up.  A timer or a process that stays would be seen.
sub processes
{
	my %seen;

	foreach my $pid (split /\n/, $node->safe_psql('template1',
		q{SELECT pid FROM pg_stat_activity WHERE backend_type LIKE 'replace_flow%'}))
	{
		my ($wakes) = slurp_file("/proc/$pid/status") =~ /^voluntary_ctxt_switches:\s+(\d+)/m;
		# what follows the name, which is in parentheses
		my @fields = split / /, slurp_file("/proc/$pid/stat") =~ s/.*\) //r;
		$seen{$pid} = "$wakes wakes, " . ($fields[11] + $fields[12]) . ' ticks';
	}
	return \%seen;
}

sub transactions
{
	return $node->safe_psql('template1', q{
		SELECT sum(xact_commit + xact_rollback) FROM pg_stat_database
		WHERE datname IS DISTINCT FROM 'template1'});
}

SKIP:
{
	skip 'there is no /proc', 3 unless -e "/proc/$$/status";
	reconfigure($node, q{replace_flow.worker_idle_timeout = '100ms'});
	becomes($node, 'template1', q{SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'replace_flow worker'},
		'0', 'a process without work ends');
	# sessions that ended may still have to report
	becomes($node, 'template1', q{SELECT count(*) FROM pg_stat_activity WHERE datname = 'postgres'
		AND backend_type = 'client backend'}, '0', 'and nobody is there');
	my ($before, $transactions) = (processes(), transactions());
	is(scalar(keys %$before), 2, 'launcher and scheduler are there');
	sleep $idle;
	is_deeply(processes(), $before, "nothing wakes up within $idle seconds");
	is(transactions(), $transactions, 'and there are no transactions');
	query(q{INSERT INTO stream VALUES (100, 1, 'awake')});
	soon(q{SELECT v FROM target WHERE k = 100}, 'awake', 'then a commit wakes the worker');
}

$node->stop;
done_testing();
