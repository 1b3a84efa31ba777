# The cases of incremental refresh: what it costs to bring a target up to date when
# little has changed since the last time, and what those pay who make the changes.
#
# Sourced by run.  A side is a schema here as well; the flow has its name.

# daily_side SIDE SOURCE [PARTITION_BY]: a target of days and keys, up to date
daily_side() { sql "$1" daily_target.sql query="$(daily "$2")" partition_by="${3:-}"; }

# daily_sides SINCE [PARTITION_BY]: ours, with a flow for the days since then that
# has run once, and theirs
daily_sides()
{
    local side
    for side in ours theirs; do
        sql $side schema.sql
        daily_side $side live_events "${2:-}"
    done
    daily_flow ours live_events "$1"
}

# daily_flow SIDE SOURCE SINCE
daily_flow()
{
    sql "$1" where_flow.sql query="$(daily "$2")" window="day >= $3"
    sql "$1" refresh.sql technique=NULL
}

# by_hand_since NAME SOURCE SINCE [VARIABLE=VALUE]...
by_hand_since()
{
    measure "$1" theirs overwrite.sql query="$(daily "$2" "ts >= $3")" window="day >= $3" "${@:4}"
}

vacuum() { sql public vacuum.sql; }

# Nothing has changed: seven days, and all sixty.  Once as the first run of a session,
# with no catalog in its cache, and then often in another one.
case_I1()
{
    local round side
    local -A since=([ours]=$week [long]="'2024-01-01'")
    daily_sides $week
    sql long schema.sql
    daily_side long live_events
    daily_flow long live_events "${since[long]}"
    for round in $(seq "$rounds"); do
        vacuum
        for side in ours long; do
            measure I1.$side.first $side refresh.sql technique=NULL
            refresh_often I1.$side $side
        done
        by_hand_since I1.theirs live_events $week
        same_rows I1 'r.*'
    done
    report 'I1 nothing changed, a week' 'overwrite' I1.ours I1.theirs
    report 'I1 the same, first run of a session' 'overwrite' I1.ours.first I1.theirs
    report_beside 'I1 nothing changed, 60 days, s' 'a week' "$(median I1.long 1)" "$(median I1.ours 1)"
}

# refresh_often NAME SIDE: what the first run of the session cost, with the median time
# of many others, if there is nothing to do in them
refresh_often()
{
    local count=200
    [ "$(techniques "$1.first")" = NO_OP ] || count=1
    as_user find "$work/tmp" -name 'refresh_again.*' -delete
    play "$2" refresh_again.sql --protocol=prepared --transactions=$count --define=flow="$2" \
        --log --log-prefix="$work/tmp/refresh_again"
    cat "$work/tmp/"refresh_again.* | awk '{ print $3 / 1e6 }' >"$work/again"
    tail -1 "$work/$1.first" | sed "s/^[^|]*/$(median again 1)/" >>"$work/$1"
    say "$(printf '%-16s %9.4f s, median of %d in one session' "$1" "$(median again 1)" $count)"
}

# change_some UPDATED MOVED
change_some()
{
    changes=$((${changes:-0} + 1))
    sql public change_rows.sql round=$changes total=$total updated="$1" moved="$2"
}

# few NAME UPDATED MOVED: rounds in which some rows of the last week change; once for the
# first run of a session, and once for the second one
few()
{
    local round
    daily_sides $week
    for round in $(seq "$rounds"); do
        vacuum
        change_some "$2" "$3"
        measure "$1.first.ours" ours refresh.sql technique=NULL
        by_hand_since "$1.first.theirs" live_events $week
        same_rows "$1" 'r.*'
        vacuum
        change_some "$2" "$3"
        changes=$((changes + 1))
        measure "$1.ours" ours refresh.sql technique=NULL before=refresh_and_change.sql \
            round=$changes total=$total updated="$2" moved="$3"
        by_hand_since "$1.theirs" live_events $week before=overwrite.sql
        same_rows "$1" 'r.*'
    done
}

# few_with CASE WHAT UPDATED MOVED INDEX NAME
few_with()
{
    few "$1.$6" "$3" "$4"
    report "$1 $2, index on $5" 'overwrite' "$1.$6.ours" "$1.$6.theirs"
    report "$1 the same, first run of a session" 'overwrite' "$1.$6.first.ours" "$1.$6.first.theirs"
}

