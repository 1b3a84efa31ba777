# Sourced by the rule scripts.

status=0

# The project's files of these patterns, one a line.
files()
{
    if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
        git ls-files --cached --others --exclude-standard -- "$@"
    else
        for pattern in "$@"; do
            find . -type f -path "./$pattern" ! -path './.git/*' | sed 's!^\./!!'
        done
    fi | sort -u | while read -r file; do [ ! -e "$file" ] || printf '%s\n' "$file"; done
}

# verdict RULE OFFENDERS: a rule holds if nothing breaks it.
verdict()
{
    if [ -z "$2" ]; then
        printf 'ok %s\n' "$1"
    else
        printf 'not ok %s\n' "$1"
        printf '%s\n' "$2" | sed 's/^/    /'
        status=1
    fi
}
