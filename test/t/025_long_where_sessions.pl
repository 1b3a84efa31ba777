# B15, B16, D9: a session may refresh, preview, explain, update and backfill where
# flows as often as it likes.  Neither runs that succeed nor runs that fail or are
# undone leave anything in it or behind it but their record.

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

# A flow with all that a run can have: a partitioned target, a joined table, a
# stable function and an alias in its predicate, expectations of each kind; and one
# that reads its target.
$node->safe_psql('postgres', q{
	CREATE TABLE source (day int, k int, v text);
	CREATE TABLE lookup (k int, name text);
	INSERT INTO lookup SELECT k, 'name ' || k FROM generate_series(0, 4) k;
	CREATE TABLE target (day int, k int, v text, name text) PARTITION BY RANGE (day);
	CREATE TABLE target_low PARTITION OF target FOR VALUES FROM (0) TO (10);
	CREATE TABLE target_high PARTITION OF target DEFAULT;
	CREATE TABLE total (day int, n bigint);
	CREATE FUNCTION first_day() RETURNS int STABLE LANGUAGE plpgsql AS 'BEGIN RETURN 5; END';
	SELECT replace_flow.create_where_flow('target', 'SELECT s.*, l.name FROM source s JOIN lookup l USING (k)',
			's.day >= first_day()', name => 'w', reset_allowed => true, settings => '{"work_mem": "64kB"}'),
		replace_flow.create_where_flow('total', 'SELECT day, count(*) AS n FROM target GROUP BY day', 'n > 0', name => 't');
	SELECT replace_flow.add_expectation('w', 'known', 'k < 4', 'drop'),
		replace_flow.add_expectation('w', 'short', 'length(v) < 3', 'warn'),
		replace_flow.add_expectation('w', 'sound', $$ v <> 'bad' $$, 'fail');
	CREATE SEQUENCE counter;

	-- the source has as many rows as ever, some of them others
	CREATE PROCEDURE change(v text DEFAULT 'a', rows int DEFAULT 40) LANGUAGE sql AS $$
		TRUNCATE source;
		INSERT INTO source SELECT n % 20, n % 5, CASE n WHEN 11 THEN v WHEN 12 THEN nextval('counter')::text ELSE 'a' END
		FROM generate_series(1, rows) n;
	$$;
});

# One of the ways to run a flow; all of them in turn.
my @ways = (
	q{CALL change(); SELECT replace_flow.refresh('w');},
	q{SELECT replace_flow.preview('w'); SELECT replace_flow.refresh('w', wait => false);},
	q{SELECT replace_flow.refresh('w', 's.day < 3 OR target.v = first_day()::text', allow_empty => true);},
	q{CALL change(); SELECT replace_flow.start_update();},
	q{SELECT replace_flow.full_refresh('w'); SELECT count(*) FROM replace_flow.explain('w');},
	q{CALL change(); CALL replace_flow.backfill('w', 'day', 0, 12, 4);},
	# runs that fail, in their middle and at their end, and a backfill that is then gone on with
	q{BEGIN; CALL change('bad'); SELECT replace_flow.refresh('w'); ROLLBACK;},
	q{CALL change('bad'); CALL replace_flow.backfill('w', 'day', 4, 20, 4, newest_first => false); CALL change(); CALL replace_flow.backfill('w', 'day', 4, 20, 4, newest_first => false);},
	# runs that are undone
	q{BEGIN; CALL change(); SAVEPOINT a; SELECT replace_flow.refresh('w'); ROLLBACK TO a; SELECT replace_flow.start_update(); ROLLBACK;},
	q{DO $$ BEGIN CALL change('bad'); PERFORM replace_flow.refresh('w'); EXCEPTION WHEN check_violation THEN NULL; END $$;},
	# runs that are refused
	q{BEGIN READ ONLY; SELECT replace_flow.refresh('w'); ROLLBACK;},
	q{SELECT replace_flow.refresh('w', 'random() < 2');},
	q{SELECT replace_flow.refresh('w', 'day = ');},
);

# Windows that do not fit into memory, one of which fails.
my @large = (
	q{CALL change(rows => 5000); SELECT replace_flow.refresh('w');},
	q{BEGIN; CALL change('bad', rows => 5000); SELECT replace_flow.refresh('w'); ROLLBACK;},
);

# Go so many rounds through all of that.
sub rounds
{
	my ($number) = @_;
	return join("\n", (@ways) x $number, (@large) x ($number / 50), '');
}

my $errors = run_script($node, rounds(100) . "CALL measure('before');\n" . rounds(400) . "CALL measure('after');\n");
is_deeply(
	$errors,
	{   'rows of flow "w" violate expectation "sound"' => 2 * 500 + 10,
		'cannot execute replace_flow.refresh() in a read-only transaction' => 500,
		'REPLACE_WHERE_NOT_DETERMINISTIC: parameter "predicate_override" of flow "w" calls a volatile function' => 500,
		'syntax error at end of input' => 500 },
	'a session runs flows more than 10,000 times, of which 2,500 fail');
is_constant($node, 'runs of one session', $tolerance);

# In one transaction.  The server itself keeps something for each row that a
# transaction writes twice, and for each table that it empties.
is_deeply(
	run_script($node,
		"BEGIN;\nCALL change();\n" . join("\n", (@ways[1, 2, 4]) x 50) . "CALL measure('first'); CALL measure('before');\n"
		  . join("\n", (@ways[1, 2, 4]) x 200) . "CALL measure('after'); COMMIT;\n"),
	{}, 'a transaction runs flows 600 times');
is_constant($node, 'runs of one transaction', 600 * 800);

# One backfill of many slices, measured in some of the first and one of the last.
$node->safe_psql('postgres', q{
	TRUNCATE source;
	INSERT INTO source SELECT day, day % 4, 'a' FROM generate_series(1, 3000) day;
	CREATE FUNCTION measure() RETURNS trigger LANGUAGE plpgsql SET search_path = public AS
		$$ BEGIN CALL measure('slice ' || NEW.day); RETURN NULL; END $$;
	CREATE TRIGGER measure AFTER INSERT ON target FOR EACH ROW WHEN (NEW.day IN (2900, 2700, 30))
		EXECUTE FUNCTION measure()});
is_deeply(run_script($node, q{CALL replace_flow.backfill('w', 'day', 20, 3001, 1);}), {}, 'a backfill goes through 3,000 slices');
is($node->safe_psql('postgres', q{SELECT string_agg(place, ' ' ORDER BY number) FROM footprint WHERE place ~ 'slice'}),
	'slice 2900 slice 2700 slice 30', 'it was measured');
is_constant($node, 'slices of one backfill', $tolerance);

# And after all of that, no run was lost or doubled.
is( $node->safe_psql('postgres', q{
		SELECT replace_flow.refresh('w', 'true');
		SELECT count(*) FROM replace_flow.run WHERE rows_read <> rows_rejected + rows_inserted + rows_updated + rows_unchanged;
		SELECT sum(rows_inserted - rows_deleted) - (SELECT count(*) FROM target) FROM replace_flow.run WHERE flow = 'w';
		SELECT sum(rows_inserted - rows_deleted) - (SELECT count(*) FROM total) FROM replace_flow.run WHERE flow = 't';
		SELECT count(*) FROM replace_flow.backfill;
	}) =~ s/^\(.*\n//r,
	"0\n0\n0\n0", 'the records of all runs add up');

$node->stop;
done_testing();
