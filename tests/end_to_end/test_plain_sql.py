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


@pytest.mark.parametrize("name", BY_NAME)
def test_duckdb(name, duckdb):
    check(BY_NAME[name], duckdb, SCHEMAS)


@pytest.mark.untraced
@pytest.mark.parametrize("name", BY_NAME)
def test_memory(name, memory):
    check(BY_NAME[name], memory, SCHEMAS)


@pytest.mark.untraced
@pytest.mark.parametrize("name", BY_NAME)
def test_postgres(name, postgres):
    check(BY_NAME[name], postgres, SCHEMAS)


LATER = {case.name for case in [*FUNCTIONS, *STATISTICS[1::2], *KEYS[1::2], *CHOSEN[1::2]]}
"""What Spark is asked in deep only: functions of a row, which tests/engines/test_functions.py holds against their meaning
on Spark too, value by value, and every other statistic, key and choice; how rows meet is asked in full."""


@pytest.mark.untraced
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [pytest.param(n, marks=[pytest.mark.slow] * (n in LATER)) for n in BY_NAME])
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
