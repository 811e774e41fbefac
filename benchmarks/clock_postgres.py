"""Whether PostgreSQL's time tells one person's value: accepted joins on neighbouring data, and a test of the two laws.

    python benchmarks/clock_postgres.py "host=db dbname=scratch"

Two copies of a table differ in one person's row, so that a condition leaves one row of it or none; the rest of the
question reads a large table. Questions to both copies take turns, and the Kolmogorov-Smirnov test compares their times:
a small p says that the laws differ; the last one, that they differ by more than the 10 ms that are promised
(docs/reference/engine-contract.md). For comparison, the same joins as they would be written without care.
"""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from statistics import median

import psycopg
from scipy.stats import ks_2samp

from clock import beyond
from discreet.data import Category, Integer, People, Schema, Text
from discreet.engines import Postgres
from discreet.engines.sql.store import SqlStore
from discreet.query.algebra.expression import Call, Constant, Field, Function
from discreet.query.algebra.tally import GroupShare, Tally, Term
from discreet.query.algebra.tree import JoinPeople, JoinPublic, Scan, Where

ROWS = 400_000
TURNS = 40
PEOPLE = Schema(
    "people",
    People("uid", max_rows=1),
    {"name": Text(9), "dx": Category(["hiv", "none"]), "code": Integer(0, 10**6)},
)
VISITS = Schema("visits", People("uid", max_rows=2), {"cost": Integer(0, 999)})
CODES = Schema.public_table("codes", {"key": Integer(0, 10**6), "kind": Integer(0, 9)}, key="key")


def load(dsn: str) -> None:
    with psycopg.connect(dsn, autocommit=True) as server:
        for place, dx in (("with_her", "hiv"), ("without", "none")):
            server.execute(f"DROP SCHEMA IF EXISTS {place} CASCADE; CREATE SCHEMA {place}")
            server.execute(
                f"CREATE TABLE {place}.people AS SELECT i AS uid, 'p' || i AS name, 'none' AS dx, i AS code "
                "FROM generate_series(1, 1000) i"
            )
            server.execute(f"INSERT INTO {place}.people VALUES (1001, 'alice', '{dx}', 1001)")
            server.execute(
                f"CREATE TABLE {place}.visits AS SELECT i % 1001 + 1 AS uid, i % 999 AS cost FROM generate_series(1, {ROWS}) i"
            )
            server.execute(
                f"CREATE TABLE {place}.codes AS SELECT i AS key, i % 10 AS kind FROM generate_series(1, {ROWS}) i"
            )
        server.execute("ANALYZE")


def questions() -> dict[str, Tally]:
    her = [
        Call(Function.EQUAL, (Field(name), Constant(value)))
        for name, value in (("name", "alice"), ("dx", "hiv"))
    ]
    found = Where(Scan(PEOPLE), Call(Function.AND, tuple(her)))
    count = (Term(Constant(True), 1, 0, 1),)
    public = JoinPublic(found, CODES, ((Field("code"), "key"),), (("kind", "kind"),), keep=False)
    kept = replace(public, keep=True)
    return {
        "people with people": Tally(
            JoinPeople(found, Scan(VISITS), ()), (), count, GroupShare(1, 2)
        ),
        "people with a public table": Tally(public, (), count, GroupShare(1, 1)),
        "… whose rows are kept": Tally(kept, (Field("kind"),), count, GroupShare(1, 1)),
    }


def engine(dsn: str, place: str, whole: bool) -> Postgres:
    made = Postgres(dsn, tables={name: f"{place}.{name}" for name in ("people", "visits", "codes")})
    dialect = replace(made._store.dialect, whole_joins=whole)  # noqa: SLF001 what no user can choose
    made._store = SqlStore(dialect, made._table, made._fetch)  # noqa: SLF001
    return made


def main(dsn: str) -> None:
    load(dsn)
    print(f"joins of 1,001 people with {ROWS:,} rows, {TURNS} turns each; milliseconds, medians\n")
    print(
        f"  {'':28} {'written':10} {'she is in':>10} {'she is not':>10} {'KS':>6} {'p':>9} {'by > 10 ms, p':>14}"
    )
    for name, tally in questions().items():
        for whole in (False, True):
            engines = [engine(dsn, place, whole) for place in ("with_her", "without")]
            times: list[list[float]] = [[], []]
            for turn in range(TURNS + 2):
                for store, found in zip(engines, times, strict=True):
                    start = time.perf_counter()
                    store.tally(tally)
                    if turn >= 2:
                        found.append(1000 * (time.perf_counter() - start))
            test = ks_2samp(*times)
            print(
                f"  {name:28} {'with care' if whole else 'plainly':10} {median(times[0]):10.1f} {median(times[1]):10.1f} "
                f"{test.statistic:6.2f} {test.pvalue:9.2g} {beyond(*times, 10.0):14.2g}"
            )
            for store in engines:
                store.close()


if __name__ == "__main__":
    main(sys.argv[1])
