"""Counts of people under a condition: every small person against the sensitivity that is priced."""

from __future__ import annotations

from itertools import combinations_with_replacement, product

import pytest

import discreet as dp
from discreet.plan import plan_question

KINDS = ["view", "cart"]
ROWS = [
    {"id": 1, "shop": shop, "kind": kind} for shop, kind in product(["a", "b", "c", None], KINDS)
]
BY_SHOP = (
    "SELECT shop, COUNT(DISTINCT id) FILTER (WHERE kind = 'cart') AS n FROM visits GROUP BY shop"
)
ALONE = "SELECT COUNT(DISTINCT CASE WHEN kind = 'cart' THEN id END) AS n FROM visits"
COLUMNS = {"shop": dp.Category(["a", "b", "c"]), "kind": dp.Category(KINDS)}


def people():
    """List every person of up to four rows: three shops and none, two kinds."""
    for size in range(5):
        yield from combinations_with_replacement(ROWS, size)


def totals_of(need, rows):
    """Return the totals that one person adds, by key, in whole steps."""
    keys = [(shop,) for shop in "abc"] if need.tally.keys else [()]
    found = dp.Memory({"visits": list(rows)}).tally(need.tally)
    return [found.get(key, (0,))[0] for key in keys]


@pytest.mark.parametrize("sql", [BY_SHOP, ALONE])
@pytest.mark.parametrize("groups", [None, 1, 2])
class TestOnePerson:
    """Δ1, Δ2² and Δ∞ of a funnel's step hold for every person, under both relations, and are attained."""

    def need(self, sql, groups, neighbours):
        unit = dp.People("id", max_rows=3, max_groups=groups)
        schema = dp.Schema("visits", unit, COLUMNS, neighbours=neighbours)
        plan = plan_question(dp.parse_sql(sql, {"visits": schema}), dp.PureDP(1))
        [release] = plan.releases
        return release.need

    def test_added_or_removed(self, sql, groups):
        need = self.need(sql, groups, "add-remove")
        changes = [totals_of(need, rows) for rows in people()]
        sizes = [norms(change) for change in changes]
        assert tuple(map(max, zip(*sizes, strict=True))) == priced(need)

    def test_replaced(self, sql, groups):
        need = self.need(sql, groups, "replace")
        different = {tuple(totals_of(need, rows)) for rows in people()}
        sizes = [
            norms([x - y for x, y in zip(one, other, strict=True)])
            for one in different
            for other in different
        ]
        worst = tuple(map(max, zip(*sizes, strict=True)))
        assert all(found <= most for found, most in zip(worst, priced(need), strict=True))

    def test_no_step_exceeds_the_count_of_all_people(self, sql, groups):
        need = self.need(sql, groups, "add-remove")
        everybody = self.need(
            sql.replace("kind = 'cart'", "kind IN ('cart', 'view')"), groups, "add-remove"
        )
        for rows in people():
            pairs = zip(totals_of(need, rows), totals_of(everybody, rows), strict=True)
            assert all(step <= most for step, most in pairs)


def norms(change):
    """Return Δ1, Δ2² and Δ∞ of a change."""
    sizes = [abs(each) for each in change]
    return sum(sizes), sum(size * size for size in sizes), max(sizes)


def priced(need):
    return need.sensitivity.l1, need.sensitivity.squared_l2, need.sensitivity.linf


def test_what_is_no_condition_is_refused():
    schema = dp.Schema("visits", dp.People("id", max_rows=3), COLUMNS)
    with pytest.raises(dp.UnsupportedQuery, match="it takes a condition"):
        dp.Table(schema).count_people(where="shop")
    with pytest.raises(dp.UnsupportedQuery, match="the unit of this table is a row"):
        dp.Table(dp.Schema("rows", dp.Rows(), COLUMNS)).count_people(where=dp.col("kind") == "cart")
