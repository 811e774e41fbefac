"""Tools of analysts, each doing what its user does; `python clients.py NAME` prints what it got as JSON.

Every tool lists tables and columns, asks one question twice, asks one with a parameter where it has any,
and asks for rows, which is refused. The arguments come as JSON on the standard input.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import quote

TERMS = "SET discreet.epsilon = '1/10'"
ROWS = "SELECT * FROM people"


def dsn(place):
    return (
        f"host=127.0.0.1 port={place['port']} user=ana dbname=people password={place['token']} "
        "options='-c discreet.epsilon=1/10'"
    )


def url(place, scheme="postgresql", options="?options=-c%20discreet.epsilon%3D1/10"):
    return f"{scheme}://ana:{quote(place['token'])}@127.0.0.1:{place['port']}/people{options}"


def asyncpg(place):
    import asyncpg

    async def ask():
        settings = {"discreet.epsilon": "1/10"}
        line = await asyncpg.connect(url(place, options=""), server_settings=settings)
        columns = await line.fetch(
            "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = $1",
            "public",
        )
        first = await line.fetch(place["sql"])
        again = await line.fetch(place["sql"])
        [counted] = await line.fetchrow(place["counted"].format("$1"), place["age"])
        async with line.transaction():
            # Page by page, as a server-side cursor.
            paged = [row async for row in line.cursor(place["sql"], prefetch=2)]
        try:
            await line.fetch(ROWS)
        except asyncpg.PostgresError as error:
            refusal = f"{error.sqlstate} {error} {error.hint}"
        await line.close()
        assert paged == again
        return {
            "tables": sorted({table for table, _ in columns}),
            "columns": [name for table, name in columns if table == "people"],
            "rows": list(map(list, first)),
            "again": list(map(list, again)),
            "counted": counted,
            "refusal": refusal,
        }

    # A thread of its own: a browser's loop may run in this one.
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(lambda: asyncio.run(ask())).result()


def _dbapi(line, error, place, mark):
    """What every driver by DB-API does."""
    cursor = line.cursor()
    cursor.execute(TERMS)
    cursor.execute("SELECT relname FROM pg_class WHERE relnamespace = 2200")
    tables = [name for (name,) in cursor.fetchall()]
    cursor.execute(f"{ROWS} WHERE 1 = 0")
    columns = [column[0] for column in cursor.description]
    cursor.execute(place["sql"])
    rows = cursor.fetchall()
    cursor.execute(place["counted"].format(mark), (place["age"],))
    [[counted]] = cursor.fetchall()
    refusal = ""
    try:
        cursor.execute(ROWS)
    except error as refused:
        refusal = repr(refused.args) + str(
            getattr(getattr(refused, "diag", ""), "message_hint", "")
        )
    line.rollback()
    cursor.execute(place["sql"])
    again = cursor.fetchall()
    line.close()
    return {
        "tables": tables,
        "columns": columns,
        "rows": list(map(list, rows)),
        "again": list(map(list, again)),
        "counted": counted,
        "refusal": refusal,
    }


def psycopg2(place):
    import psycopg2

    return _dbapi(psycopg2.connect(dsn(place)), psycopg2.Error, place, "%s")


def pg8000(place):
    from pg8000 import dbapi

    line = dbapi.connect("ana", "127.0.0.1", "people", port=place["port"], password=place["token"])
    return _dbapi(line, dbapi.DatabaseError, place, "%s")


def odbc(place, more=""):
    import pyodbc

    line = pyodbc.connect(f"{place['odbc'].strip()};{more}")
    shown = line.cursor()
    tables = [row.table_name for row in shown.tables()]
    columns = [row.column_name for row in shown.columns("people")]
    return _dbapi(line, pyodbc.Error, place, "?") | {"tables": tables, "columns": columns}


def odbc_cursors(place):
    return odbc(place, "UseDeclareFetch=1;Fetch=2;")


def sqlalchemy(place, driver="psycopg"):
    import pandas as pd
    import sqlalchemy as sa

    engine = sa.create_engine(url(place, f"postgresql+{driver}", ""))
    inspector = sa.inspect(engine)
    with engine.connect() as line:
        line.execute(sa.text(TERMS))
        people = sa.Table("people", sa.MetaData(), autoload_with=line)
        tables = inspector.get_table_names()
        assert inspector.get_indexes("people") == []
        frame = pd.read_sql(place["sql"], line)
        assert str(frame.dtypes["n"]) == "int64"
        count = sa.select(sa.func.count().label("n")).where(people.c.age > place["age"])
        counted = line.execute(count).scalar_one()
        # The same question as text with a parameter: an answer that is there already.
        named = sa.text(place["counted"].format(":age"))
        assert int(pd.read_sql(named, line, params={"age": place["age"]})["n"][0]) == counted
        try:
            line.execute(sa.select(people)).all()
        except sa.exc.DBAPIError as error:
            refusal = str(error)
        line.rollback()
        again = pd.read_sql(place["sql"], line)
    engine.dispose()
    return {
        "tables": tables,
        "columns": [column.name for column in people.columns],
        "rows": frame.values.tolist(),
        "again": again.values.tolist(),
        "counted": counted,
        "refusal": refusal,
    }


def sqlalchemy_psycopg2(place):
    return sqlalchemy(place, "psycopg2")


def sqlalchemy_pg8000(place):
    return sqlalchemy(place, "pg8000")


def _polars(place, engine):
    import polars as pl

    found = [pl.read_database_uri(place["sql"], url(place), engine=engine) for _ in range(2)]
    tables = pl.read_database_uri(
        "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'public'",
        url(place),
        engine=engine,
    )
    counted = pl.read_database_uri(place["counted"].format(place["age"]), url(place), engine=engine)
    try:
        pl.read_database_uri(ROWS, url(place), engine=engine)
    except Exception as error:  # noqa: BLE001 of whatever class the tool has
        refusal = str(error)
    return {
        "tables": sorted(set(tables["table_name"])),
        "columns": tables.filter(pl.col("table_name") == "people")["column_name"].to_list(),
        "rows": list(map(list, found[0].rows())),
        "again": list(map(list, found[1].rows())),
        "counted": counted.item(),
        "refusal": refusal,
    }


def polars_adbc(place):
    return _polars(place, "adbc")


def polars_connectorx(place):
    return _polars(place, "connectorx")


def ibis(place):
    import ibis

    line = ibis.postgres.connect(
        host="127.0.0.1", port=place["port"], user="ana", password=place["token"], database="people"
    )
    line.raw_sql(TERMS).close()
    people = line.table("people")
    young = people.filter(people.age < place["age"])
    asked = young.group_by("region").aggregate(n=young.count())
    rows, again = asked.execute(), asked.execute()
    counted = people.filter(people.age > place["age"]).count().execute()
    try:
        people.execute()
    except Exception as error:  # noqa: BLE001 of whatever class the tool has
        refusal = str(error)
    return {
        "tables": line.list_tables(),
        "columns": list(people.columns),
        "rows": rows.values.tolist(),
        "again": again.values.tolist(),
        "counted": int(counted),
        "refusal": refusal,
    }


def jupysql(place):
    from IPython.core.interactiveshell import InteractiveShell

    shell = InteractiveShell.instance()
    shell.run_line_magic("load_ext", "sql")
    shell.run_line_magic("config", "SqlMagic.displaycon = False")
    shell.run_line_magic("sql", url(place, "postgresql+psycopg2"))

    def ask(sql):
        return [list(row) for row in shell.run_cell_magic("sql", "", sql)]

    try:
        ask(ROWS)
        refusal = ""
    except Exception as error:  # noqa: BLE001 of whatever class the tool has
        refusal = str(error)
    columns = shell.run_line_magic("sqlcmd", "columns --table people")
    return {
        "tables": str(shell.run_line_magic("sqlcmd", "tables")),
        "columns": str(columns),
        "rows": ask(place["sql"]),
        "again": ask(place["sql"]),
        "counted": ask(place["counted"].format(place["age"]))[0][0],
        "refusal": refusal,
    }


def dbt(place):
    folder = Path(tempfile.mkdtemp())
    (folder / "dbt_project.yml").write_text(
        "name: census\nversion: '1.0.0'\nconfig-version: 2\nprofile: people\n"
    )
    # As the page has it.
    (folder / "profiles.yml").write_text(place["profile"])
    # libpq adds what is in the environment.
    environment = os.environ | {
        "PGOPTIONS": "-c discreet.epsilon=1/10",
        "PGPASSWORD": place["token"],
        "DO_NOT_TRACK": "1",
        "DBT_SEND_ANONYMOUS_USAGE_STATS": "false",
    }

    def run(*words):
        command = [str(Path(sys.executable).with_name("dbt")), *words]
        command += ["--project-dir", str(folder), "--profiles-dir", str(folder)]
        return subprocess.run(
            command, env=environment, capture_output=True, text=True, check=False, timeout=300
        )

    def show(sql):
        shown = run("--quiet", "show", "--output", "json", "--limit", "5", "--inline", sql)
        assert shown.returncode == 0, shown.stdout + shown.stderr
        return [list(row.values()) for row in json.loads(shown.stdout)["show"]]

    debug = run("debug")
    assert debug.returncode == 0, debug.stdout + debug.stderr
    refused = run("show", "--inline", ROWS)
    return {
        "tables": "people",
        "columns": "age income region",
        "rows": show(place["sql"]),
        "again": show(place["sql"]),
        "counted": show(place["counted"].format(place["age"]))[0][0],
        "refusal": refused.stdout + refused.stderr,
    }


def superset(place):
    """Superset itself, asked as its own pages ask: a server of this process, and its REST interface."""
    import threading

    folder = Path(tempfile.mkdtemp())
    # Made by setup_clients.sh with Superset's own commands; a copy, so that each run begins anew.
    shutil.copy(Path(sys.executable).parents[1] / "superset.db", folder)
    (folder / "superset_config.py").write_text(
        f'SECRET_KEY = "only for this test"\nSQLALCHEMY_DATABASE_URI = "sqlite:///{folder}/superset.db"\n'
        "TALISMAN_ENABLED = False\n"
    )
    os.environ["SUPERSET_CONFIG_PATH"] = str(folder / "superset_config.py")
    from superset.app import create_app
    from werkzeug.serving import make_server

    server = make_server("127.0.0.1", 0, create_app(), threaded=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        return _superset(f"http://127.0.0.1:{server.port}/api/v1", place)
    finally:
        server.shutdown()


def _superset(root, place):
    import requests

    line = requests.Session()

    def call(verb, path, **body):
        reply = line.request(verb, root + path, json=body or None, timeout=120)
        assert reply.status_code < 300, (path, reply.status_code, reply.text)
        return reply.json()

    def ask(sql):
        found = call("POST", "/sqllab/execute/", database_id=database, sql=sql, schema="public")
        return [list(row.values()) for row in found["data"]]

    def chart(dataset, metric, **more):
        asked = {"columns": ["region"], "metrics": [metric], "row_limit": 1000} | more
        context = {
            "datasource": {"id": dataset, "type": "table"},
            "queries": [asked],
            "force": True,
            "result_format": "json",
            "result_type": "full",
        }
        [found] = call("POST", "/chart/data", **context)["result"]
        return sorted([row["region"], row["n"]] for row in found["data"])

    who = {"username": "admin", "password": "admin", "provider": "db"}
    line.headers["Authorization"] = (
        f"Bearer {call('POST', '/security/login', **who)['access_token']}"
    )
    line.headers["X-CSRFToken"] = call("GET", "/security/csrf_token/")["result"]
    line.headers["Referer"] = root
    uri = place["superset"].strip()
    call("POST", "/database/test_connection/", database_name="census", sqlalchemy_uri=uri)
    database = call("POST", "/database/", database_name="census", sqlalchemy_uri=uri)["id"]
    tables = call("GET", f"/database/{database}/tables/?q=(schema_name:public)")["result"]
    people = {"database": database, "schema": "public", "table_name": "people"}
    physical = call("POST", "/dataset/", **people)["id"]
    columns = call("GET", f"/dataset/{physical}")["result"]["columns"]
    call("GET", f"/datasource/table/{physical}/column/region/values/")
    # A chart with a filter, opened twice; the editor's text is the same question.
    count = {"expressionType": "SQL", "sqlExpression": "COUNT(*)", "label": "n"}
    young = [{"col": "age", "op": "<", "val": place["age"]}]
    rows = chart(physical, count, filters=young)
    again = chart(physical, count, filters=young, orderby=[[count, False]])
    assert sorted(ask(place["sql"])) == rows
    # A virtual data set: Superset asks for one row of it to learn its columns.
    virtual = call("POST", "/dataset/", **people | {"table_name": "young", "sql": place["sql"]})
    total = {"expressionType": "SQL", "sqlExpression": "SUM(n)", "label": "n"}
    assert chart(virtual["id"], total) == rows
    counted = ask(place["counted"].format(place["age"]))[0][0]
    refused = {"database_id": database, "sql": ROWS, "schema": "public"}
    refusal = line.post(root + "/sqllab/execute/", json=refused, timeout=120).text
    return {
        "tables": [table["value"] for table in tables],
        "columns": [column["column_name"] for column in columns],
        "rows": rows,
        "again": again,
        "counted": counted,
        "refusal": refusal,
    }


R = """
library(DBI); library(RPostgreSQL)
line <- dbConnect(PostgreSQL(), host = "127.0.0.1", port = as.integer(Sys.getenv("PORT")), dbname = "people",
                  user = "ana", password = Sys.getenv("TOKEN"))
