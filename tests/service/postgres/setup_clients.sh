#!/bin/sh
# Install tools of analysts, each into an environment of its own: setup_clients.sh FOLDER NAME
#   prints the interpreter that has it; fails where it cannot be installed
# ODBC's driver and R are Debian's packages, installed where we are root.
set -eu

folder=$1/$2
debian() {
    [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || return 1
    DEBIAN_FRONTEND=noninteractive timeout 300 apt-get install -q -y --no-install-recommends "$@" >&2
}
case $2 in
drivers)
    packages="psycopg2-binary==2.9.13 pg8000==1.31.6 sqlalchemy==2.1.8 pandas==3.1.1 polars==2.1.0
        pyarrow==26.0.1 adbc-driver-postgresql==1.13.0 connectorx==0.4.6 pyodbc==5.3.0"
    # Without the driver of ODBC or without R their tests are skipped, the others are run.
    [ -n "$(find /usr/lib -name psqlodbcw.so 2>/dev/null)" ] || debian odbc-postgresql unixodbc || true
    command -v Rscript >/dev/null || debian r-base-core r-cran-dbi r-cran-rpostgresql || true
    ;;
ibis) packages="ibis-framework[postgres]==12.0.0 packaging" ;;
jupysql) packages="jupysql==0.11.1 psycopg2-binary==2.9.13 pandas==3.1.1 ipython==9.18.1" ;;
dbt) packages="dbt-core==1.10.23 dbt-postgres==1.11.0" ;;
superset)
    # Its own lower bounds are too wide: with flask-caching 2.5 it does not start, and rich is not named.
    packages="apache-superset==6.1.0 psycopg2-binary==2.9.13 flask-caching==2.3.1 rich==15.0.0 cachetools==8.0.0"
    ;;
*) exit 2 ;;
esac
if [ ! -e "$folder/ready" ]; then
    python3.11 -m venv "$folder" >&2
    # shellcheck disable=SC2086
    timeout 600 "$folder/bin/python" -m pip install --quiet --disable-pip-version-check $packages >&2
    if [ "$2" = superset ]; then
        # What an operator does once, at its own pace: the tables of the program, its roles, a first user.
        printf 'SECRET_KEY = "only for this test"\nSQLALCHEMY_DATABASE_URI = "sqlite:///%s"\n' \
            "$folder/superset.db" >"$folder/superset_config.py"
        export SUPERSET_CONFIG_PATH="$folder/superset_config.py" FLASK_APP=superset
        "$folder/bin/superset" db upgrade >&2
        "$folder/bin/superset" fab create-admin --username admin --firstname A --lastname B \
            --email admin@example.org --password admin >&2
        "$folder/bin/superset" init >&2
    fi
    touch "$folder/ready"
fi
echo "$folder/bin/python"
