"""Random tallies over random hostile tables: the same exact integers as in memory, on every engine, and never an error."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engines.hostile import database, tally
from engines.tables import in_duckdb, in_memory, in_postgres, in_spark, same_totals
from support.profile import DEEP, examples

EASY = [
    HealthCheck.too_slow,
    HealthCheck.function_scoped_fixture,
    HealthCheck.data_too_large,
    HealthCheck.filter_too_much,
]


@st.composite
def cases(draw):
    tables, schemas = draw(database())
    return tables, [draw(tally(schemas)) for _ in range(3)]


def agree(engine, memory, tallies):
    for asked in tallies:
        same_totals(engine.tally(asked), memory.tally(asked))


class TestEveryEngineAgreesWithMemory:
    @settings(max_examples=examples(80), deadline=None, suppress_health_check=EASY)
    @given(cases())
    def test_duckdb(self, case):
        tables, tallies = case
        with in_duckdb(tables) as engine:
            agree(engine, in_memory(tables), tallies)

    @settings(max_examples=examples(40), deadline=None, suppress_health_check=EASY)
    @given(cases())
    def test_postgres(self, postgres_dsn, case):
        tables, tallies = case
        with in_postgres(tables, postgres_dsn) as engine:
            agree(engine, in_memory(tables), tallies)

    @pytest.mark.filterwarnings("ignore")
    @settings(max_examples=5 if DEEP else 2, deadline=None, suppress_health_check=EASY)
    @given(cases())
    def test_spark(self, spark_session, case):
        tables, tallies = case
        agree(in_spark(tables, spark_session), in_memory(tables), tallies)
