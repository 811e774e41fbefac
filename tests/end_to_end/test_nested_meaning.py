"""Nested keys count what `oracles.meaning` says: keys of one column, and listed hierarchies."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from itertools import product
from random import Random

import pytest

import discreet as dp
from discreet.answer.ask import run_plan
from discreet.plan import plan_question
from discreet.privacy.pricing.pure import price_pure
from end_to_end.meaning_questions import KEYS, column, value, worlds
from end_to_end.meaning_writers import column_of, sql_of
from end_to_end.test_meaning_law import (
    STORES,
    compare,
    cost_of,
    neighbour,
    public_values,
    released,
    store_of,
    tallies_of,
    target_of,
)
from support.noiseless import without_noise
from support.profile import DEEP

LEVELS = {
    "ward": column("ward"),
    "pair": ("bin", column("ward"), value(2)),
    "half": ("bin", column("ward"), value(4)),
    "shop": column("shop"),
}
WARD, PAIR, HALF, SHOP = range(4)


def subsets(places):
    """List all subsets of some keys, as CUBE does."""
    every = []
    for chosen in product([True, False], repeat=len(places)):
        every.append(tuple(place for place, is_in in zip(places, chosen, strict=True) if is_in))
    return every


SETS = {
    "cube": subsets((WARD, PAIR)),
    "rollup from the narrowest key": [(WARD, PAIR), (WARD,), ()],
    "three levels beside a key": subsets((WARD, PAIR, HALF, SHOP)),
}


@pytest.mark.parametrize("sets", SETS.values(), ids=SETS)
@pytest.mark.parametrize("place", [0, 1, 7])
def test_keys_that_follow_from_one_another(place, sets):
    """A set with a wider key beside a narrower one is the table of the narrower one, also in SQL."""
    world, store = worlds()[place], store_of(place, "memory")
    known = public_values(world, store)
    used = sorted({key for one in sets for key in one})
    keys = [
        {"name": name, "expression": LEVELS[name], "null_key": False}
        for name in (list(LEVELS)[at] for at in used)
    ]
    terms = {
        "n": {"what": "count"},
        "s": {"what": "sum", "of": column("minutes"), "low": -3, "high": 9, "step": 1},
    }
    plain = {"from": ("table", "visits"), "keys": keys, "statistics": terms, "sets": sets}
    question = dp.parse_sql(sql_of(plain), world.schemas, known)
    for spend in (dp.PureDP(1), dp.ZCDP(1)):
        plan = plan_question(question, spend, public_values=known)
        with without_noise():
            compare(run_plan(plan, store), plain, target_of(world, plain))


PLACES = {
    # A ward alone says where it lies: in the shop that is listed, whatever the row says.
    "narrowest tells": (
        ("shop", "ward"),
        [("a", 0), ("a", 3), ("c", 1)],
    ),
    # Ward 1 lies in two shops: a row has a place if both values are listed together.
    "all levels tell": (
        ("shop", "ward"),
        [("a", 0), ("a", 1), ("c", 1), ("c", 4)],
    ),
    "three levels": (
        ("kind", "shop", "ward"),
        [("p", "a", 0), ("p", "a", 2), ("p", "b", 1), ("q", "c", 1), ("q", "c", 4)],
    ),
    "a week above its days' grade": (
        ("week", "grade"),
        [(date(2024, 1, 1), 1), (date(2024, 1, 1), 2), (date(2024, 1, 8), 2)],
    ),
}


@pytest.mark.parametrize("beside", [(), ("paid",)], ids=["alone", "beside a key"])
@pytest.mark.parametrize("listed", PLACES.values(), ids=PLACES)
@pytest.mark.parametrize(
    "place",
    [1, 7, 9, *(pytest.param(at, marks=pytest.mark.slow) for at in (0, 3, 5, 11, 13, 17, 19))],
)
def test_listed_hierarchies(place, listed, beside):
    """A row is in the levels of its place or in none, under every cap, also one by groups."""
    names, places = listed
    world = worlds()[place]
    further = tuple(range(len(names), len(names) + len(beside)))
    sets = []
    for depth in range(len(names), -1, -1):
        sets += [tuple(range(depth)) + more for more in dict.fromkeys([further, ()])]
    plain = {
        "from": ("where", ("table", "visits"), ("<", column("spent"), value(8))),
        "keys": [
            {"name": name, "expression": KEYS[name], "null_key": False}
            for name in (*names, *beside)
        ],
        "statistics": {"count": {"what": "count"}},
        "sets": sets,
        "places": (range(len(names)), places),
    }
    rows = dp.Table(world.schemas["visits"]).where(dp.col("spent") < 8)
    levels = {name: column_of(KEYS[name]) for name in names}
    question = rows.hierarchy(levels, by=beside, places=places)
    assert set(question.sets) == set(sets)
    target = target_of(world, plain)
    shares = set()
    for spend in (dp.PureDP(1), dp.ZCDP(1), dp.PureDP("1/100")):
        plan = plan_question(question, spend)
        for kind in ("memory", "duckdb") if DEEP or place == 9 else ("memory",):
            with without_noise():
                compare(run_plan(plan, store_of(place, kind)), plain, target)
        shares.add(tallies_of(plan))
    assert len(shares) == 1
    price = price_pure(plan.event)
    random = Random(place)
    before = released(plan, store_of(place, "memory"))
    for _ in range(3):
        other = STORES["memory"](replace(world, rows=neighbour(world, random)).tables)
        assert cost_of(before, released(plan, other), spend) <= price


def test_a_long_list_beside_a_cap_by_groups_is_refused():
    unit = dp.People("id", max_rows=4, max_rows_per_group=1)
    land = dp.Schema("land", unit, {"tract": dp.Integer(0, 4999), "state": dp.Integer(0, 4)})
    places = [(tract // 1000, tract) for tract in range(1001)]
    question = dp.Table(land).hierarchy("state", "tract", places=places)
    with pytest.raises(dp.UnsupportedQuery, match="max_rows_per_group at most 1,000 places"):
        plan_question(question, dp.PureDP(1))


def test_a_level_that_is_asked_twice_has_the_same_noise():
    """CUBE (x, bin) shows one estimate of x, with and without its bin beside it; also as whole numbers."""
    schema = dp.Schema("t", dp.Rows(), {"x": dp.Integer(0, 7, default=0)})
    ledger = dp.open_ledger(":memory:", dp.PureDP(10))
    store = dp.Memory({"t": [{"x": x % 8} for x in range(20)]})
    curator = dp.Curator(store, [schema], ledger)
    sql = "SELECT x, FLOOR(x / 4) AS f, COUNT(*) AS n FROM t GROUP BY CUBE (x, FLOOR(x / 4))"
    answer = curator.sql(sql, spend=dp.PureDP(1), whole=True)
    alone = {x: n for x, f, n in answer.rows if x is not None and f is None}
    beside = {(x, f): n for x, f, n in answer.rows if x is not None and f is not None}
    wide = {f: n for x, f, n in answer.rows if x is None and f is not None}
    assert beside == {(x, x // 4): n for x, n in alone.items()}
    assert len(alone) == 8
    assert wide == {f: sum(alone[x] for x in range(4 * f, 4 * f + 4)) for f in (0, 1)}