invisible(dbGetQuery(line, "SET discreet.epsilon = '1/10'"))
show <- function(name, values) cat(name, paste(values, collapse = " "), "\\n")
show("tables", dbListTables(line))
show("columns", dbListFields(line, "people"))
first <- dbGetQuery(line, Sys.getenv("ASKED")); show("keys", first$region); show("rows", first$n)
show("again", dbGetQuery(line, Sys.getenv("ASKED"))$n)
show("counted", dbGetQuery(line, Sys.getenv("COUNTED"), list(as.integer(Sys.getenv("AGE"))))$n)
refused <- tryCatch(dbSendQuery(line, "SELECT * FROM people"), error = function(e) conditionMessage(e))
show("refusal", refused)
"""


def r(place):
    environment = os.environ | {
        "PORT": str(place["port"]),
        "TOKEN": place["token"],
        "ASKED": place["sql"],
        "COUNTED": place["counted"].format("$1"),
        "AGE": str(place["age"]),
    }
    ended = subprocess.run(
        ["Rscript", "-e", R], env=environment, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr
    told = dict(line.split(" ", 1) for line in ended.stdout.splitlines() if " " in line)
    numbers = {name: list(map(int, told[name].split())) for name in ("rows", "again")}
    keys = told["keys"].split()
    return {
        "tables": told["tables"],
        "columns": told["columns"],
        "rows": list(map(list, zip(keys, numbers["rows"], strict=True))),
        "again": list(map(list, zip(keys, numbers["again"], strict=True))),
        "counted": int(told["counted"]),
        "refusal": ended.stderr + told["refusal"],
    }


if __name__ == "__main__":
    found = globals()[sys.argv[1]](json.load(sys.stdin))
    sys.__stdout__.write("\n" + json.dumps(found, default=str) + "\n")
