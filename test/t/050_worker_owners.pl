# A9, F1: the worker runs flows of many owners, one after the other.  Each runs as
# its owner alone, whoever the process is, and what its code leaves behind or puts
# off meets nobody else.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;
use Test::More;
use Worker;

# one process at a time: the others' have to make room
my $node = worker_node('main', 'replace_flow.max_workers = 1');

sub applied
{
	my ($name, $rows) = @_;

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	query("INSERT INTO ${name}_in SELECT n, 1 FROM generate_series(1, $rows) n");
	return soon("SELECT count(*) FROM $name", $rows, "the flow of $name runs");
}

query(q{
	CREATE EXTENSION replace_flow;
	CREATE ROLE alice;
	CREATE ROLE bob;
	GRANT CREATE ON SCHEMA public TO alice, bob;
	CREATE TABLE heard (n int GENERATED ALWAYS AS IDENTITY, who name, what text, answer text);
	GRANT INSERT ON heard TO PUBLIC;
	CREATE FUNCTION ask(command text) RETURNS void LANGUAGE plpgsql AS $$
	DECLARE
		answer text;
	BEGIN
		BEGIN
			EXECUTE command INTO answer;
		EXCEPTION WHEN others THEN
			answer := 'refused';
		END;
		INSERT INTO public.heard (who, what, answer) VALUES (current_user, command, answer);
	END $$;
	CREATE FUNCTION soil() RETURNS trigger LANGUAGE plpgsql AS $$
	BEGIN
		PERFORM public.ask(command) FROM unnest(ARRAY[
			'RESET ROLE', 'SET ROLE bob', 'RESET SESSION AUTHORIZATION',
			'SET SESSION AUTHORIZATION bob', 'CREATE TEMP TABLE t (n int)',
			'PREPARE p AS SELECT 1', 'DECLARE c CURSOR WITH HOLD FOR SELECT 1', 'LISTEN c',
			'DISCARD ALL', 'CREATE FUNCTION pg_temp.f() RETURNS int LANGUAGE sql AS ''SELECT 1''',
			'CREATE DOMAIN pg_temp.colour AS text', 'SELECT pg_advisory_lock(1)',
			'SELECT set_config(''search_path'', ''public'', false)',
			'SELECT set_config(''lock_timeout'', ''1ms'', false)',
			'SELECT set_config(''default_transaction_read_only'', ''on'', false)',
			'SELECT set_config(''test.secret'', ''mine'', false)']) AS command;
		RETURN NULL;
	END $$;
	CREATE FUNCTION look() RETURNS trigger LANGUAGE plpgsql AS $$
	BEGIN
		PERFORM public.ask(command) FROM unnest(ARRAY[
			'SELECT current_user', 'SELECT pg_backend_pid()', 'SHOW role', 'SHOW search_path', 'SHOW lock_timeout',
			'SHOW default_transaction_read_only', 'SELECT current_setting(''test.secret'', true)',
			'SELECT ''red''::colour', 'SELECT pg_temp.f()', 'SELECT count(*) FROM pg_locks WHERE locktype = ''advisory''',
			'SELECT count(*) FROM pg_proc WHERE pronamespace = pg_my_temp_schema()']) AS command;
		RETURN NULL;
	END $$});

# Two flows whose owners' triggers do what they please, and one that looks about.
for my $owner ('alice', 'bob', 'postgres')
{
	my $name = "of_$owner";
	my $trigger = $owner eq 'bob' ? 'look' : 'soil';

	query(($owner eq 'postgres' ? '' : "SET ROLE $owner;") . qq{
		CREATE TABLE $name (k int PRIMARY KEY, s int);
		CREATE TABLE ${name}_in (LIKE $name);
		CREATE TRIGGER $trigger AFTER INSERT ON $name FOR EACH STATEMENT EXECUTE FUNCTION $trigger();
		SELECT replace_flow.create_using_flow('$name', '${name}_in', '{k}', 's')});
}

