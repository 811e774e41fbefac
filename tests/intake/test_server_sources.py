"""Neighbours in tables of servers: one hostile cell changes neither a status, a text, a plan nor another total.

Every type that PostgreSQL and Spark store, read by every rule of `intake.sources`, in place and after `prepare`.
"""

from __future__ import annotations

import re
from datetime import date, datetime
from decimal import Decimal

import psycopg
import pytest

import discreet as dp
from discreet.query.algebra.expression import Field
from discreet.query.algebra.tally import Free, Tally
from discreet.query.algebra.tree import Scan
from intake.sources import ONE, PLAIN, RULES, readable
from support.profile import DEEP

POSTGRES = {
    "text": ("'1'", ("'x'", "''", "repeat('9', 400)", "'1e400'", "E'a\\nb'", "NULL")),
    "varchar(9)": ("'1'", ("'Ж'", "NULL")),
    "char(3)": ("'1'", ("'   '", "NULL")),
    "name": ("'1'", ("'NaN'", "NULL")),
    "smallint": ("1", ("-32768", "NULL")),
    "integer": ("1", ("2147483647", "NULL")),
    "bigint": ("1", ("-9223372036854775808", "NULL")),
    "numeric": ("1", ("'NaN'", "'Infinity'", "1e40000", "1e-16000", "NULL")),
    "numeric(9, 2)": ("1", ("'NaN'", "9999999.99", "NULL")),
    "real": ("1", ("'NaN'", "'-Infinity'", "1e-45", "NULL")),
    "double precision": ("1", ("'NaN'", "'Infinity'", "1e308", "'-0'", "NULL")),
    "boolean": ("true", ("false", "NULL")),
    "date": ("'2000-01-01'", ("'infinity'", "'5874897-12-31'", "'4714-11-24 BC'", "NULL")),
    "timestamp": ("'2000-01-01'", ("'-infinity'", "'294276-12-31'", "'4714-11-24 BC'", "NULL")),
    "timestamptz": ("'2000-01-01Z'", ("'infinity'", "'294276-12-31Z'", "NULL")),
    "uuid": ("'00000000-0000-0000-0000-000000000001'", ("NULL",)),
    "mood": ("'1'", ("'a'", "NULL")),
    "small": ("1", ("9", "NULL")),
    "bytea": ("'1'", ("'\\xff'", "NULL")),
    "bit(4)": ("'0001'", ("NULL",)),
    "time": ("'10:00'", ("'24:00'", "NULL")),
    "interval": ("'1 day'", ("'178000000 years'", "NULL")),
    "money": ("1", ("'-92233720368547758.08'", "NULL")),
    "json": ("'1'", ("'{\"a\": 1}'", "NULL")),
    "jsonb": ("'1'", ("'[]'", "NULL")),
    "xml": ("'<a/>'", ("NULL",)),
    "point": ("'(1, 1)'", ("'(NaN, 1)'", "NULL")),
    "inet": ("'127.0.0.1'", ("'::/0'", "NULL")),
    "oid": ("1", ("4294967295", "NULL")),
    "int4range": ("'[1, 2)'", ("'empty'", "NULL")),
    "tsvector": ("'1'", ("''", "NULL")),
    "integer[]": ("'{1}'", ("'{}'", "NULL")),
}
"""Types of PostgreSQL: the plain cell and the hostile ones, as SQL."""
SPARK = {
    "string": ("1", ("x", "", "9" * 60, "1e400", "a\nb", None)),
    "boolean": (True, (False, None)),
    "tinyint": (1, (-128, None)),
    "smallint": (1, (32767, None)),
    "int": (1, (-(2**31), None)),
    "bigint": (1, (2**63 - 1, None)),
    "float": (1.0, (float("nan"), float("inf"), None)),
    "double": (1.0, (float("nan"), float("-inf"), 1e308, None)),
    "decimal(38, 0)": (Decimal(1), (Decimal(10**38 - 1), None)),
    "decimal(9, 2)": (Decimal(1), (Decimal("-9999999.99"), None)),
    "date": (date(2000, 1, 1), (date(9999, 12, 31), date(1, 1, 1), None)),
    "timestamp": (datetime(2000, 1, 1), (datetime(9998, 12, 31), datetime(1, 1, 3), None)),
    "timestamp_ntz": (datetime(2000, 1, 1), (datetime(9999, 12, 31), datetime(1, 1, 1), None)),
    "binary": (b"1", (b"\xff", None)),
    "array<int>": ([1], ([], None)),
    "map<string, int>": ({"a": 1}, ({}, None)),
    "struct<a: int>": ((1,), ((None,), None)),
}
"""Types of Spark: the plain cell and the hostile ones."""
KEPT = ("string", "double", "timestamp")


