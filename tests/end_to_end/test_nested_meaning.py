"""Nested keys count what `oracles.meaning` says: keys of one column, and listed hierarchies."""

from __future__ import annotations

from itertools import product

import pytest

import discreet as dp
from discreet.answer.ask import run_plan
from discreet.plan import plan_question
from end_to_end.meaning_questions import column, value, worlds
from end_to_end.meaning_writers import sql_of
from end_to_end.test_meaning_law import compare, public_values, store_of, target_of
from support.noiseless import without_noise

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
