"""Workloads on every store: what is shown is a sum of the same cells, and without noise it is what the rows say."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from functools import cache
from itertools import chain, combinations

import numpy as np
import pytest

import discreet as dp
from discreet.answer.ask import run_plan
from engines.tables import Table

KEYS = ("a", "b", "c", "d", "e", "f")
PEOPLE = dp.Schema(
    "people",
    dp.Rows(),
    {name: dp.Integer(0, 9, default=0) for name in KEYS[:-1]}
    | {"f": dp.Category(["x", "y", "z"], default="x"), "pay": dp.Real(-10, 50, step="1/2")},
)
NAMED = {"people": PEOPLE}
LOOSE = {
    "people": dp.Schema(
        "people",
        dp.Rows(),
        {**PEOPLE.columns, "a": dp.Integer(0, 9), "f": dp.Category(["x", "y", "z"])},
    )
}
"""The same table, of which rows may be without an `a` or an `f`."""
LARGE = dp.PureDP(10**6)
PAIRS = dp.Table(PEOPLE).marginals(list(KEYS), up_to=2)


def people(count: int = 150) -> list[dict[str, object]]:
    """Some rows have no value of some key, or one that is not listed: where a default is declared, they have that."""
    rng = np.random.default_rng(18)
    made = [
        {name: int(rng.integers(0, 10)) for name in KEYS[:-1]}
        | {"f": "xyz"[i % 3], "pay": i / 2 % 40}
        for i in range(count)
    ]
    made[3]["a"] = made[5]["b"] = made[7]["pay"] = None
    made[9]["f"], made[11]["f"] = "elsewhere", None
    return made


def stored(load):
    rows = people()
    types = dict.fromkeys(KEYS[:-1], "bigint") | {"f": "text", "pay": "double"}
    return load({"people": Table(types, [[row[name] for name in types] for row in rows])})


plan = cache(dp.plan_question)
"""No store and no word about negative numbers changes a plan."""


@cache
def pairs_of_known():
    """Count the people of every cell of every pair."""
    found: Counter[tuple[object, ...]] = Counter()
    for row in map(filled, people()):
        for some in chain.from_iterable(combinations(KEYS, count) for count in range(3)):
            found[tuple(row[name] if name in some else None for name in KEYS)] += 1
    return found


def filled(row):
    """Return a row with the declared defaults of its keys."""
    numbers = {name: 0 if row[name] is None else row[name] for name in KEYS[:-1]}
    return {**row, **numbers, "f": row["f"] if row["f"] in ("x", "y", "z") else "x"}


def shown(question, store, name="n", spend=LARGE, **words):
    """Return the exact fractions that are shown, by key."""
    found = run_plan(plan(question, spend), store, **words)
    return dict(zip(found.keys, [row[name].shown for row in found.estimates], strict=True))


@pytest.mark.parametrize(
    "words", [{}, {"nonnegative": True}, {"whole": True}], ids=["plain", "nonnegative", "whole"]
)
def test_all_pairs_of_many_keys(load, words):
    """Six keys have 300,000 combinations: tables of few of them are counted, and agree to the last digit all the same."""
    store = stored(load)
    exact, wanted = shown(PAIRS, store, "count", **words), pairs_of_known()
    assert set(wanted) <= set(exact)
    assert all(abs(value - wanted[key]) <= Fraction(1, 100) for key, value in exact.items())
    noisy = shown(PAIRS, store, "count", spend=dp.ZCDP("1/100"), **words)
    for values in (exact, noisy):
        _check_pairs(values)
    if words:
        assert min(noisy.values()) >= 0
    if "whole" in words:
        assert all(value.denominator == 1 for value in noisy.values())


def _check_pairs(values: dict[tuple[object, ...], Fraction]) -> None:
    total = values[(None,) * 6]
    for i, j in combinations(range(6), 2):
        ones: dict[tuple[int, object], Fraction] = {}
        for key, value in values.items():
            if key[i] is not None and key[j] is not None:
                for place in (i, j):
                    ones[place, key[place]] = ones.get((place, key[place]), Fraction()) + value
        for (place, value), found in ones.items():
            assert found == values[tuple(value if at == place else None for at in range(6))]
        assert sum(found for (place, _), found in ones.items() if place == i) == total


def test_sums_means_running_totals_and_counts(load):
    store, rows = stored(load), people()
    sql = "SELECT a, f, SUM(pay) AS s, COUNT(pay) AS n FROM people GROUP BY CUBE (a, f)"
    for schemas in (
        LOOSE,
        NAMED,
    ):  # with and without rows that have no key: each set is what its own GROUP BY says
        cube = dp.parse_sql(sql, schemas)
        inside = rows if schemas is LOOSE else list(map(filled, rows))
        sums, counts = shown(cube, store, "s"), shown(cube, store, "n")
        for (a, f), value in sums.items():
            own = [row["pay"] for row in inside if a in (None, row["a"]) and f in (None, row["f"])]
            own = [pay for pay in own if pay is not None]
            assert value == pytest.approx(sum(own), abs=1e-2)
            assert counts[a, f] == pytest.approx(len(own), abs=1e-2)
    assert all(sums[a, None] == sum(sums[a, f] for f in "xyz") for a in range(10))
    running = shown(dp.Table(PEOPLE).cumulative("a"), store, "count")
    ages = [filled(row)["a"] for row in rows]
    assert list(running.values()) == pytest.approx(
        [sum(a <= t for a in ages) for t in range(10)], abs=1e-2
    )
    many = ", ".join(f"COUNT(*) FILTER (WHERE a >= {t}) AS n{t}" for t in range(1, 9))
    counts = run_plan(
        dp.plan_question(dp.parse_sql(f"SELECT {many} FROM people", NAMED), dp.PureDP(50)), store
    )
    assert list(counts.rows[0]) == pytest.approx(
        [sum(a >= t for a in ages) for t in range(1, 9)], abs=5
    )
    bins = dp.Table(PEOPLE).hierarchy({"half": dp.col("b") // 5, "b": "b"}, by=["f"])
    tree = shown(bins, store, "count", spend=dp.ZCDP("1/10"), whole=True)
    for (half, b, f), value in tree.items():
        if b is None and half is not None:
            assert value == sum(
                v for k, v in tree.items() if k[0] == half and k[1] is not None and k[2] == f
            )
