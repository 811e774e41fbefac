"""Models and synthetic tables on every store: the same whole numbers before noise, and one charge for the whole verb."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import discreet as dp
from discreet import learn
from discreet.learn.coding.design import design_of
from discreet.learn.coding.label import amount_of, classes_of
from discreet.learn.store.source import Stored
from discreet.query.algebra.tree import Scan
from discreet.query.bounds.relation_facts import columns_of
from discreet.synthetic.measure import exact_tables
from discreet.synthetic.request import read_request
from engines.tables import Table, in_duckdb, in_memory, in_postgres, in_spark
from synthetic.cases import COLUMNS, people

TYPES = {
    "age": "integer", "income": "double", "joined": "date", "seen": "timestamp", "day": "date", "height": "double",
    "sex": "text", "works": "boolean", "grade": "integer", "id": "bigint",
}  # fmt: skip
PEOPLE = Table(TYPES, [tuple(row[name] for name in TYPES) for row in people(200)])
ROWS = dp.Schema("people", dp.Rows(), COLUMNS, size=200)
SHARED = dp.Schema("people", dp.People("id", max_rows=3), COLUMNS, size=200)


@pytest.fixture(params=["duckdb", "postgres", "spark"])
def store(request):
    """A store that holds the people."""
    tables = {"people": PEOPLE}
    if request.param == "duckdb":
        engine = in_duckdb(tables)
    elif request.param == "postgres":
        engine = in_postgres(tables, request.getfixturevalue("postgres_dsn"))
    else:
        engine = in_spark(tables, request.getfixturevalue("spark_session"))
    yield engine
    getattr(engine, "close", lambda: None)()


def exact(engine, schema):
    """Return all that models and tables read of a store: moments, sums by class, coded rows and tables of pairs."""
    domains = columns_of(Scan(schema))
    stored = Stored(engine, Scan(schema))
    amount, grade = amount_of("income", domains["income"]), classes_of("grade", domains["grade"])
    design = design_of({name: domains[name] for name in ("age", "height", "sex", "works")})
    rows, _ = stored.rows(design, amount)
    moments = (
        *stored.moments(design, amount, 2048),
        *rows.gram(np.zeros((len(rows.weights), 0), dtype=np.int64)),
    )
    return (*moments, stored.sums(design, grade, squares=True), np.sort(rows.weights))


@cache
def wanted(schema):
    """Return what memory gives, which every store is compared with."""
    return exact(in_memory({"people": PEOPLE}), schema)


REQUEST, PAIRS = read_request(Scan(ROWS)), [(0, 1), (2, 3), (4, 5), (6, 7), (1, 8)]


@cache
def wanted_tables():
    return exact_tables(REQUEST, PAIRS, in_memory({"people": PEOPLE}))


@pytest.mark.parametrize("schema", [ROWS, SHARED], ids=["rows", "people"])
def test_a_store_gives_the_whole_numbers_that_memory_gives(store, schema):
    """What models read is the same in every store, people's shares included."""
    pairs = zip(exact(store, schema), wanted(schema), strict=True)
    assert all((one == two).all() for one, two in pairs)


def test_tables_of_every_kind_of_column_are_the_same(store):
    """Numbers, dates, times, lists and NULLs fall into the same cells in every store."""
    one, two = exact_tables(REQUEST, PAIRS, store), wanted_tables()
    assert all((one[places] == two[places]).all() for places in two)


def test_one_charge_for_a_model_and_one_for_a_table(store):
    """Both verbs end on every store with what they owe: two charges, and free again."""
    ledger = dp.open_ledger(":memory:", dp.ApproxDP(30, "1e-5"))
    curator = dp.Curator(store, [ROWS], ledger)
    spend = dp.ApproxDP(10, "1e-6")
    for _ in range(2):
        model = curator.learn(
            "SELECT age, height, income FROM people", learn.LinearRegression(target="income"), spend
        )
        made = curator.synthesize("people", spend, columns=["sex", "works", "grade"])
    assert len(model.predict({"age": [30], "height": [1.7]})) == 1
    assert made.table("sex", "works").values.sum() == pytest.approx(200, abs=60)
    assert [entry.kind for entry in ledger.history().entries].count("charge") == 2
