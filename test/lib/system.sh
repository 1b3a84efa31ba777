# Bare Debian systems to test in.
#
# Sourced by test/matrix and test/upgrade, which root runs.  Each system lies in
# a folder of its own and holds what debootstrap puts there: the least that
# Debian works with, and git.  Everything happens where mounts, processes and
# shared memory are the script's own, so that the kernel takes them away with
# the script's last process, however that ends.
#
#   $systems/SUITE       the system
#   $systems/SUITE.log   what was said while it was made and used

# Nobody waits longer for a mirror that does not answer.
patience=600

proxy_variables="http_proxy https_proxy no_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY"

# What is missing is not the project's fault: a status of its own tells so.
unable() { printf '%s: %s\n' "${0##*/}" "$*" >&2; exit 3; }

become_root()
{
    local name keep=TMPDIR

    [ "$(id -u)" != 0 ] || return 0
    command -v sudo >/dev/null || unable "needs root or sudo"
    for name in $proxy_variables; do
        keep+=,$name
    done
    exec sudo --preserve-env="$keep" -- "$0" "$@"
}

# Run the script again, alone, and end with its status.  The one that was started
# only sees to it that nothing stays behind.
run_alone()
{
    local own=(--mount --pid --ipc --fork --kill-child --mount-proc) status

    systems=${REPLACE_FLOW_SYSTEMS:-}
    [ -z "$systems" ] || return 0

    trap remove_systems EXIT
    trap 'exit 129' HUP
    trap 'exit 130' INT
    trap 'exit 141' PIPE
    trap 'exit 143' TERM
    need debootstrap command -v debootstrap
    need debian-archive-keyring test -f /usr/share/keyrings/debian-archive-keyring.gpg
    need git command -v git
    install_missing || true
    command -v debootstrap >/dev/null || unable "debootstrap cannot be installed"
    unshare "${own[@]}" true || unable "this machine allows no private mounts and processes"
    find_mirror

    systems=$(mktemp -d "${TMPDIR:-/tmp}/replace_flow.XXXXXX")
    chmod 755 "$systems"
    export REPLACE_FLOW_SYSTEMS=$systems mirror
    set -m
    setpriv --pdeathsig KILL unshare "${own[@]}" "$0" "$@" </dev/null &
    child=$!
    set +m
    wait "$child" && status=0 || status=$?
    child=
    exit "$status"
}

remove_systems()
{
    local status

    trap '' INT TERM HUP PIPE
    remove_cluster_policy
    if [ -n "${child:-}" ]; then
        # With the first process in there the kernel ends all others, and only
        # when none is left the one that waits for it.
        for status in $(grep -ls "^PPid:[[:space:]]*$child\$" /proc/[0-9]*/status); do
            kill -KILL "${status//[!0-9]/}" 2>/dev/null || kill -KILL "$child"
        done
        wait "$child" 2>/dev/null || true
    fi
    [ -z "$systems" ] || [ -n "${keep:-}" ] || rm -rf "$systems"
}

# Where this machine has its packages from; nothing leaves it to debootstrap.
find_mirror()
{
    mirror=$(known_mirror)
    if [ -z "$mirror" ]; then
        update_package_lists
        mirror=$(known_mirror)
    fi
}

known_mirror()
{
    apt-get indextargets 'Created-By: Packages' 'Component: main' --format '$(LABEL) $(REPO_URI)' |
        awk '$1 == "Debian" && !found { print $2; found = 1 }'
}

# attempt FUNCTION SUITE...: run it up to its first error, and set $status.  What it
# says goes into the system's log.
attempt()
{
    "$@" >>"$systems/$2.log" 2>&1 </dev/null &
    wait $! && status=0 || status=$?
}

# make_system SUITE: a system with the working tree in /root/replace_flow and the
# packages that the tests take; with $cache, kept there for the next time.
make_system()
{
    local dir=$systems/$1 kept=${cache:+$cache/$1.tar.gz}

    if [ -n "$kept" ] && [ -f "$kept" ]; then
        mkdir "$dir"
        tar --extract --gzip --numeric-owner --file="$kept" --directory="$dir"
    else
        bootstrap "$1" "$dir"
    fi
    mount_kernel_files "$dir"
    configure_network "$1" "$dir"
    put_tree "$1" "$dir"
    in_system "$1" timeout "$patience" test/check --install
    in_system "$1" apt-get clean
    if [ -n "$kept" ] && [ ! -f "$kept" ]; then
        mkdir -p "$cache"
        tar --create --use-compress-program='gzip -1' --numeric-owner --one-file-system \
            --exclude=./root/replace_flow --file="$kept.$$" --directory="$dir" .
        mv "$kept.$$" "$kept"
    fi
}