# few_indexed CASE WHAT UPDATED MOVED: with an index that finds the rows of a group, and
# without
few_indexed()
{
    query 'CREATE INDEX live_events_key_ts ON live_events (key, ts)'
    few_with "$@" '(key, ts)' group
    query 'DROP INDEX live_events_key_ts'
    few_with "$@" ts time
}

# One group in five is affected.
case_I2() { few_indexed I2 "$((860 / small)) rows updated, $((700 / small)) come and go" $((860 / small)) $((350 / small)); }

# Next to nothing.
case_I3() { few_indexed I3 '10 rows updated' 10 0; }

# many NAME SINCE SHARE: rounds in which that many of 1,024 groups change; what is
# chosen then, and the complete technique for as many
many()
{
    local round
    for round in $(seq "$rounds"); do
        vacuum
        sql public change_groups.sql since="$2" share="$3"
        measure "$1.ours" ours refresh.sql technique=NULL
        by_hand_since "$1.theirs" live_events "$2"
        same_rows "$1" 'r.*'
        vacuum
        sql public change_groups.sql since="$2" share="$3"
        measure "$1.complete" ours refresh.sql technique="$complete"
        sql theirs overwrite.sql query="$(daily live_events "ts >= $2")" window="day >= $2"
        same_rows "$1" 'r.*'
    done
}

# All groups of a day.
case_I4()
{
    daily_sides "'2024-02-29'"
    many I4 "'2024-02-29'" 1024
    report 'I4 all groups of a day' 'itself, complete' I4.ours I4.complete
    report 'I4 all groups of a day' 'overwrite' I4.ours I4.theirs
}

# Nine of ten groups of a week, where each day is a partition of the target.
case_I7()
{
    daily_sides $week 'PARTITION BY RANGE (day)'
    many I7 $week 922
    report 'I7 nine of ten groups of seven partitions' 'itself, complete' I7.ours I7.complete
    report 'I7 nine of ten groups of seven partitions' 'overwrite' I7.ours I7.theirs
}

# writers: sources of their own for all sides, of which a flow of ours reads one; if the
# server has pg_ivm, a view of it another, and $views is that side
writers()
{
    local side
    query "SELECT 'views' FROM pg_available_extensions WHERE name = 'pg_ivm'"
    views=$out
    for side in ours theirs $views; do
        sql $side schema.sql
        sql $side events.sql table=source first=$((total * 9 / 10 + 1)) last=$total total=$total
    done
    daily_side ours source
    daily_side theirs source
    daily_flow ours source $week
    [ -z "$views" ] || sql views view.sql
}

# up_to_date NAME: what was written to our source, and nothing else, comes into the
# target; and the view, if there is one, holds what was written to its own
up_to_date()
{
    local columns='day::timestamp, key, events, amount, last' shown
    measure "$1.refresh" ours refresh.sql technique=NULL
    sql theirs overwrite.sql query="$(daily ours.source "ts >= $week")" window="day >= $week"
    same_rows "$1" 'r.*'
    [ -n "$views" ] || return 0
    digest daily true "$columns" views
    shown=$out
    sql views digest.sql rows="($(daily source))" orders=true columns="$columns"
    same "$1, view" "$shown" "$out"
}

# A day's events arrive.
case_I5()
{
    local round side counted=source first count=$((100000 / small)) file=$work/tmp/copied
    writers
    for round in $(seq "$rounds"); do
        vacuum
        first=$((total + (round - 1) * count))
        query "COPY (SELECT * FROM event_rows($((first + 1)), $((first + count)), $total)) TO '$file'"
        for side in ours theirs $views; do
            measure I5.$side $side copy.sql file="$file"
        done
        counted=t up_to_date I5
    done
    report "I5 COPY of $count rows" 'no flow' I5.ours I5.theirs
    [ -z "$views" ] || report "I5 COPY of $count rows" 'view of pg_ivm' I5.ours I5.views
}

# Events arrive one by one.
case_I6()
{
    local round side clients
    local -A opponent=([theirs]='no flow' [views]='view of pg_ivm')
    writers
    for round in $(seq "$rounds"); do
        for clients in 1 8; do
            vacuum
            for side in ours theirs $views; do
                load I6.$clients.$side $side insert.sql $clients
            done
            up_to_date I6.$clients
        done
    done
    for clients in 1 8; do
        for side in theirs $views; do
            report_beside "I6 rows inserted per s, clients: $clients" "${opponent[$side]}" \
                "$(median I6.$clients.ours 1)" "$(median I6.$clients.$side 1)"
        done
    done
}
