"""What is counted follows from schema and question: no budget and no measure changes it, only the noise."""

from __future__ import annotations

from collections import Counter, defaultdict
from fractions import Fraction
from itertools import product

import pytest

import discreet as dp
from discreet.answer.ask import gather
from discreet.answer.workload_run import exact_totals
from discreet.privacy.pricing.pure import price_pure
from discreet.query.algebra.tally import SHARE_FINENESS, GroupRowShare, KeptKeys, RowShare
from discreet.statistics.releases.set_totals import CellsNeed

UNITS = {
    "rows": dp.Rows(),
    "people": dp.People("id", max_rows=3),
    "people in few groups": dp.People("id", max_rows=6, max_groups=2),
    "people in as many groups as rows": dp.People("id", max_rows=4, max_groups=4),
    "people with few rows in a group": dp.People(
        "id", max_rows=7, max_groups=3, max_rows_per_group=2
    ),
}
COLUMNS = {
    "shop": dp.Category(["a", "b", "c"]),
    "day": dp.Integer(0, 4),
    "kind": dp.Category(["p", "q"], default="p"),
    "x": dp.Integer(-3, 9, default=0),
}
QUESTIONS = [
    "SELECT COUNT(*) AS n FROM visits",
    "SELECT shop, COUNT(*) AS n FROM visits GROUP BY shop",
    "SELECT shop, day, COUNT(*) AS n, SUM(x) AS s FROM visits WHERE day >= 1 GROUP BY shop, day",
    "SELECT shop, AVG(x) AS m, STDDEV(x) AS d FROM visits GROUP BY shop",
    "SELECT kind, MEDIAN(x) AS m FROM visits GROUP BY kind",
    "SELECT kind, shop, COUNT(*) AS n FROM visits GROUP BY CUBE (kind, shop)",
    "SELECT kind, COUNT(*) AS n, SUM(x) AS s FROM visits GROUP BY CUBE (kind)",
    "SELECT day, SUM(COUNT(*)) OVER (ORDER BY day) AS n FROM visits GROUP BY day",
    "SELECT "
    + ", ".join(f"COUNT(*) FILTER (WHERE day >= {d}) AS n{d}" for d in range(1, 5))
    + " FROM visits",
]
OF_PEOPLE = [
    "SELECT COUNT(DISTINCT id) AS n FROM visits",
    "SELECT shop, COUNT(DISTINCT id) AS n, COUNT(*) AS rows FROM visits GROUP BY shop",
]
EPSILONS = ("1/100", "1/10", 1, 10, 1000, 10**6)
BUDGETS = [
    budget(Fraction(epsilon))
    for epsilon, budget in product(
        EPSILONS, (dp.PureDP, lambda e: dp.ApproxDP(e, "1e-6"), lambda e: dp.ZCDP(e * e / 8))
    )
]
STORE = [
    {"id": at % 7, "shop": "abcz"[at % 4] if at % 5 else None, "day": at % 6 if at % 7 else None, "kind": "pq"[at % 2],
     "x": at % 13 - 3}
    for at in range(60)
]  # fmt: skip


def planned(sql, unit, spend):
    schema = dp.Schema("visits", UNITS[unit], COLUMNS)
    return dp.plan_question(dp.parse_sql(sql, {"visits": schema}), spend)


def read(row):
    """Read one record by plain rules: an unlisted shop is none, a day beyond the range is its end."""
    day = None if row["day"] is None else min(row["day"], 4)
    return {**row, "shop": row["shop"] if row["shop"] in ("a", "b", "c") else None, "day": day}


def capped(n, most):
    """The part of n rows of which at most so many count, rounded down to 2^-20."""
    return SHARE_FINENESS if most is None or n <= most else SHARE_FINENESS * most // n


def expected(keys, value, unit, *, where=lambda _: True):
    """Add up each person's rows in parts of k/n, n of all rows that pass WHERE; with rows capped by group, in parts
    of r/n of a group, rows without a key being one, and of K over what counts then."""
    kept = [(row, tuple(row[key] for key in keys)) for row in map(read, STORE) if where(row)]
    kept = [(row, None if None in key else key) for row, key in kept]
    most, in_group = (getattr(unit, cap, None) for cap in ("max_rows", "max_rows_per_group"))
    if not keys:
        in_group = None
    if in_group is not None:
        most = min(most, (unit.max_groups or most) * in_group)
    counts = Counter((row["id"], key) for row, key in kept)
    counted = Counter()
    for (who, _), n in counts.items():
        counted[who] += n if in_group is None else min(n, in_group)
    totals = defaultdict(Fraction)
    for row, key in kept:
        if key is not None:
            share = capped(counts[row["id"], key], in_group) * capped(counted[row["id"]], most)
            share //= SHARE_FINENESS
            totals[key] += Fraction(value(row) * share, SHARE_FINENESS)
    return totals


