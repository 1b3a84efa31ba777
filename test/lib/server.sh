# A throwaway server that has the extension.
#
# Sourced by test/check and test/demo.  Everything lies in one temporary folder,
# $work, that belongs to an unprivileged user, since PostgreSQL does not run as
# root: "postgres" if root runs this, and else whoever runs it.
#
#   $work/tree      copy of the working tree, built there
#   $work/server    copy of the server, with the extension installed into it: a
#                   server finds its files relative to its own program
#   $work/data      its databases
#   $work/run       its socket; it listens nowhere else, so no port can clash
#
# remove_workspace() stops every server that runs in the folder, by process id,
# and removes the folder.

initdb_options=()
server_environment=()

make_workspace()
{
    work=$(mktemp -d "${TMPDIR:-/tmp}/replace_flow.XXXXXX")
    become=()
    if [ "$(id -u)" = 0 ]; then
        become=(setpriv --reuid=postgres --regid=postgres --init-groups --)
        chown postgres: "$work"
    fi
    as_user mkdir "$work/tree" "$work/server" "$work/run" "$work/tmp" ||
        die "user postgres cannot write to $work; set TMPDIR"
}

# Run a command as the unprivileged user, in the copied tree, in a clean environment.
as_user()
(
    cd "$work" && { [ ! -d tree ] || cd tree; } || exit
    exec "${become[@]}" env -i PATH="${bindir:+$bindir:}/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin" \
        HOME="$work" TMPDIR="$work/tmp" LC_ALL=C.UTF-8 \
        PGHOST="$work/run" PGPORT=5432 PGUSER=postgres PG_CONFIG="${bindir:+$bindir/pg_config}" "$@"
)

# The files that git tracks or would track, as they are now.
pack_tree()
(
    cd "$root"
    git -c safe.directory="$root" ls-files -z --cached --others --exclude-standard |
        while IFS= read -r -d '' file; do
            [ ! -e "$file" ] || printf '%s\0' "$file"
        done | tar --create --null --files-from=-
)

copy_tree()
{
    pack_tree | as_user tar --extract --no-same-owner
    as_user test -f Makefile || die "$root is not a git clone of replace_flow"
}

copy_server()
{
    local dir

    for dir in "$("$pg_config" --bindir)" "$("$pg_config" --pkglibdir)" "$("$pg_config" --sharedir)"; do
        as_user mkdir -p "$work/server$dir"
        as_user cp -a "$dir/." "$work/server$dir"
    done
    dir=$("$pg_config" --includedir)
    as_user mkdir -p "$work/server${dir%/*}"
    as_user ln -sfn "$dir" "$work/server$dir"
    bindir=$work/server$("$pg_config" --bindir)
}

# create_cluster SETTING...: lines of its configuration
create_cluster()
{
    as_user initdb --no-sync --pgdata="$work/data" --username=postgres --auth=trust \
        --encoding=UTF8 --locale=C.UTF-8 "${initdb_options[@]}" >"$work/initdb.log" 2>&1 ||
        { cat "$work/initdb.log"; die "initdb failed"; }
    {
        printf "listen_addresses = ''\n"
        printf "unix_socket_directories = '%s'\n" "$work/run"
        printf '%s\n' "$@"
    } | as_user tee -a "$work/data/postgresql.conf" >/dev/null
}

run_server()
{
    as_user env "${server_environment[@]}" pg_ctl --silent --wait --pgdata="$work/data" \
        --log="$work/server.log" start >/dev/null || { cat "$work/server.log"; die "the server did not start"; }
}

start_server()
{
    create_cluster "$@"
    run_server
}

# Run a command as the unprivileged user, so that a signal to this script ends it.
run_interruptible()
{
    local status

    set -m
    as_user "$@" </dev/null &
    child=$!
    set +m
    wait "$child" && status=0 || status=$?
    child=
    return "$status"
}

# end PROCESS GENTLE HARSH: one signal, ten seconds of patience, the other.  A
# negative process is a process group.
end()
{
    local i

    kill "-$2" -- "$1" 2>/dev/null || return 0
    for i in $(seq 100); do
        kill -0 -- "$1" 2>/dev/null || return 0
        sleep 0.1
    done
    kill "-$3" -- "$1" 2>/dev/null || true
}

stop_servers()
{
    local file

    for file in $(find "$work" -name postmaster.pid); do
        end "$(head -1 "$file")" INT QUIT
    done
}

remove_workspace()
{
    trap '' INT TERM HUP PIPE
    [ -z "${child:-}" ] || end "-$child" TERM KILL
    remove_cluster_policy
    [ -n "${work:-}" ] || return 0
    stop_servers
    [ -n "${keep:-}" ] || rm -rf "$work"
}

# Whatever ends the script, nothing stays behind.
clean_up_at_exit()
{
    trap remove_workspace EXIT
    trap 'exit 129' HUP
    trap 'exit 130' INT
    trap 'exit 141' PIPE
    trap 'exit 143' TERM
}
