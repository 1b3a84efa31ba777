/*
 * A second session, for transactions that stay open while the history goes on.
 *
 * It does what it is told, and nothing meanwhile; so histories stay what their
 * seeds make of them.  Nobody would see that the two sessions wait for each other:
 * therefore it locks no rows that the first one has changed, and gives up soon.
 */

-- What happens, for those who look (--verbose).
CREATE PROCEDURE model.tell(what text) LANGUAGE plpgsql AS $$
BEGIN
	IF current_setting('model.is_verbose', true) = 'on' THEN
		RAISE INFO '%', what;
	END IF;
END $$;

CREATE FUNCTION model.second(statement text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	IF 'second' = ANY (model.dblink_get_connections()) IS NOT TRUE THEN
		PERFORM model.dblink_connect('second', format('host=%s port=%s dbname=%s user=%s', split_part(current_setting('unix_socket_directories'), ',', 1),
			current_setting('port'), current_database(), current_user));
		PERFORM model.dblink_exec('second', 'SET client_min_messages = error; SET jit = off; SET lock_timeout = ''2s''; SET search_path = history, model, public');
	END IF;
	CALL model.tell('second session: ' || statement);
	IF model.dblink_exec('second', statement, false) <> 'ERROR' THEN
		RETURN;
	ELSIF model.dblink_error_message('second') !~ 'duplicate key value' THEN
		RAISE EXCEPTION 'second session: %', model.dblink_error_message('second') USING DETAIL = statement;
	END IF;
	PERFORM model.dblink_exec('second', 'ROLLBACK');
END $$;

-- What it has to finish: a transaction that has changed something, or may have, or a
-- prepared one.
CREATE FUNCTION model.second_state() RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	IF EXISTS (SELECT FROM pg_prepared_xacts WHERE database = current_database()) THEN
		RETURN 'prepared';
	ELSIF 'second' = ANY (model.dblink_get_connections()) THEN
		RETURN (SELECT CASE WHEN is_open THEN 'open' ELSE 'idle' END
			FROM model.dblink('second', 'SELECT EXISTS (SELECT FROM pg_locks WHERE pid = pg_backend_pid() AND mode = ''RowExclusiveLock'')') z (is_open boolean));
	END IF;
	RETURN 'idle';
END $$;

CREATE FUNCTION model.end_second() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	IF 'second' = ANY (model.dblink_get_connections()) THEN
		PERFORM model.dblink_exec('second', 'ROLLBACK');
	END IF;
	PERFORM model.second(format('ROLLBACK PREPARED %L', gid)) FROM pg_prepared_xacts WHERE database = current_database();
END $$;

-- Whether it has locked tables that it does not own as a target.
CREATE FUNCTION model.second_keeps_writers_away() RETURNS boolean LANGUAGE sql AS $$
	SELECT EXISTS (SELECT FROM pg_locks l WHERE l.mode = 'ShareRowExclusiveLock' AND l.pid <> pg_backend_pid()
		AND l.relation::regclass::text ~ '^([sedc]|s_\d)$')
$$;

-- Whether it holds the lock of a run on this table.
CREATE FUNCTION model.second_runs(relation regclass) RETURNS boolean LANGUAGE sql AS $$
	SELECT EXISTS (SELECT FROM pg_locks l WHERE l.relation = $1 AND l.mode = 'ShareRowExclusiveLock' AND l.pid IS DISTINCT FROM pg_backend_pid())
$$;
