#!/bin/sh
# Start a throw-away PostgreSQL in a directory, on a Unix socket only; or stop it.
#   setup_postgres.sh install        install Debian's server if it is missing and we are root
#   setup_postgres.sh start DIR      prints the connection string
#   setup_postgres.sh stop DIR
#   setup_postgres.sh watch DIR      when its input ends, stops the server and removes DIR
# initdb refuses to run as root, so root becomes the user postgres.
set -eu

bin() {
    for dir in $(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -Vr) "$(dirname "$(command -v initdb || echo /none/x)")"; do
        if [ -x "$dir/initdb" ]; then echo "$dir"; return; fi
    done
    return 1
}

as_server() {
    if [ "$(id -u)" = 0 ]; then setpriv --reuid=postgres --regid=postgres --init-groups -- "$@"; else "$@"; fi
}

case "$1" in
install)
    bin >/dev/null && exit 0
    [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || { echo "no PostgreSQL server, and not root on Debian" >&2; exit 1; }
    apt-get update -q >&2
    DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends postgresql >&2
    ;;
start)
    tools=$(bin)
    mkdir -p "$2"
    if [ "$(id -u)" = 0 ]; then chown postgres "$2"; fi
    chmod 700 "$2"
    cd "$2"
    as_server "$tools/initdb" -D "$2/data" -U tester --auth=trust --encoding=UTF8 --locale=C.UTF-8 --no-sync >"$2/initdb.log"
    as_server "$tools/pg_ctl" -D "$2/data" -l "$2/server.log" -w -o \
        "-c listen_addresses='' -c unix_socket_directories='$2' -c fsync=off -c synchronous_commit=off" start >/dev/null
    chmod 755 "$2"
    echo "host=$2 user=tester dbname=postgres"
    ;;
stop)
    cd /
    as_server "$(bin)/pg_ctl" -D "$2/data" -m immediate -w stop >/dev/null
    ;;
watch)
    cat >/dev/null
    [ ! -e "$2/data/postmaster.pid" ] || "$0" stop "$2"
    cd /
    rm -rf "$2"
    ;;
*)
    echo "usage: $0 install | start DIR | stop DIR | watch DIR" >&2
    exit 2
    ;;
esac
