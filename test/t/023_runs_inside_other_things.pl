# B14, B15: runs in triggers of the stream while many sessions stage rows, and
# between and inside cursors.

use strict;
use warnings FATAL => 'all';

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(extra => ['--encoding=UTF8']);
$node->append_conf('postgresql.conf', q{
fsync = off
autovacuum = off
});
$node->start;

$node->safe_psql('postgres', q{
	CREATE EXTENSION replace_flow;
	CREATE TABLE target (k int, s int, v int);
	CREATE INDEX ON target (k);
	CREATE TABLE stream (k int, s int, v int);
	SELECT replace_flow.create_using_flow('target', 'stream', '{k}', 's', name => 'f');
	CREATE TABLE journal (LIKE stream);
	CREATE VIEW difference AS
		WITH expected AS (
			SELECT k, s, v FROM (SELECT *, rank() OVER (PARTITION BY k ORDER BY s DESC) FROM journal) j WHERE rank = 1)
		SELECT 'missing' AS what, * FROM (TABLE expected EXCEPT ALL TABLE target) m
		UNION ALL SELECT 'superfluous', * FROM (TABLE target EXCEPT ALL TABLE expected) s
		UNION ALL SELECT 'staged', * FROM stream;
	CREATE FUNCTION run() RETURNS trigger LANGUAGE plpgsql AS $$
	BEGIN
		PERFORM replace_flow.apply('f');
		RETURN NULL;
	END $$;
});

sub query { return $node->safe_psql('postgres', shift); }

# Stage random rows in many sessions at once; each writes them down.
sub stage_at_once
{
	my ($name) = @_;
	my $script = "$PostgreSQL::Test::Utils::tmp_check/stage.sql";
	PostgreSQL::Test::Utils::append_to_file($script, q{
\set k random(1, 10)
\set s random(1, 20)
\set v random(1, 3)
WITH staged AS (INSERT INTO stream SELECT :k, :s, g FROM generate_series(1, :v) g RETURNING *)
INSERT INTO journal TABLE staged;
}) unless -e $script;
	$node->command_checks_all(
		[ 'pgbench', '-n', '-c', '4', '-t', '100', '-f', $script, '-h', $node->host, '-p', $node->port, 'postgres' ],
		0, [ qr{transactions actually processed: 400/400}, qr/number of failed transactions: 0 / ], [], $name);
	return;
}

foreach my $each ('STATEMENT', 'ROW')
{
	query("CREATE OR REPLACE TRIGGER run AFTER INSERT ON stream FOR EACH $each EXECUTE FUNCTION run()");
	stage_at_once("sessions whose trigger runs the flow for each $each");
	is(query('TABLE difference'), '', 'each row is applied once, and none is left');
}

# A deferred trigger runs the flow at COMMIT, once for each row.
query(q{
	DROP TRIGGER run ON stream;
	CREATE CONSTRAINT TRIGGER run AFTER INSERT ON stream DEFERRABLE INITIALLY DEFERRED
		FOR EACH ROW EXECUTE FUNCTION run()});
stage_at_once('sessions whose trigger runs the flow at COMMIT');
is(query('TABLE difference'), '', 'each row is applied once, and none is left');
query('DROP TRIGGER run ON stream');

# Cursors keep what they saw, whatever runs do, and runs see what was staged
# meanwhile.
query(q{TRUNCATE target, stream, journal; INSERT INTO target SELECT g, 1, 1 FROM generate_series(1, 5) g; INSERT INTO journal TABLE target});
is( query(q{
		BEGIN;
		DECLARE rows CURSOR FOR SELECT k, s FROM target ORDER BY k;
		DECLARE held CURSOR WITH HOLD FOR SELECT k, s FROM target ORDER BY k DESC;
		DECLARE runs CURSOR FOR SELECT rows_staged FROM generate_series(1, 3), LATERAL replace_flow.apply('f' || substr(generate_series::text, 2));
		FETCH 1 FROM rows;
		INSERT INTO stream SELECT g, 2, 2 FROM generate_series(1, 5) g;
		INSERT INTO journal TABLE stream;
		FETCH 1 FROM runs;
		FETCH 1 FROM rows;
		INSERT INTO stream VALUES (2, 3, 3);
		INSERT INTO journal TABLE stream;
		FETCH 1 FROM runs;
		FETCH 1 FROM rows;
		FETCH 2 FROM held;
		COMMIT;
		FETCH 1 FROM held;
		SELECT status FROM replace_flow.apply('f');
		FETCH 1 FROM held;
		CLOSE held}),
	"1|1\n5\n2|1\n1\n3|1\n5|1\n4|1\n3|1\nsucceeded\n2|1", 'runs between the fetches of cursors, and in those of one');
is(query('TABLE difference'), '', 'each row is applied once, and none is left');

# A loop over the target, and one over what is staged, which a run consumes.
query(q{
	DO $$
	DECLARE
		r record;
	BEGIN
		FOR r IN SELECT * FROM target ORDER BY k LOOP
			INSERT INTO stream VALUES (r.k, r.s + 1, r.v + 1);
			INSERT INTO journal TABLE stream;
			PERFORM replace_flow.apply('f');
			COMMIT;
		END LOOP;
		INSERT INTO stream SELECT k, s + 1, v FROM target;
		INSERT INTO journal TABLE stream;
		FOR r IN SELECT * FROM stream ORDER BY k LOOP
			PERFORM replace_flow.apply('f');
			INSERT INTO stream VALUES (r.k, r.s, r.v);
			INSERT INTO journal TABLE stream;
		END LOOP;
	END $$});
is(query(q{SELECT rows_staged FROM replace_flow.apply('f')}), '1', 'the last row of a loop is left to the next run');
is(query('TABLE difference'), '', 'each row is applied once, and none is left');

# A procedure that commits each part, called while another session holds the flow
# for a moment.
query(q{
	CREATE PROCEDURE run_all() LANGUAGE plpgsql AS $$
	BEGIN
		FOR i IN 1 .. 50 LOOP
			INSERT INTO stream VALUES (i % 7, i, i);
			INSERT INTO journal VALUES (i % 7, i, i);
			BEGIN
				PERFORM replace_flow.apply('f');
				IF i % 3 = 0 THEN
					RAISE SQLSTATE 'RF000';
				END IF;
			EXCEPTION WHEN SQLSTATE 'RF000' THEN
				NULL;		-- the run is undone, its rows are still staged
			END;
			IF i % 5 = 0 THEN
				ROLLBACK;
			ELSE
				COMMIT;
			END IF;
		END LOOP;
	END $$});
my @sessions = map {
	my ($out, $err) = ('', '');
	{ err => \$err, handle => IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr('postgres'), '-c', 'CALL run_all()' ],
			'<', '/dev/null', '>', \$out, '2>', \$err) };
} 1 .. 3;
$_->{handle}->finish foreach @sessions;
is(join('', map { ${ $_->{err} } } @sessions), '', 'procedures run the flow in loops, side by side');
query(q{SELECT replace_flow.apply('f')});
is(query('TABLE difference'), '', 'each row that was committed is applied once, and none is left');

$node->stop;
done_testing();
