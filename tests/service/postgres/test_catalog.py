"""Catalog queries: those recorded of real clients are answered; nothing but listed functions runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import discreet as dp
from discreet.service.postgres.catalog import CatalogSession
from discreet.service.postgres.questions import Asked, Studied, study
from discreet.service.postgres.refusals import WireError

RECORDED = json.loads(
    (Path(__file__).parents[2] / "fixtures/postgres_catalog_queries.json").read_text()
)
LEAST_ANSWERED = 0.97


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


def test_recorded_queries_are_answered(ask):
    """Queries of psql, SQLAlchemy with three drivers, pandas, asyncpg and ADBC, as a server logged them."""
    refused = []
    for query in RECORDED:
        found = ask(query["sql"], *query["parameters"])
        if isinstance(found, WireError):
            refused.append((query["client"], found.words))
    assert len(refused) <= (1 - LEAST_ANSWERED) * len(RECORDED), refused


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
