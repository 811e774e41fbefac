"""Catalog queries: those recorded of real clients are answered; nothing but listed functions runs."""

from __future__ import annotations

import json
from pathlib import Path

import psycopg
import pytest

import discreet as dp
from discreet.service.postgres.catalog import CatalogSession
from discreet.service.postgres.questions import Asked, Studied, study
from discreet.service.postgres.refusals import WireError
from discreet.service.postgres.types import encode

RECORDED = json.loads(
    (Path(__file__).parents[2] / "fixtures/postgres_catalog_queries.json").read_text()
)
ON_PURPOSE = {
    r"psql \l": "one database, the data set",
    r"psql \l+": "one database, the data set",
    r"psql \du": "one role, which owns the tables",
    r"psql \dt+": "nothing is counted, sizes neither",
    r"psql \dn+": "no access rights and descriptions",
    r"psql \dx": "no extensions",
    r"psql \dL": "no languages",
    r"psql \dC": "no casts but those of questions",
    r"psql \dF": "no text search",
    r"psql \dconfig search_path": "settings are told by SHOW",
    "'toast.' || x": "no options of tables: NULL for an empty text",
    "FROM pg_catalog.pg_database": "one database, the data set",
    "FROM pg_catalog.pg_opclass": "no indexes",
    "version()": "a release and a machine of its own",
    "current_setting('jit')": "no compiler",
    "relacl FROM pg_class LIMIT 1": "which row comes first is open",
    "select $1::int": "a value in place of a parameter has no name",
    "attrelid, attnum": "columns of declared tables only",
    "typreceive::TEXT != 'array_recv'": "no row types of system tables",
}
"""Queries with other rows than PostgreSQL's: a client's command or a part of the text, and why."""
LEAST_ANSWERED = 0.98


@pytest.fixture(scope="module")
def curator():
    people = dp.Schema(
        "people",
        dp.Rows(),
        {
            "age": dp.Integer(0, 120),
            "income": dp.Real(0, 100_000, step=1),
            "region": dp.Category(["N", "S"]),
        },
    )
    ledger = dp.open_ledger(":memory:", dp.PureDP(3))
    return dp.Curator(dp.Memory({"people": []}), [people], ledger)


@pytest.fixture(scope="module")
def ask(curator):
    def run(sql, *parameters):
        values = tuple(None if value is None else value.encode() for value in parameters)
        session = CatalogSession("ana", "people", {})
        return study(curator, Asked(sql, values=values, session=session))

    return run


@pytest.fixture(scope="module")
def recorded(curator):
    """What queries of psql, SQLAlchemy with three drivers, pandas, asyncpg and ADBC get here."""
    session = CatalogSession("ana", "people", {})
    found = []
    for query in RECORDED:
        values = tuple(value.encode() for value in query["parameters"])
        found.append((query, study(curator, Asked(query["sql"], values=values, session=session))))
    return found


def test_recorded_queries_are_answered(recorded):
    """A name that PostgreSQL does not know either is rightly refused."""
    refused = []
    for query, found in recorded:
        if isinstance(found, WireError) and found.sqlstate != "42883":
            refused.append((query["client"], found.words))
    assert len(refused) <= (1 - LEAST_ANSWERED) * len(RECORDED), refused


def test_rows_are_those_of_postgresql(recorded, postgres_dsn):
    """Names and rows of a real, empty PostgreSQL with the same table, but for what differs on purpose."""
    differ, used = [], set()
    with psycopg.connect(postgres_dsn, autocommit=True) as line:
        # A database of its own: other tests have tables in theirs.
        line.execute("DROP DATABASE IF EXISTS wired")
        line.execute("CREATE DATABASE wired")
    own = psycopg.conninfo.make_conninfo(postgres_dsn, dbname="wired")
    with psycopg.connect(own, autocommit=True) as line:
        line.execute("CREATE TABLE people (age bigint, income double precision, region text)")
        [[oid]] = line.execute("SELECT 'people'::regclass::oid").fetchall()
        owner = line.info.user
        for query, found in recorded:
            real = _real(line, query, oid, owner)
            if real == _here(found):
                continue
            client, sql = query["client"], query["sql"]
            reason = {key for key in ON_PURPOSE if key == client or key in sql}
            used |= reason
            if not reason:
                differ.append((client, sql, real, _here(found)))
    assert differ == []
    # A reason that no query needs is a claim without a proof.
    assert used == set(ON_PURPOSE)


def _real(line, query, oid, owner):
    """Names and sorted rows as PostgreSQL shows them: number of the table and owner as here."""
    cursor = psycopg.RawCursor(line)
    try:
        cursor.execute(query["sql"].replace("'16384'", f"'{oid}'"), query["parameters"] or None)
    except psycopg.errors.UndefinedFunction:
        return "42883"
    shown = []
    for row in range(cursor.pgresult.ntuples):
        values = [cursor.pgresult.get_value(row, place) for place in range(len(cursor.description))]
        renamed = str(values).replace(str(oid), "16384").replace(owner, "discreet")
        shown.append(renamed.replace(line.info.dbname, "people"))
    return [column.name for column in cursor.description], sorted(shown)


def _here(found):
    if isinstance(found, WireError):
        return found.sqlstate
    shown = []
    for row in found.rows:
        pairs = zip(row, found.columns, strict=True)
        shown.append(str([encode(value, column.oid, 0) for value, column in pairs]))
    return [column.name for column in found.columns], sorted(shown)


def test_tables_and_columns_follow_from_the_schema(ask):
    sql = (
        "SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute "
        "WHERE attrelid = 'people'::regclass ORDER BY attnum"
    )
    assert ask(sql).rows == (("age", "bigint"), ("income", "double precision"), ("region", "text"))
    sizes = ask("SELECT relname, reltuples FROM pg_class WHERE relnamespace = 2200")
    assert sizes.rows == (("people", -1.0),)
    names = ask("SELECT current_user, current_database(), 1, 'people'::regclass::text AS t")
    assert [column.name for column in names.columns] == [
        *("current_user", "current_database", "?column?", "t")
    ]
    assert names.rows == (("ana", "people", 1, "people"),)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT pg_read_file('/etc/passwd')",
        "SELECT pg_sleep(100)",
        "SELECT * FROM read_csv('/etc/passwd')",
        "SELECT * FROM read_text('/etc/passwd')",
        "SELECT * FROM duckdb_settings()",
        "SELECT * FROM duckdb_secrets()",
        "SELECT getenv('HOME')",
        "SELECT * FROM '/etc/passwd'",
        "SELECT * FROM sqlite_master",
        "SELECT relname FROM pg_class, people",
        "SELECT current_setting('duckdb_threads')",
        "SELECT nextval('x')",
        "SELECT 'nix'::regproc",
    ],
)
def test_only_listed_functions_run(ask, sql):
    try:
        found = ask(sql)
    except dp.InvalidArgument:
        return
    assert isinstance(found, WireError)


def test_describing_needs_no_values(curator):
    sql = "SELECT relname FROM pg_class WHERE oid = $1::oid AND relkind = $2"
    found = study(curator, Asked(sql, values=None))
    assert isinstance(found, Studied) and len(found.parameters) == 2
    missing = study(curator, Asked(sql, values=()))
    assert isinstance(missing, WireError) and missing.sqlstate == "42P02"
