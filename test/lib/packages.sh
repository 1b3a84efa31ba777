# Find the server to test with, and install what is missing.
#
# Sourced by test/check and test/demo.  What is missing comes from Debian, with
# apt-get; those packages are the only thing that stays on the machine.  A
# server package normally sets up a database cluster and starts it: not here,
# a configuration file that lives only during the installation prevents it.

cluster_policy=/etc/postgresql-common/createcluster.d/replace_flow.conf

say() { printf '%s\n' "$*"; }
die() { printf '%s: %s\n' "${0##*/}" "$*" >&2; exit 1; }

as_admin()
{
    if [ "$(id -u)" = 0 ]; then
        "$@"
    elif command -v sudo >/dev/null; then
        sudo "$@"
    else
        die "needs root or sudo to run: $*"
    fi
}

# need PACKAGE TEST...: the package is missing if the test fails
need()
{
    local package=$1
    shift
    "$@" >/dev/null 2>&1 || missing+=("$package")
}

update_package_lists()
{
    [ -z "${lists_updated:-}" ] || return 0
    lists_updated=yes
    say "packages     apt-get update"
    as_admin apt-get -qq update >&2 || say "             failed; going on with the lists that are there"
}

# Set pg_config: what PG_CONFIG says, or else the newest server of the machine
# that can be built for, or else the one that Debian would install.
choose_server()
{
    local candidate version

    pg_config=${PG_CONFIG:-}
    if [ -n "$pg_config" ]; then
        if command -v "$pg_config" >/dev/null; then
            pg_config=$("$pg_config" --bindir)/pg_config
        fi
        return 0
    fi
    for candidate in $(ls -d /usr/lib/postgresql/*/bin/pg_config 2>/dev/null | sort -rV); do
        version=$(debian_version "$candidate")
        if [ -x "${candidate%/*}/postgres" ] && [ -f "/usr/include/postgresql/$version/server/postgres.h" ]; then
            pg_config=$candidate
            return 0
        fi
    done
    update_package_lists
    version=$(apt-cache depends postgresql | sed -n 's/^ *Depends: postgresql-\([0-9]*\)$/\1/p' | head -1)
    [ -n "$version" ] || die "apt knows no package postgresql; set PG_CONFIG to choose a server"
    pg_config=/usr/lib/postgresql/$version/bin/pg_config
}

# The major version in a path of Debian's layout; nothing for other layouts.
debian_version()
{
    printf '%s\n' "$1" | sed -n 's!^/usr/lib/postgresql/\([0-9]*\)/bin/pg_config$!\1!p'
}

can_compile() { printf '#include <stdio.h>\n' | gcc -fsyntax-only -x c -; }

# Add what building for the chosen server and running it takes.
need_server()
{
    local version
    version=$(debian_version "$pg_config")

    if [ -n "$version" ]; then
        need "postgresql-$version" test -x "/usr/lib/postgresql/$version/bin/postgres"
        need "postgresql-server-dev-$version" test -f "/usr/include/postgresql/$version/server/postgres.h"
    elif ! [ -x "$pg_config" ]; then
        die "PG_CONFIG names no program: $pg_config"
    elif ! [ -f "$("$pg_config" --includedir-server)/postgres.h" ]; then
        die "the server of $pg_config has no header files"
    fi
    need gcc command -v gcc
    need libc6-dev can_compile
    need make command -v make
    if [ "$(id -u)" = 0 ]; then
        # the user who runs the server
        need postgresql-common id postgres
    fi
}

# Add what only the tests take.
need_test_tools()
{
    local version
    version=$(debian_version "$pg_config")

    if [ -n "$version" ]; then
        need "postgresql-$version-cron" test -f "/usr/lib/postgresql/$version/lib/pg_cron.so"
    fi
    need perl command -v prove
    need libipc-run-perl perl -MIPC::Run -e 1
    # The formatter changes from version to version; the code follows the one of Debian 12.
    if grep -q '^VERSION_ID="12"' /etc/os-release; then
        need pg-bsd-indent command -v pg_bsd_indent
    fi
}

install_missing()
{
    if [ ${#missing[@]} = 0 ]; then
        say "packages     nothing to install"
        return 0
    fi
    update_package_lists
    say "packages     apt-get install ${missing[*]}"
    as_admin mkdir -p "${cluster_policy%/*}"
    printf 'create_main_cluster = false\n' | as_admin tee "$cluster_policy" >/dev/null
    as_admin env DEBIAN_FRONTEND=noninteractive apt-get -qq -y --no-install-recommends \
        -o DPkg::Lock::Timeout=300 install "${missing[@]}" >&2
    remove_cluster_policy
}

remove_cluster_policy()
{
    [ -e "$cluster_policy" ] || return 0
    as_admin rm -f "$cluster_policy"
    as_admin rmdir --ignore-fail-on-non-empty "${cluster_policy%/*}"
}
