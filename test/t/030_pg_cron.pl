# F2: flows are run by pg_cron, with nothing of replace_flow preloaded.  B14: schedules
# of one flow that overlap do not wait for each other, the later run is skipped.

use strict;
use warnings FATAL => 'all';

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(extra => ['--encoding=UTF8']);
$node->append_conf('postgresql.conf', 'fsync = off');
$node->start;

# test/check installs it for Debian's servers; others may lack it
my $version = $node->safe_psql('postgres',
	q{SELECT default_version FROM pg_available_extensions WHERE name = 'pg_cron'});
plan skip_all => 'this server has no pg_cron' if $version eq '';

$node->append_conf('postgresql.conf', "shared_preload_libraries = 'pg_cron'\ncron.host = '" . $node->host . q{'});
$node->restart;

# How often: the least that pg_cron knows; 1.4 knows minutes only.
my $schedule = $version =~ /^1\.[0-4]\b/ ? '* * * * *' : '2 seconds';

$node->safe_psql('postgres', q{
	CREATE EXTENSION pg_cron;
	CREATE EXTENSION replace_flow;
	CREATE ROLE watcher LOGIN;
	CREATE ROLE keeper LOGIN;
	GRANT USAGE ON SCHEMA cron TO watcher, keeper;
	GRANT CREATE ON SCHEMA public TO watcher, keeper;

	-- a flow whose runs a lock can hold up
	SET ROLE watcher;
	CREATE TABLE source AS SELECT 1 AS k;
	SELECT replace_flow.create_where_flow('held', 'SELECT k FROM source', 'k > 0');
	CREATE FUNCTION hold_up() RETURNS trigger LANGUAGE plpgsql AS
		$$ BEGIN PERFORM pg_advisory_xact_lock(1); RETURN NULL; END $$;
	CREATE TRIGGER hold_up BEFORE INSERT ON held EXECUTE FUNCTION hold_up();

	-- flows that build on each other, the later one created first
	SET ROLE keeper;
	CREATE TABLE day (day date, amount int);
	CREATE TABLE sale (id int, day date, amount int);
	CREATE TABLE sale_in (id int, day date, amount int, seq int);
	SELECT replace_flow.create_where_flow('day', 'SELECT day, sum(amount)::int AS amount FROM sale GROUP BY 1', 'day > ''2000-01-01''');
	SELECT replace_flow.create_using_flow('sale', 'sale_in', '{id}', 'seq');
	INSERT INTO sale_in VALUES (1, '2026-11-01', 3, 1), (2, '2026-11-01', 4, 1);
});

my $holder = $node->background_psql('postgres');
$holder->query_safe('SELECT pg_advisory_lock(1)');

# Two schedules of one flow, and one of all flows of another role.
$node->safe_psql('postgres', qq{
	SET ROLE watcher;
	SELECT cron.schedule('one', '$schedule', \$\$ SELECT replace_flow.refresh('held', wait => false) \$\$);
	SELECT cron.schedule('other', '$schedule', \$\$ SELECT replace_flow.refresh('held', wait => false) \$\$);
	SET ROLE keeper;
	SELECT cron.schedule('update', '$schedule', \$\$ SELECT flow, status FROM replace_flow.start_update() \$\$);
});

ok($node->poll_query_until('postgres', q{SELECT count(*) > 0 FROM replace_flow.run WHERE flow = 'held'}),
	"pg_cron $version runs a flow that is scheduled as '$schedule'");
is($node->safe_psql('postgres', q{
	SELECT DISTINCT status, split_part(reasons[1], ':', 1) FROM replace_flow.run WHERE flow = 'held'}),
	'skipped|LOCKED', 'while another run is held up, the run of the other schedule is skipped');
ok($node->poll_query_until('postgres', q{
	SELECT count(*) = 1 AND min(query) ~ 'refresh' FROM pg_stat_activity
	WHERE usename = 'watcher' AND wait_event = 'advisory'}), 'which pg_cron has begun as well');

ok($node->poll_query_until('postgres', q{
	SELECT count(*) > 0 FROM cron.job_run_details WHERE username = 'keeper' AND status = 'succeeded'}),
	'the update comes to its end meanwhile');
is($node->safe_psql('postgres', q{SELECT * FROM day}), '2026-11-01|7', 'it ran the flows of its role, in their order');
is($node->safe_psql('postgres', q{
	SELECT flow, status, rows_read FROM replace_flow.run WHERE flow IN ('day', 'sale') ORDER BY run_id LIMIT 2}),
	"sale|succeeded|2\nday|succeeded|1", 'and recorded them');

$holder->quit;
ok($node->poll_query_until('postgres', q{
	SELECT count(*) > 0 FROM replace_flow.run WHERE flow = 'held' AND status = 'succeeded'}),
	'the run that was held up goes on');
is($node->safe_psql('postgres', q{SELECT * FROM held}), '1', 'and does its work');
is($node->safe_psql('postgres', q{SELECT count(*) FROM cron.job_run_details WHERE status = 'failed'}), '0',
	'no schedule failed, a skipped run is none that fails');
is($node->safe_psql('postgres', q{SHOW shared_preload_libraries}), 'pg_cron', 'nothing else was preloaded');

$node->stop;
done_testing();
