"""Public facts at their ends: constants, tiny steps and wide ranges are answered, or refused in words."""

from __future__ import annotations

from contextlib import closing

import pytest

from discreet.data import Integer, Real, Rows, Schema
from discreet.errors import UnsupportedQuery
from discreet.privacy.measures import ZCDP, ApproxDP, PureDP
from end_to_end.compare import EXACT, ask
from end_to_end.stores import memory_beside
from engines.tables import Table
from support.profile import DEEP

ENDS = Schema(
    "ends",
    Rows(),
    {
        "x": Integer(0, 9),
        "same": Integer(7, 8),
        "wide": Integer(-(2**62), 2**62 - 1),
        "fine": Real(-1, 1, step=2**-60),
        "far": Real(2**52, 2**52 + 1),
    },
)
TABLE = Table(
    dict.fromkeys(ENDS.columns, "double"),
    [(1.0, 7.0, 5.0, 0.25, 2.0**52), (4.0, 7.0, -5.0, -0.5, 2.0**52 + 1)],
)
NAMES = [
    "x",
    "same",
    "wide",
    "fine",
    "far",
    "LEAST(x, 0)",
    "x - x",
    "fine / 3",
    "wide / 1000003",
    "x * 0",
]
ASKED = ["SUM({})", "AVG({})", "STDDEV({})", "CORR(x, {})", "COVAR_POP({}, wide)", "MEDIAN({})"]
SPENDS = [PureDP(1), ApproxDP(1, "1e-6"), ZCDP("1/8"), PureDP("1/1000000"), EXACT]


@pytest.fixture(scope="module")
def store():
    with closing(memory_beside({"ends": TABLE})) as beside:
        yield beside


@pytest.mark.parametrize("spend", SPENDS, ids=str)
@pytest.mark.parametrize("what", ASKED)
def test_a_question_is_answered_or_refused_in_words(what, spend, store):
    """Whatever the ranges: an answer with its intervals, or an error of ours; never one of Python's.

    Outside deep, each statistic meets each range at one budget of three.
    """
    turn = ASKED.index(what) + SPENDS.index(spend)
    for name in NAMES if DEEP else NAMES[turn % 3 :: 3]:
        try:
            answer = ask(f"SELECT {what.format(name)} AS v FROM ends", store, {"ends": ENDS}, spend)
        except UnsupportedQuery:
            assert name != "x" or "wide" in what or spend != PureDP(1)
            continue
        (row,) = answer.interval(0.95)
        assert row["v"] is None or row["v"][0] <= row["v"][1]
        assert str(answer).startswith("v")


def test_a_constant_has_no_correlation_and_says_so(store):
    answer = ask(
        "SELECT CORR(x, LEAST(x, 0)) AS c, STDDEV(same) AS s FROM ends",
        store,
        {"ends": ENDS},
        EXACT,
    )
    assert answer.rows[0] == (None, 0.0)