class TestOneTarget:
    @pytest.mark.parametrize("unit", UNITS)
    def test_the_same_rows_count_under_every_budget(self, unit):
        """Each question has one set of tallies: rows with their WHERE, share, keys, and which of them count."""
        for sql in [*QUESTIONS, *(OF_PEOPLE if unit != "rows" else [])]:
            found = set()
            for spend in BUDGETS:
                plan = planned(sql, unit, spend)
                tallies = [release.need.tally for release in plan.releases]
                found.add(frozenset((one.rows, one.share, one.people) for one in tallies))
            assert len(found) == 1, (unit, sql)

    @pytest.mark.parametrize("unit", UNITS)
    @pytest.mark.parametrize("spend", [BUDGETS[0], BUDGETS[8], BUDGETS[-3]], ids=str)
    def test_exact_totals_are_those_of_a_plain_evaluation(self, unit, spend):
        """COUNT(*) and SUM by shop, as the engine returns them before any noise."""
        store = dp.Memory({"visits": STORE})
        sql = "SELECT shop, COUNT(*) AS n FROM visits GROUP BY shop"
        for where, rule in (("", lambda _: True), ("WHERE x >= 2 ", lambda row: row["x"] >= 2)):
            plan = planned(sql.replace("GROUP", f"{where}GROUP"), unit, spend)
            [need] = [release.need for release in plan.releases]
            [counts] = gather([need], plan.keys, store)
            exact = {key: need.exact(counts, key) * need.unit for key in plan.keys}
            wanted = expected(["shop"], lambda _: 1, UNITS[unit], where=rule)
            assert exact == {key: wanted[key] for key in plan.keys}
            assert sum(exact.values()) > 5

    def test_rows_that_meet_no_condition_are_rows_of_their_person(self):
        """Counts under FILTER that are planned as one workload are those that each would be by itself."""
        days = range(1, 5)
        counts = ", ".join(f"COUNT(*) FILTER (WHERE day >= {day}) AS n{day}" for day in days)
        plan = planned(f"SELECT {counts} FROM visits", "people", dp.PureDP(1))
        [release] = plan.releases
        assert isinstance(release.need, CellsNeed)  # else nothing is tried here
        [totals] = exact_totals([release], plan.keys, dp.Memory({"visits": STORE}))
        found = release.plan.workload.matrix @ totals
        for day, n in zip(days, found.tolist(), strict=True):
            wanted = expected(
                [], lambda row, day=day: int((row["day"] or 0) >= day), UNITS["people"]
            )
            assert n * release.need.unit == wanted[()]

    @pytest.mark.parametrize("unit", UNITS)
    @pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
    @pytest.mark.parametrize(
        "form", ["CUBE (shop, day, kind)", "ROLLUP (kind, day)", "CUBE (day, half)"]
    )
    def test_no_unit_changes_more_than_is_charged(self, unit, neighbours, form):
        """One unit more or less: Σ |change|/scale over all that is released stays within the ε that is charged.

        Marks are measured in a table and below the root of a tree; levels that a row has in part are tables apart.
        """
        columns = {"shop": COLUMNS["shop"], "day": COLUMNS["day"], "kind": COLUMNS["kind"]}
        schema = dp.Schema("visits", UNITS[unit], columns, neighbours=neighbours)
        half = "CASE WHEN day < 3 THEN 'low' END AS half"
        keys = form.partition("(")[2].rstrip(")").replace("half", half)
        sql = f"SELECT {keys}, COUNT(*) AS n FROM visits GROUP BY {form}"
        plan = dp.plan_question(dp.parse_sql(sql, {"visits": schema}), dp.PureDP(2))
        price = price_pure(plan.event)
        assert 1.99 < price <= 2
        # Where rows are capped by group, each set weighs them by its own groups.
        assert not plan.tables or "rows in" in unit or "half" in form
        leaves = (lambda row: row is STORE[8]) if unit == "rows" else (lambda row: row["id"] == 1)
        other = {"shop": "c", "day": 4, "kind": "p"}
        near = [other | {"id": row["id"]} if leaves(row) else row for row in STORE]
        if neighbours == "add-remove":
            near = [row for row in STORE if not leaves(row)]
        moved = Fraction()
        for table in [table for _, table in plan.tables] or [plan]:
            both = [
                exact_totals(table.releases, table.keys, dp.Memory({"visits": rows}))
                for rows in (STORE, near)
            ]
            for release, *totals in zip(table.releases, *both, strict=True):
                before, after = map(release.plan.strategy.measure, totals)
                for one, was, is_now in zip(release.plan.measured, before, after, strict=True):
                    change = int(abs(is_now.astype(object) - was.astype(object)).sum()) * one.grid
                    moved += change / Fraction(one.mechanism.scale)
        assert 0 < moved <= price

    def test_max_groups_changes_no_count_of_rows(self):
        """Five hundred people with forty rows each in thirteen months: it said 500 a month for 1,667."""
        rows = [{"id": at % 500, "day": at % 360 // 30} for at in range(20_000)]
        schema = dp.Schema(
            "visits", dp.People("id", max_rows=40, max_groups=40), {"day": dp.Integer(0, 12)}
        )
        curator = dp.Curator(
            dp.Memory({"visits": rows}),
            [schema],
            dp.open_ledger(":memory:", dp.ApproxDP(10**6, "1e-2")),
        )
        sql = "SELECT day, COUNT(*) AS n FROM visits GROUP BY day"
        for spend in (dp.ApproxDP(100, "1e-5"), dp.ApproxDP(10_000, "1e-5")):
            found = curator.sql(sql, spend=spend).column("n")
            assert sum(found) == pytest.approx(20_000, abs=60)
            assert all(n == pytest.approx(20_000 / 12, abs=30) for n in found[:12])

    def test_rows_by_unknown_keys_keep_the_cap_on_all_rows(self):
        """Which keys are shown is drawn: the weight of a row must not go by them."""
        unit = dp.People("id", max_rows=6, max_groups=2, max_rows_per_group=2)
        schema = dp.Schema("visits", unit, {"word": dp.Text(9), "x": dp.Integer(0, 5)})
        asked = dp.parse_sql(
            "SELECT word, SUM(x) AS s FROM visits GROUP BY word", {"visits": schema}
        )
        plan = dp.plan_question(asked, dp.ApproxDP(1, "1e-6"))
        assert [release.need.tally.share for release in plan.releases] == [RowShare(6)]
        assert isinstance(plan.selection.tally.share, KeptKeys)

    def test_sets_that_are_capped_by_group_are_apart_and_not_whole(self):
        unit = UNITS["people with few rows in a group"]
        schema = dp.Schema("visits", unit, {"kind": COLUMNS["kind"], "x": COLUMNS["x"]})
        asked = dp.parse_sql(
            "SELECT kind, COUNT(*) AS n FROM visits GROUP BY CUBE (kind)", {"visits": schema}
        )
        plan = dp.plan_question(asked, dp.PureDP(1))
        shares = [table.share for _, table in plan.tables]
        assert shares == [GroupRowShare(6, 2, 1), RowShare(7)] and "max_rows_per_group" in plan.why
        with pytest.raises(dp.UnsupportedQuery, match="max_rows_per_group.*do not add up"):
            dp.plan_question(asked, dp.PureDP(1), whole=True)

    def test_people_are_counted_by_one_rule_where_keys_are_unknown(self):
        """KeptKeys and GroupShare count a person in many keys differently: one of them is taken under every budget."""
        unit = dp.People("id", max_rows=6, max_groups=2)
        schema = dp.Schema("visits", unit, {"word": dp.Text(9), "x": dp.Integer(0, 5)})
        for sql in (
            "SELECT word, COUNT(DISTINCT id) AS n FROM visits GROUP BY word",
            "SELECT word, COUNT(DISTINCT id) AS n, SUM(x) AS s, AVG(x) AS m FROM visits GROUP BY word",
        ):
            asked = dp.parse_sql(sql, {"visits": schema})
            spends = [dp.ApproxDP(Fraction(e), d) for e in EPSILONS for d in ("1e-9", "1e-3")]
            shares = {
                frozenset(
                    release.need.tally.share for release in dp.plan_question(asked, spend).releases
                )
                for spend in spends
            }
            assert len(shares) == 1