def plan_without_estimates(text):
    """A plan without the numbers that a server estimates, and without the ids of its columns."""
    return re.sub(r"\(cost=[^)]*\)|#\d+|\[id=[^]]*\]|plan_id=\d+|\d+", "", text)


def seen(engine, explain_plan, home):
    """What can be seen by each rule, in place and prepared: status, totals, text and plan."""
    schema, found = readable(engine, RULES)
    if schema is None:
        return found
    ways = {"library": engine}
    if home is not None:
        ways["prepared"] = engine.prepare([schema], home)
    for way, asked in ways.items():
        for name in schema.columns:
            tally = Tally(Scan(schema), (Field(name),), (ONE,), Free())
            text = asked.explain(tally)
            plan = plan_without_estimates(explain_plan(text))
            found[name, way] = dict(asked.tally(tally)), text, plan
        if way != "library":
            asked.close()
    return found


def compare(plain, hostile):
    """The same keys, texts, plans and refusals; one count more, by one."""
    assert hostile.keys() == plain.keys()
    for way, (totals, text, plan) in plain.items():
        found, own_text, own_plan = hostile[way]
        assert (own_text, own_plan) == (text, plan), way
        if isinstance(totals, str):
            assert found == totals, way
            continue
        more = {
            key: found.get(key, (0,))[0] - totals.get(key, (0,))[0] for key in {*found, *totals}
        }
        assert [count for count in more.values() if count] == [1], (way, found, totals)
        assert sum(count for (count,) in totals.values()) == PLAIN, way
    return len(plain)


@pytest.fixture
def server(postgres_dsn):
    with psycopg.connect(postgres_dsn, autocommit=True) as connection:
        connection.execute("DROP SCHEMA IF EXISTS cells CASCADE; CREATE SCHEMA cells")
        connection.execute("CREATE TYPE cells.mood AS ENUM ('1', 'a')")
        connection.execute("CREATE DOMAIN cells.small AS integer CHECK (VALUE < 10)")
        connection.execute("SET search_path = cells")
        yield connection
        connection.execute("DROP SCHEMA cells CASCADE; DROP SCHEMA IF EXISTS kept CASCADE")


def in_postgres(server, dsn, case, cells):
    """What is seen of a table whose columns all have one type."""
    server.execute("DROP SCHEMA IF EXISTS kept CASCADE; CREATE SCHEMA kept; DROP TABLE IF EXISTS t")
    columns = ", ".join(f'"{name}" {case}' for name in RULES)
    server.execute(f"CREATE TABLE t ({columns})")
    plain = POSTGRES[case][0]
    rows = []
    for cell in [plain] * PLAIN + list(cells):
        rows.append(", ".join([f"({cell})::{case}"] * len(RULES)))
    server.execute(f"INSERT INTO t VALUES ({'), ('.join(rows)})")
    # As a server does by itself after a while: its choices may then rest on what cells hold.
    server.execute("ANALYZE t")

    def explain_plan(sql):
        return "\n".join(line for (line,) in server.execute(f"EXPLAIN {sql}").fetchall())

    with dp.Postgres(dsn, tables={"t": "cells.t"}) as engine:
        return seen(engine, explain_plan, "kept" if DEEP else None)


@pytest.mark.parametrize("case", POSTGRES if DEEP else list(POSTGRES)[::3])
def test_postgres(server, postgres_dsn, case):
    plain = in_postgres(server, postgres_dsn, case, ())
    assert len(plain) >= len(RULES)
    cells = POSTGRES[case][1]
    for cell in cells if DEEP else cells[:1]:
        compare(plain, in_postgres(server, postgres_dsn, case, (cell,)))


def in_spark(session, case, cells):
    """What is seen of a frame whose columns all have one type; prepared for some types only, since it is slow."""
    home = "kept" if DEEP and case in KEPT else None
    session.sql("CREATE DATABASE IF NOT EXISTS kept")
    plain = SPARK[case][0]
    columns = ", ".join(f"`{name}` {case}" for name in RULES)
    rows = [(cell,) * len(RULES) for cell in [plain] * PLAIN + list(cells)]
    frame = session.createDataFrame(rows, columns)
    with dp.Spark(session, {"t": frame}) as engine:
        found = seen(engine, lambda _: "", home)
    session.sql("DROP DATABASE IF EXISTS kept CASCADE")
    return found


@pytest.mark.parametrize("case", SPARK if DEEP else ["string", "double"])
def test_spark(spark_session, case):
    plain = in_spark(spark_session, case, ())
    assert len(plain) >= len(RULES)
    cells = SPARK[case][1]
    for cell in cells if DEEP else cells[:1]:
        compare(plain, in_spark(spark_session, case, (cell,)))
