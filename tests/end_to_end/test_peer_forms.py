"""Forms of two peers' suites: what plain SQL gives, or a refusal whose alternative runs; none wrong, no crash."""

from __future__ import annotations

from contextlib import closing

import pytest

import discreet as dp
from end_to_end.compare import EXACT, EXACT_KEYS, Case, ask, check
from end_to_end.peer_forms import ANSWERED, OVER_ANSWERS, REFUSED
from end_to_end.stores import duckdb_beside, memory_beside, postgres_beside, spark_beside
from end_to_end.world import SCHEMAS, world

BY_NAME = {case.name: case for case in ANSWERED}
PRIVATE_KEYS = {"keys of unlisted text"}


@pytest.fixture(scope="module")
def duckdb():
    with closing(duckdb_beside(world())) as beside:
        yield beside


@pytest.fixture(scope="module")
def memory():
    with closing(memory_beside(world())) as beside:
        yield beside


def spend_of(name):
    return EXACT_KEYS if name in PRIVATE_KEYS else EXACT


def test_forms_are_many_and_each_has_one_name():
    assert len(BY_NAME) == len(ANSWERED)
    assert len(ANSWERED) >= 100
    assert not BY_NAME.keys() & REFUSED.keys()


def case_of(name):
    case = BY_NAME[name]
    return Case(name, case.sql, case.plain, case.within, case.why, case.ordered, spend_of(name))


@pytest.mark.parametrize("name", BY_NAME)
def test_answers_are_those_of_plain_sql(name, duckdb):
    check(case_of(name), duckdb, SCHEMAS)


@pytest.mark.slow
@pytest.mark.parametrize("name", BY_NAME)
def test_memory(name, memory):
    check(case_of(name), memory, SCHEMAS)


def same_as_memory(store, memory):
    """Compare a server with memory: both have exact totals, so their answers are equal."""
    for name, case in BY_NAME.items():
        own = ask(case.sql, memory, SCHEMAS, spend_of(name))
        assert ask(case.sql, store, SCHEMAS, spend_of(name)).rows == own.rows, name


@pytest.mark.slow
def test_postgres(memory, postgres_dsn):
    with closing(postgres_beside(world(), postgres_dsn)) as store:
        same_as_memory(store, memory)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_spark(memory, spark_session):
    with closing(spark_beside(world(), spark_session)) as store:
        same_as_memory(store, memory)


@pytest.mark.parametrize("name", REFUSED)
def test_a_refusal_names_what_would_work(name, duckdb):
    sql, why, instead = REFUSED[name]
    with pytest.raises(dp.UnsupportedQuery) as refused:
        ask(sql, duckdb, SCHEMAS)
    assert why in str(refused.value)
    assert "; " in str(refused.value)
    for alternative in instead:
        assert len(ask(alternative, duckdb, SCHEMAS))


@pytest.mark.parametrize("name", OVER_ANSWERS)
def test_what_is_asked_of_answers_is_right_or_refused(name, duckdb):
    try:
        check(Case(name, OVER_ANSWERS[name]), duckdb, SCHEMAS)
    except dp.UnsupportedQuery as refused:
        assert "; " in str(refused)
