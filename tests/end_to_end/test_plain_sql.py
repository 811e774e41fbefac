"""With a budget beyond all noise every question equals plain SQL on that same store."""

from __future__ import annotations

from contextlib import closing

import pytest

from end_to_end.cases import CHOSEN, JOINS, KEYS, RELATIONS, STATISTICS
from end_to_end.compare import check
from end_to_end.functions import FUNCTIONS
from end_to_end.stores import duckdb_beside, memory_beside, postgres_beside, spark_beside
from end_to_end.world import SCHEMAS, world
from support.profile import DEEP

CASES = [*STATISTICS, *KEYS, *RELATIONS, *JOINS, *CHOSEN, *FUNCTIONS]
BY_NAME = {case.name: case for case in CASES}


@pytest.fixture(scope="module")
def tables():
    return world()


@pytest.fixture(scope="module")
def duckdb(tables):
    with closing(duckdb_beside(tables)) as beside:
        yield beside


@pytest.fixture(scope="module")
def memory(tables):
    with closing(memory_beside(tables)) as beside:
        yield beside


@pytest.fixture(scope="module")
def postgres(tables, postgres_dsn):
    with closing(postgres_beside(tables, postgres_dsn)) as beside:
        yield beside


@pytest.fixture(scope="module")
def spark(tables, spark_session):
    with closing(spark_beside(tables, spark_session)) as beside:
        yield beside


def test_names_are_unique_and_every_tolerance_has_its_reason():
    assert len(BY_NAME) == len(CASES) >= 90
    assert all(bool(case.within) == bool(case.why) for case in CASES)


HALVES = [[case.name for case in [*STATISTICS, *KEYS, *CHOSEN][start::2]] for start in (0, 1)]
ROWWISE = [case.name for case in FUNCTIONS]
"""What DuckDB alone is asked outside deep, since tests/engines/test_functions.py holds functions of a row against their
meaning on every store, value by value; and of statistics, keys and choices each other store is asked every other one.
How rows meet is asked of all in full."""


def asked_but(*later):
    """Return every case; those to be asked in deep only are marked so."""
    return pytest.mark.parametrize(
        "name", [pytest.param(name, marks=[pytest.mark.slow] * any(name in some for some in later)) for name in BY_NAME]
    )


@asked_but()
def test_duckdb(name, duckdb):
    check(BY_NAME[name], duckdb, SCHEMAS)


@pytest.mark.untraced
@asked_but(HALVES[0], ROWWISE)
def test_memory(name, memory):
    check(BY_NAME[name], memory, SCHEMAS)


@pytest.mark.untraced
@asked_but(HALVES[1], ROWWISE)
def test_postgres(name, postgres):
    check(BY_NAME[name], postgres, SCHEMAS)


@pytest.mark.untraced
@pytest.mark.filterwarnings("ignore")
@asked_but(HALVES[1], ROWWISE)
def test_spark(name, spark, duckdb):
    """Outside deep, plain SQL is run by DuckDB: it has said the same as Spark, and Spark takes long to say it."""
    check(BY_NAME[name], spark, SCHEMAS, None if DEEP else duckdb)


ROUNDED = ("roots of rows", "division by a column", "extremes and means of each person")
"""Each row's value is rounded before it is added up: intervals count that, so plain SQL's value lies inside."""


@pytest.mark.parametrize("seed", range(11, 19))
def test_sums_of_rounded_values_on_other_data(seed):
    with closing(duckdb_beside(world(seed))) as beside:
        for name in ROUNDED:
            check(BY_NAME[name], beside, SCHEMAS)