applied('of_bob', 1);
my $pid = pid($node, 'worker');
my $heard = q{SELECT what, answer FROM heard WHERE who = 'bob' AND what !~ 'pid' ORDER BY n};
my $clean = query($heard);
for my $owner ('alice', query('SELECT current_user'))
{
	query('TRUNCATE heard RESTART IDENTITY');
	applied($owner eq 'alice' ? 'of_alice' : 'of_postgres', 1);
	is(query(q{SELECT count(*) FROM heard WHERE n <= 9 AND answer = 'refused'}), '9',
		"what changes the session is refused to $owner");
	is(query('SELECT count(DISTINCT who), min(who) FROM heard'), "1|$owner", 'which acts as itself');
	soon(q{SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'}, '0', 'no lock stays');
	query('TRUNCATE heard; TRUNCATE of_bob');
	applied('of_bob', 2);
	is(query($heard), $clean, 'and the next owner finds nothing of it');
}
isnt(pid($node, 'worker'), $pid, 'a process runs flows of one owner only');

# What an owner defers acts as the owner, whose rights it needs, and in the run.
query(q{
	SET ROLE alice;
	CREATE TABLE parent (n int PRIMARY KEY);
	CREATE TABLE late (k int PRIMARY KEY DEFERRABLE INITIALLY DEFERRED, s int,
		n int DEFAULT 1 REFERENCES parent DEFERRABLE INITIALLY DEFERRED);
	CREATE TABLE late_in (LIKE late INCLUDING DEFAULTS);
	CREATE TABLE seen (who name);
	CREATE FUNCTION see() RETURNS trigger LANGUAGE plpgsql AS $$
	BEGIN
		INSERT INTO public.seen VALUES (current_user);
		RETURN NULL;
	END $$;
	CREATE CONSTRAINT TRIGGER see AFTER INSERT ON late DEFERRABLE INITIALLY DEFERRED
	FOR EACH ROW EXECUTE FUNCTION see();
	SELECT replace_flow.create_using_flow('late', 'late_in', '{k}', 's', quarantine => true);
	INSERT INTO parent VALUES (1)});
applied('late', 2);
is(query('SELECT DISTINCT who FROM seen'), 'alice', 'a deferred trigger acts as the owner');
query('INSERT INTO late_in VALUES (3, 1, 2)');
soon(q{SELECT last_error ~ 'foreign key' FROM replace_flow.flows WHERE flow = 'late'}, 't',
	'a deferred constraint fails the run');
query('INSERT INTO parent VALUES (2); INSERT INTO late_in VALUES (4, 1)');
soon('SELECT count(*), (SELECT count(*) FROM late_in) FROM late', '4|0', 'until it holds');
query(q{ALTER SYSTEM SET replace_flow.max_retries = 0});
query('SELECT pg_reload_conf()');
query('INSERT INTO late_in VALUES (5, 1, 3), (6, 1, 1)');
soon(q{SELECT max(k) FROM late}, '6', 'the quarantine gets round it');
soon(q{SELECT count(*) FROM replace_flow.rejected WHERE flow = 'late' AND error_code = '23503'}, '1',
	'and keeps what fails');

# Whatever code of the owner a run comes to acts as the owner: also what looks as if it
# computed only, and when a run is cut, or looks for keys that fail.
query(q{
	SET ROLE alice;
	CREATE TABLE spied (what text, who name);
	CREATE FUNCTION note(what text) RETURNS void LANGUAGE sql AS
		'INSERT INTO public.spied VALUES ($1, current_user)';
	CREATE FUNCTION spy(v int, what text) RETURNS int LANGUAGE plpgsql IMMUTABLE AS
		'BEGIN PERFORM public.note(what); RETURN v; END';
	CREATE FUNCTION spy() RETURNS trigger LANGUAGE plpgsql AS
		'BEGIN PERFORM public.note(tg_name); RETURN NULL; END';
	CREATE DOMAIN odd AS int CHECK (public.spy(VALUE, 'domain') <> 3);
	CREATE TABLE watched (k odd, s int CHECK (public.spy(s, 'check') = s),
		d int DEFAULT public.spy(1, 'default'), g int GENERATED ALWAYS AS (public.spy(s, 'generated')) STORED);
	CREATE INDEX ON watched (k);
	CREATE INDEX ON watched (public.spy(s, 'index'));
	CREATE TABLE watched_in (k int, s int);
	CREATE TRIGGER "stream trigger" AFTER DELETE ON watched_in FOR EACH STATEMENT EXECUTE FUNCTION spy();
	CREATE TRIGGER "target trigger" AFTER INSERT ON watched FOR EACH ROW EXECUTE FUNCTION spy();
	SELECT replace_flow.create_using_flow('watched', 'watched_in', '{k}', 's', quarantine => true,
		query => $$SELECT k, public.spy(s, 'query') AS s FROM watched_in$$,
		delete_when => $$public.spy(s, 'delete_when') < 0$$);
	SELECT replace_flow.add_expectation('watched', 'small', $$public.spy(s, 'expectation') < 9$$, 'drop');
	CREATE TABLE mirror (k odd, s int);
	CREATE TABLE seed (k int, s int);
	SELECT replace_flow.create_where_flow('mirror', 'SELECT k, s FROM public.seed',
		$$s > public.spy(0, 'predicate') AND k <> '7'::public.odd$$, refresh_on_change => true);
	TRUNCATE spied});
query(q{ALTER SYSTEM SET replace_flow.max_batch_rows = 1});
query('SELECT pg_reload_conf()');
query('INSERT INTO watched_in SELECT k, 1 FROM generate_series(1, 4) k; INSERT INTO seed VALUES (1, 1)');
soon('SELECT count(*), (SELECT count(*) FROM mirror) FROM watched', '3|1', 'flows with much code run');
soon(q{SELECT count(*) FROM replace_flow.rejected WHERE flow = 'watched'}, '1', 'one with a bad key');
is(query(q{SELECT string_agg(DISTINCT what, ', ' ORDER BY what) FROM spied}),
	'check, default, delete_when, domain, expectation, generated, index, predicate, query, stream trigger, target trigger',
	'all of the code');
is(query('SELECT DISTINCT who FROM spied'), 'alice', 'acts as the owner');

$node->stop;
done_testing();
