# F4: what a flow, its tables, its owner or the whole extension goes through while
# the worker serves it: nothing is lost or doubled, processes go when there is
# nothing for them, nothing fails for ever, and what fails is mended by what its
# message says.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;
use PostgreSQL::Test::Utils;
use Test::More;
use Worker;

my $node = worker_node('main', 'replace_flow.worker_idle_timeout = 1s');

sub create_flow
{
	my ($name) = @_;

	query(qq{
		CREATE TABLE $name (k int PRIMARY KEY, s int);
		CREATE TABLE ${name}_in (LIKE $name);
		SELECT replace_flow.create_using_flow('$name', '${name}_in', '{k}', 's')});
}

my $processes = q{SELECT count(*) FROM pg_stat_activity
	WHERE backend_type IN ('replace_flow scheduler', 'replace_flow worker')};

query('CREATE EXTENSION replace_flow; CREATE TABLE loaded (k int PRIMARY KEY, s int);'
	. 'CREATE TABLE loaded_in (LIKE loaded)');
my $create_loaded = q{SELECT replace_flow.create_using_flow('loaded', 'loaded_in', '{k}', 's')};

query($create_loaded);

# A session stages rows with new keys, until it is told that it is done.
query('CREATE TABLE done (n int)');
query(q{
	CREATE SEQUENCE keys;
	CREATE PROCEDURE load() LANGUAGE plpgsql AS $$
	BEGIN
		WHILE NOT EXISTS (SELECT FROM done) LOOP
			INSERT INTO loaded_in VALUES (nextval('keys'), 1);
			COMMIT;
			PERFORM pg_sleep(0.002);
		END LOOP;
	END $$});

sub under_load
{
	my ($name, $change) = @_;

	query('DELETE FROM done');
	my $load = begin_psql($node, 'postgres', 'CALL load()');
	my $reached = 100 + query('SELECT last_value FROM keys');
	soon("SELECT last_value > $reached FROM keys", 't', "$name: there is load");
	$change->();
	$reached = 100 + query('SELECT last_value FROM keys');
	soon("SELECT last_value > $reached FROM keys", 't', 'it goes on');
	query('INSERT INTO done VALUES (1)');
	$load->finish;
	soon(q{SELECT (SELECT count(*) FROM loaded_in), (SELECT count(*) FROM loaded) - last_value FROM keys},
		'0|0', "$name: all rows are there, once");
}

under_load('nothing', sub { });

# The extension goes, and comes again.
my $offset = -s $node->logfile;
under_load('DROP EXTENSION', sub {
	query('DROP EXTENSION replace_flow CASCADE');
	soon($processes, '0', 'the processes go with the extension');
	my $reached = 100 + query('SELECT last_value FROM keys');
	soon("SELECT last_value > $reached FROM keys", 't', 'who stages rows does not mind');
	query('CREATE EXTENSION replace_flow');
	query($create_loaded);
});
is(count_in_log($node, qr/ERROR:/, $offset), 0, 'and no run that came too late is an error');

# It can go without firing an event trigger; a scheduler that was not told would
# stay.
for my $drop ('DROP OWNED BY installer CASCADE',
	'SET session_replication_role = replica; DROP EXTENSION replace_flow CASCADE')
{
	$node->safe_psql('postgres', 'CREATE DATABASE brief');
	$node->safe_psql('brief', 'CREATE ROLE installer SUPERUSER; SET ROLE installer; CREATE EXTENSION replace_flow');
	my $there = q{SELECT count(*) FROM pg_stat_activity WHERE datname = 'brief'
		AND backend_type = 'replace_flow scheduler'};
	soon($there, '1', 'another database has the extension');
	$node->safe_psql('brief', $drop);
	soon($there, '0', "its scheduler goes: $drop");
	query('DROP DATABASE brief');
	query('DROP ROLE installer');
}

# The extension is updated, by a script that this test puts there and takes away.
# It may be installed by another user.
my $folder = (split /\n/, $node->config_data('--sharedir'))[-1] . '/extension';
my $script = "$folder/replace_flow--0.1.0--0.1.0.life.sql";
SKIP:
{
	skip 'cannot write to the folder of extensions', 4 unless -w $folder;
	append_to_file($script, q{CREATE VIEW replace_flow.more AS SELECT 1 AS one;
		COMMENT ON VIEW replace_flow.more IS 'a test';});
	under_load('ALTER EXTENSION UPDATE', sub {
		query(q{ALTER EXTENSION replace_flow UPDATE TO '0.1.0.life'});
	});
}
unlink $script;

# Flows and tables go in the middle of a run: it is waited for, or it comes to
# nothing.  A task that the scheduler did not forget would fail for ever.
my %ends = (
	'drop_flow' => q{SELECT replace_flow.drop_flow('gone')},
	'DROP TABLE target' => 'DROP TABLE gone',
	'DROP TABLE stream' => 'DROP TABLE gone_in CASCADE');

