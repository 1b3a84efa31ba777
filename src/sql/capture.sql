/*
 * What changed in the tables that where flows read and write.
 *
 * It is about tables as they are in this database at this time: by OID and by
 * transaction.  So it comes after what pg_dump takes, and nobody but the extension
 * reads it.
 */

-- Which columns of which tables matter to which flow.  A table stands for its
-- partitions, children and ancestors too, whose columns are those of the same names.
CREATE TABLE replace_flow.captured (
    flow_id            integer NOT NULL,
    relid              oid NOT NULL,
    columns            smallint[] NOT NULL,
    PRIMARY KEY (flow_id, relid)
);

-- Changes, as triggers of these tables note them, until all flows have seen them.
CREATE TABLE replace_flow.change (
    relid              oid NOT NULL,
    xid                xid8 NOT NULL,       -- the whole transaction's
    flow_id            integer,             -- whose run it was, if it was one
    inserts_only       boolean NOT NULL,
    content            bytea NOT NULL
) WITH (
    -- a queue: it should stay as small as it is when it is empty
    autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000,
    autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 10000,
    toast.autovacuum_vacuum_scale_factor = 0, toast.autovacuum_vacuum_threshold = 2000
);
CREATE INDEX change_relid_idx ON replace_flow.change (relid);
-- a publication for all tables has this one too, and it has no key
ALTER TABLE replace_flow.change REPLICA IDENTITY FULL;

-- What the last refresh of a flow saw, and of what.
CREATE TABLE replace_flow.seen (
    flow_id            integer PRIMARY KEY,
    definition_version integer NOT NULL,
    predicate          text NOT NULL,
    settled            boolean NOT NULL,
    seen_before        xid8 NOT NULL,
    in_progress        xid8[] NOT NULL,
    sources            bigint NOT NULL,     -- fingerprints of what it depends on,
    target             bigint NOT NULL,     -- and of its target
    relids             oid[] NOT NULL
);

CREATE FUNCTION replace_flow.capture_change()
RETURNS trigger
LANGUAGE C
AS 'MODULE_PATHNAME', 'replace_flow_capture_change';
-- it is for triggers that the extension makes
REVOKE EXECUTE ON FUNCTION replace_flow.capture_change() FROM PUBLIC;
