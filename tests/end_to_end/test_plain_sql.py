"""With a budget beyond all noise every question equals plain SQL on that same store."""

from __future__ import annotations

from contextlib import closing

import pytest

from end_to_end.cases import CHOSEN, JOINS, KEYS, RELATIONS, STATISTICS, WRITTEN
from end_to_end.compare import check, plan
from end_to_end.functions import FUNCTIONS
from end_to_end.stores import duckdb_beside, memory_beside, postgres_beside, spark_beside
from end_to_end.world import SCHEMAS, world
from support.profile import DEEP

CASES = [*STATISTICS, *KEYS, *RELATIONS, *JOINS, *CHOSEN, *WRITTEN, *FUNCTIONS]
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


@pytest.fixture
def planned(name, duckdb):
    """The plan that all stores share, made here since fixtures are traced whoever asks first."""
    return plan(BY_NAME[name].sql, duckdb, SCHEMAS, BY_NAME[name].spend)


def share_of(place, count, *groups):
    """Return the names of every `count`-th case of some groups."""
    return {case.name for case in [case for group in groups for case in group][place::count]}


FORMS, MEETING = (STATISTICS, KEYS, CHOSEN, WRITTEN), (RELATIONS, JOINS)
ASKED = {
    "memory": share_of(0, 3, *FORMS) | share_of(0, 1, *MEETING),
    "postgres": share_of(1, 3, *FORMS) | share_of(0, 1, *MEETING),
    "spark": share_of(2, 3, *FORMS) | share_of(0, 2, *MEETING),
}
"""Outside deep DuckDB is asked all, and the others take turns with statistics, keys and choices; how rows meet is asked
of all, of Spark every other one. Functions of a row are held against their meaning on every store, value by value, by
tests/engines/test_functions.py."""


def asked_of(store):
    """Return every case; those that this store is asked in deep only are marked so."""
    return pytest.mark.parametrize(
        "name",
        [
            pytest.param(name, marks=[] if name in ASKED[store] else [pytest.mark.slow])
            for name in BY_NAME
        ],
    )


@pytest.mark.usefixtures("planned")
@pytest.mark.parametrize("name", BY_NAME)
def test_duckdb(name, duckdb):
    check(BY_NAME[name], duckdb, SCHEMAS)


@pytest.mark.untraced
@pytest.mark.usefixtures("planned")
@asked_of("memory")
def test_memory(name, memory):
    check(BY_NAME[name], memory, SCHEMAS)


@pytest.mark.untraced
@pytest.mark.usefixtures("planned")
@asked_of("postgres")
def test_postgres(name, postgres):
    check(BY_NAME[name], postgres, SCHEMAS)


@pytest.mark.untraced
@pytest.mark.usefixtures("planned")
@pytest.mark.filterwarnings("ignore")
@asked_of("spark")
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