$offset = -s $node->logfile;
for my $end (sort keys %ends)
{
	create_flow('gone');
	query(hold_on('gone'));
	query('INSERT INTO held VALUES (1)');
	query('INSERT INTO gone_in VALUES (1, 1)');
	becomes_held($node, 'postgres');
	my $session = begin_psql($node, 'postgres', $ends{$end});
	soon(q{SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'}, '1',
		"$end waits for the run");
	query('DELETE FROM held');
	$session->finish;
	soon(q{SELECT count(*) FROM replace_flow.flow WHERE name = 'gone'}, '0', "$end: the flow has gone");
	is($end eq 'DROP TABLE target' ? 1 : query('SELECT count(*) FROM gone'), '1', 'after the run');
	query('DROP TABLE IF EXISTS gone, gone_in; DROP FUNCTION hold(); DROP TABLE held');
}
is(count_in_log($node, qr/ERROR:/, $offset), 0, 'none of this is an error');

# The owner's rights, and the owner.  What was revoked is missed, and what is
# granted helps at once: "soon" is less than the longest backoff.
query(q{
	CREATE ROLE keeper;
	CREATE ROLE successor;
	GRANT CREATE ON SCHEMA public TO keeper, successor;
	GRANT USAGE ON SCHEMA replace_flow TO keeper, successor;
	CREATE TABLE side (k int PRIMARY KEY);
	INSERT INTO side SELECT generate_series(1, 100);
	GRANT SELECT ON side TO keeper;
	GRANT keeper TO CURRENT_USER;
	SET ROLE keeper;
	CREATE TABLE kept (k int PRIMARY KEY, s int);
	CREATE TABLE kept_in (LIKE kept);
	SELECT replace_flow.create_using_flow('kept', 'kept_in', '{k}', 's',
		query => 'SELECT i.k, i.s FROM public.kept_in i JOIN public.side USING (k)');
	INSERT INTO kept_in VALUES (1, 1)});
soon('SELECT count(*) FROM kept', '1', 'a role has a flow');
my $failing = q{SELECT state, consecutive_failures > 0 FROM replace_flow.flows WHERE flow = 'kept'};
query('REVOKE SELECT ON side FROM keeper; INSERT INTO kept_in VALUES (2, 1)');
soon($failing, 'unusable|t', 'without its right the flow fails');
soon(q{SELECT consecutive_failures >= 3 FROM replace_flow.flows WHERE flow = 'kept'}, 't', 'and again');
like(query(q{SELECT last_error FROM replace_flow.flows WHERE flow = 'kept'}), qr/permission denied/,
	'and says why');
query('GRANT SELECT ON side TO keeper');
soon('SELECT count(*) FROM kept', '2', 'with its right it goes on');
soon($failing, 'active|f', 'and fails no more');

query('REASSIGN OWNED BY keeper TO successor; INSERT INTO kept_in VALUES (3, 1)');
soon($failing, 'unusable|t', 'another owner has not the right');
query('GRANT SELECT ON side TO successor');
soon('SELECT count(*) FROM kept', '3', 'until it is granted');
soon($failing, 'active|f', 'and fails no more');
query('DROP OWNED BY keeper; DROP ROLE keeper; INSERT INTO kept_in VALUES (4, 1)');
soon('SELECT count(*) FROM kept', '4', 'who was the owner may go');
$offset = -s $node->logfile;
query('INSERT INTO kept_in VALUES (5, 1); DROP OWNED BY successor; DROP ROLE successor');
soon(q{SELECT count(*) FROM replace_flow.flow WHERE name = 'kept'}, '0', 'a flow goes with its owner');
query('INSERT INTO loaded_in VALUES (0, 1)');
soon('SELECT count(*) FROM loaded WHERE k = 0', '1', 'and others go on');
cmp_ok(count_in_log($node, qr/ERROR:/, $offset), '<=', 1, 'without it nothing fails any more');

# Many flows come and go: no process and no memory of the scheduler stays.
sub memory_of_scheduler
{
	my $pid = pid($node, 'scheduler');
	my ($pages) = slurp_file("/proc/$pid/statm") =~ /^\d+ (\d+) (\d+)/;

	return $pages * 4;
}

sub many_flows
{
	my ($count) = @_;

	query(join('', map { qq{
		SELECT replace_flow.create_using_flow('many', 'many_in', '{k}', 's');
		INSERT INTO many_in VALUES ($_, 1);
		SELECT replace_flow.drop_flow('many');} } 1 .. $count));
}

query('CREATE TABLE many (k int PRIMARY KEY, s int); CREATE TABLE many_in (LIKE many)');
my $scheduler = pid($node, 'scheduler');
many_flows(50);
my $memory = memory_of_scheduler();
many_flows(200);
cmp_ok(memory_of_scheduler() - $memory, '<', 1024, 'the memory of the scheduler is flat');
is(pid($node, 'scheduler'), $scheduler, 'and it is the same process');
soon(q{SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'replace_flow worker'}, '0',
	'idle processes go');
is(query('SELECT count(*) FROM replace_flow.worker_flow_state()'), '0', 'no state of a flow stays');
is(count_in_log($node, qr/WARNING:|PANIC|TRAP|could not start/), 0, 'the log has no warnings');

$node->stop;
done_testing();