# bootstrap SUITE FOLDER
bootstrap()
{
    local scripts=/usr/share/debootstrap/scripts script proxy=

    # all of Debian's are made alike; an old debootstrap only lacks the names of new ones
    script=$scripts/$1
    [ -e "$script" ] || script=$scripts/sid
    # debootstrap heeds the environment only
    eval "$(apt-config shell proxy Acquire::http::Proxy)"
    [[ $proxy != http* ]] || export http_proxy=${http_proxy:-$proxy}
    timeout "$patience" debootstrap --variant=minbase --include=git "$1" "$2" "$mirror" "$script"
}

# The few devices that programs take for granted: none of the machine's own.
mount_kernel_files()
{
    local name numbers

    mount -t proc proc "$1/proc"
    mount -t tmpfs -o mode=755 tmpfs "$1/dev"
    while read -r name numbers; do
        mknod -m 666 "$1/dev/$name" c $numbers
    done <<'END_OF_DEVICES'
null 1 3
zero 1 5
full 1 7
random 1 8
urandom 1 9
tty 5 0
END_OF_DEVICES
    mkdir "$1/dev/pts" "$1/dev/shm"
    mount -t devpts -o newinstance,ptmxmode=666 devpts "$1/dev/pts"
    mount -t tmpfs -o mode=1777 tmpfs "$1/dev/shm"
    ln -s pts/ptmx "$1/dev/ptmx"
    ln -s /proc/self/fd "$1/dev/fd"
    ln -s fd/0 "$1/dev/stdin"
    ln -s fd/1 "$1/dev/stdout"
    ln -s fd/2 "$1/dev/stderr"
}

# configure_network SUITE FOLDER: what this machine needs to reach its mirror, the
# system needs as well: names, proxies, and whom to trust.
configure_network()
{
    local file authorities=/etc/ssl/certs/ca-certificates.crt

    for file in /etc/hosts /etc/resolv.conf; do
        [ ! -e "$file" ] || cat "$file" >"$2$file"
    done
    [ -z "$mirror" ] || printf 'deb %s %s main\n' "$mirror" "$1" >"$2/etc/apt/sources.list"
    apt-config dump | grep -E '^Acquire::(http|https|Check|Retries|ForceIPv)' >"$2/etc/apt/apt.conf.d/60machine" || true
    eval "$(apt-config shell authorities Acquire::https::CAInfo)"
    if [ -f "$authorities" ]; then
        cat "$authorities" >"$2/etc/apt/machine.crt"
        printf 'Acquire::https::CAInfo "/etc/apt/machine.crt";\n' >>"$2/etc/apt/apt.conf.d/60machine"
    fi
}

# put_tree SUITE FOLDER: the working tree, as a clone
put_tree()
{
    mkdir "$2/root/replace_flow"
    pack_tree | tar --extract --no-same-owner --directory="$2/root/replace_flow"
    in_system "$1" git init --quiet
    in_system "$1" git add --all
}

# in_system SUITE COMMAND...: run it in the working tree there
in_system()
{
    local name proxies=()

    for name in $proxy_variables; do
        [ -z "${!name:-}" ] || proxies+=("$name=${!name}")
    done
    chroot "$systems/$1" env -i -C /root/replace_flow HOME=/root LC_ALL=C.UTF-8 "${proxies[@]}" \
        PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "${@:2}"
}

remove_system()
{
    [ -z "${keep:-}" ] || return 0
    umount --recursive --lazy "$systems/$1/dev" "$systems/$1/proc" 2>/dev/null || true
    rm -rf --one-file-system "${systems:?}/$1"
}

# The end of a file, indented; all of it unless it is very long.
show()
{
    tail -n "${2:-400}" "$1" | sed 's/^/    /'
}
