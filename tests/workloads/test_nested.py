"""Nested levels by further keys: exact sums, exact sensitivities, least squares, and questions that ask for them."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dp
from discreet.answer.ask import run_plan
from discreet.answer.stored import answer_from_json, answer_to_json
from discreet.query import fingerprint
from discreet.query.algebra.tree import Nest
from discreet.query.bounds.check import require_sound
from discreet.workloads import Hierarchy, NestedTables, StrategyNorms, plan_strategy
from discreet.workloads.estimate import STEP
from discreet.workloads.nested.estimate import tidy
from support.misses import most_misses
from support.profile import draws, examples

BUDGETS = [dp.PureDP(1), dp.ZCDP("1/2"), dp.GaussianDP(1)]


@st.composite
def lands(draw):
    parents, above = [], 1
    for _ in range(draw(st.integers(1, 3))):
        counts = draw(st.lists(st.integers(1, 3), min_size=above, max_size=above))
        parents.append(np.repeat(np.arange(above), counts))
        above = sum(counts)
    sizes = tuple(draw(st.lists(st.integers(1, 3), max_size=2)))
    keys = [tuple(i for i in range(len(sizes)) if bits >> i & 1) for bits in range(1 << len(sizes))]
    every = list(product(range(len(parents) + 1), keys))
    sets = draw(st.lists(st.sampled_from(every), min_size=1, max_size=5, unique=True))
    return NestedTables(Hierarchy(parents), sizes, sets)


def exact_sets(land, cells):
    levels = [cells.reshape(-1, *land.sizes)]
    for parents in reversed(land.tree.parents):
        levels.insert(
            0, np.add.reduceat(levels[0], np.flatnonzero(np.diff(parents, prepend=-1)), axis=0)
        )
    return [
        levels[d].sum(axis=tuple(1 + i for i in range(len(land.sizes)) if i not in keys))
        for d, keys in land.sets
    ]


class TestStrategies:
    @given(lands(), st.sampled_from(BUDGETS), st.integers(0, 2**32 - 1))
    @settings(max_examples=examples(60))
    def test_without_noise_every_set_is_exact(self, land, budget, seed):
        """Least squares is unbiased: what is measured without noise comes back, in every set (Gauss–Markov)."""
        plan = plan_strategy(land, [budget])
        cells = np.random.default_rng(seed).integers(
            0, 1000, (land.tree.sizes[-1], int(np.prod(land.sizes)))
        )
        exact = plan.strategy.measure(cells)
        noisy = [rows * one.grid for rows, one in zip(exact, plan.measured, strict=True)]
        estimate = plan.estimate(noisy)
        for (depth, keys), true in zip(land.sets, exact_sets(land, cells), strict=True):
            assert np.allclose(estimate.table(depth, keys).values, true, atol=1e-3)

    @pytest.mark.untraced
    @given(lands(), st.sampled_from(BUDGETS), st.integers(0, 2**32 - 1))
    @settings(max_examples=examples(60))
    def test_sets_add_up_and_stay_so(self, land, budget, seed):
        """Every set is a sum of one estimate: down the tree and over the keys, to the last digit, moved or not."""
        plan = plan_strategy(land, [budget])
        rng = np.random.default_rng(seed)
        cells = rng.integers(0, 4, (land.tree.sizes[-1], int(np.prod(land.sizes))))
        estimate = plan.estimate(plan.release(cells))
        for (d, keys), (e, more) in product(land.sets, repeat=2):
            if d < e and keys == more:
                low = estimate.table(e, more)
                for parents in reversed(land.tree.parents[d:e]):
                    low = type(low)(
                        np.add.reduceat(
                            low.numerators, np.flatnonzero(np.diff(parents, prepend=-1)), axis=0
                        ),
                        low.denominator,
                    )
                assert low.same(estimate.table(d, keys))
            if d == e and set(keys) < set(more):
                gone = tuple(1 + at for at, key in enumerate(more) if key not in keys)
                assert estimate.table(e, more).sum(gone).same(estimate.table(d, keys))
        whole = tidy(estimate, STEP)
        assert min(level.min() for level in whole) >= 0
        for level in tidy(estimate, 1):
            assert level.min() >= 0

    @pytest.mark.untraced
    @given(lands(), st.sampled_from(BUDGETS), st.sampled_from(["add-remove", "replace"]))
    @settings(max_examples=examples(60))
    def test_no_unit_moves_a_block_by_more_than_is_declared(self, land, budget, near):
        """Δ1, Δ2² and Δ∞ of every block, against every unit that is added, or moved from one cell to another."""
        plan = plan_strategy(land, [budget], change=StrategyNorms(1, near))
        units = np.eye(land.tree.sizes[-1] * int(np.prod(land.sizes)), dtype=np.int64)
        moved = [unit.reshape(land.tree.sizes[-1], -1) for unit in units]
        if near == "replace":
            moved += [a - b for a, b in product(moved[:5], moved)]
        for one in moved:
            for rows, block in zip(plan.strategy.measure(one), plan.strategy.blocks, strict=True):
                said = block.sensitivity(StrategyNorms(1, near))
                assert np.abs(rows).sum() <= said.l1
                assert (rows.astype(object) ** 2).sum() <= said.squared_l2
                assert np.abs(rows).max() <= said.linf

    @given(lands(), st.sampled_from(BUDGETS))
    @settings(max_examples=examples(60))
    def test_the_errors_said_are_those_of_the_linear_map(self, land, budget):
        """Push each unit of noise through the estimate: the variances add up to those said; no RMSE is below its bound."""
        plan = plan_strategy(land, [budget])
        found = [0.0 for _ in land.sets]
        for at, one in enumerate(plan.measured):
            for row in range(one.block.rows):
                noisy = [np.zeros(other.block.rows, dtype=np.int64) for other in plan.measured]
                noisy[at][row] = one.grid * 10**6
                estimate = plan.estimate(noisy)
                for place, (depth, keys) in enumerate(land.sets):
                    felt = estimate.table(depth, keys).values / 10**6
                    found[place] = found[place] + (felt**2).mean() * one.variance
        assert np.allclose(np.sqrt(found), plan.set_rmse, rtol=1e-4)
        assert plan.rmse >= plan.bound.rmse * (1 - 1e-9)

    def test_a_regular_country_is_at_the_bound(self):
        tree = Hierarchy([np.repeat(0, 5), np.repeat(np.arange(5), 6), np.repeat(np.arange(30), 4)])
        land = NestedTables(tree, (2, 3), list(product(range(4), [(), (0,), (1,), (0, 1)])))
        assert plan_strategy(land, [dp.ZCDP("1/2")]).gap < 1e-3

    @pytest.mark.parametrize("budget", [dp.PureDP("1/1000"), dp.ZCDP("1/1000")])
    @pytest.mark.parametrize("keys", [(), (3,)])
    def test_a_level_of_single_children_costs_nothing(self, budget, keys):
        """It holds the numbers of the level above: measured once, with the noise of the shorter tree."""
        short = Hierarchy([[0, 0, 0], [0, 0, 1, 2, 2]])
        long = Hierarchy([[0], [0, 0, 0], [0, 1, 2], [0, 0, 1, 2, 2], [0, 1, 2, 3, 4]])
        change = StrategyNorms(2**21)
        every = tuple(range(len(keys)))
        same_level = {0: [0, 1], 1: [2, 3], 2: [4, 5]}
        errors = []
        for tree, depths in ((short, (0, 1, 2)), (long, (0, 2, 4)), (long, (1, 3, 5))):
            asked = NestedTables(tree, keys, [(depth, every) for depth in depths])
            plan = plan_strategy(asked, [budget], change=change)
            errors.append(plan.set_rmse)
        assert errors[1] == pytest.approx(errors[0], rel=2e-3)
        assert errors[2] == pytest.approx(errors[0], rel=2e-3)
        levels = [(depth, every) for depth in range(6)]
        plan = plan_strategy(NestedTables(long, keys, levels), [budget], change=change)
        measured = [depth for depth, _ in plan.strategy.parts]
        for alike in same_level.values():
            assert len({depth for depth in measured if depth in alike}) <= 1
        levels = plan_strategy(long, [budget], change=change).strategy
        assert levels.weights[-1] > 0.1

    def test_what_is_no_tree_is_refused(self):
        tree = Hierarchy([[0, 0]])
        for sizes, sets in (
            ((2,), []),
            ((2,), [(2, ())]),
            ((2,), [(1, (1,))]),
            ((), [(0, ())] * 1025),
        ):
            with pytest.raises(dp.InvalidArgument):
                NestedTables(tree, sizes, sets)
        with pytest.raises(dp.InvalidArgument, match="at most 10,000,000"):
            NestedTables(tree, (10**7,), [(1, ())])


LAND = dp.Schema(
    "land",
    dp.Rows(),
    {
        "tract": dp.Integer(0, 23, default=0),
        "state": dp.Category(["A", "B"]),
        "county": dp.Category(["x", "y", "z"]),
        "sex": dp.Category(["f", "m"], default="f"),
        "pay": dp.Integer(-5, 20),
    },
)
NAMED = {"land": LAND}
ROWS = [
    {
        "tract": i * 7 % 24,
        "state": "AB"[i % 2],
        "county": "xyz"[i % 3],
        "sex": "fm"[i // 5 % 2],
        "pay": i % 20,
    }
    for i in range(400)
]
WIDTHS = (
    "SELECT FLOOR(tract / 12) AS wide, FLOOR(tract / 4) AS narrow, COUNT(*) AS n, SUM(pay) AS pay FROM land "
    "GROUP BY GROUPING SETS ((FLOOR(tract / 12)), (FLOOR(tract / 4)), ())"
)
TREE = dp.Table(LAND).hierarchy(
    {"state": dp.col("tract") // 12, "county": dp.col("tract") // 4, "tract": "tract"}, by=["sex"]
)
PLACES = [("A", "x"), ("A", "y"), ("B", "x"), ("B", "z")]


def plain(question, key):
    return [
        row
        for row in ROWS
        if all(
            wanted in (None, row["tract"] // width)
            for wanted, width in zip(key, (12, 4, 1), strict=False)
        )
    ]


class TestQuestions:
    def test_widths_of_one_column_are_nested(self):
        """At a budget that leaves no noise, every histogram is what plain SQL says, and each is a sum of the finest."""
        question = dp.parse_sql(WIDTHS, NAMED)
        assert question.nested == Nest((0, 1), tuple((i // 3, i) for i in range(6)))
        found = run_plan(dp.plan_question(question, dp.PureDP(10**6)), dp.Memory({"land": ROWS}))
        assert len(found) == 2 + 6 + 1
        for wide, narrow, n, pay in found.rows:
            own = plain(question, (wide, narrow))
            assert n == pytest.approx(len(own), abs=1e-2)
            assert pay == pytest.approx(sum(row["pay"] for row in own), abs=0.5)
        assert fingerprint(question) == fingerprint(dp.parse_sql(WIDTHS.lower(), NAMED))

    @pytest.mark.untraced
    @pytest.mark.parametrize("spend", [dp.PureDP(1), dp.ZCDP("1/2"), dp.ApproxDP(1, 1e-6)])
    def test_a_hierarchy_adds_up(self, spend):
        plan = dp.plan_question(TREE, spend)
        for words in ({}, {"nonnegative": True}, {"whole": True}):
            found = run_plan(plan, dp.Memory({"land": ROWS[:30]}), **words)
            shown = dict(
                zip(found.keys, [row["count"].shown for row in found.estimates], strict=True)
            )
            assert len(shown) == 3 * (24 + 6 + 2 + 1)
            for sex, county in product(("f", "m", None), range(6)):
                tracts = [
                    shown[county // 3, county, t, sex] for t in range(county * 4, county * 4 + 4)
                ]
                assert sum(tracts) == shown[county // 3, county, None, sex]
            for key, value in shown.items():
                if key[3] is None:
                    assert value == shown[(*key[:3], "f")] + shown[(*key[:3], "m")]
                assert not words or value >= 0
                assert "whole" not in words or value.denominator == 1
            again = answer_from_json(answer_to_json(found), plan)
            assert again == found
            assert again.interval(joint=True) == found.interval(joint=True)

    def test_the_store_is_asked_by_the_narrowest_key(self):
        plan = dp.plan_question(TREE, dp.ZCDP(1))
        assert len(plan.releases[0].need.tally.keys) == 2
        assert "residuals of levels" in str(plan)
        assert plan.gap < 1e-2

    def test_places_of_several_columns(self):
        question = dp.Table(LAND).hierarchy("state", "county", by=["sex"], places=PLACES)
        found = run_plan(dp.plan_question(question, dp.PureDP(10**6)), dp.Memory({"land": ROWS}))
        listed = [row for row in ROWS if (row["state"], row["county"]) in PLACES]
        assert len(listed) < len(ROWS)
        assert found.table().column("count")[0] == pytest.approx(
            len(ROWS), abs=1e-2
        )  # a place is not asked there
        assert sum(found.table("sex").column("count")) == pytest.approx(len(ROWS), abs=1e-2)
        assert len(found.table("state", "county")) == 4
        assert [round(n) for n in found.table("state").column("count")] == [
            sum(row["state"] == state for row in listed) for state in "AB"
        ]
        named = dp.Table(LAND).hierarchy(
            "state", "county", places=[{"county": c, "state": s} for s, c in PLACES]
        )
        assert named.nested.rows == tuple(PLACES)

    def test_people_with_several_rows_and_replaced_rows(self):
        people = dp.Schema("land", dp.People("id", max_rows=3), dict(LAND.columns))
        swapped = dp.Schema("land", dp.Rows(), dict(LAND.columns), neighbours="replace")
        errors = []
        for schema in (LAND, people, swapped):
            question = dp.parse_sql(WIDTHS, {"land": schema})
            errors.append(dp.plan_question(question, dp.ZCDP(1)).statistic_errors()["n"])
        assert errors[1] == pytest.approx(3 * errors[0], rel=0.01)
        assert 1.2 * errors[0] < errors[2] < 2.1 * errors[0]

    @pytest.mark.untraced
    def test_by_error(self):
        plan = dp.plan_question(TREE, error=20)
        assert max(plan.statistic_errors().values()) <= 20


class TestMeasurements:
    @pytest.mark.untraced
    @pytest.mark.parametrize("spend", [dp.PureDP(1), dp.ZCDP("1/2")])
    def test_the_formula_gives_the_covariance(self, spend):
        """What is published gives the covariance of any two cells of any sets, as the linear map has it."""
        plan = dp.plan_question(TREE, spend)
        told = run_plan(plan, dp.Memory({"land": ROWS}), whole=True).measurements()["count"]
        made = plan.releases[0].plan
        felt = []
        for at, one in enumerate(made.measured):
            for row in range(one.block.rows):
                noisy = [np.zeros(other.block.rows, dtype=np.int64) for other in made.measured]
                noisy[at][row] = one.grid * 10**6
                estimate = made.estimate(noisy)
                cells = [
                    estimate.table(depth, keys).values.ravel() for depth, keys in made.workload.sets
                ]
                felt.append(np.concatenate(cells) / 10**6 * np.sqrt(one.variance))
        exact = np.array(felt).T @ np.array(felt)
        cells = [row[:4] for row in told["rows"]]
        for a, b in product(range(0, len(cells), 7), range(0, len(cells), 5)):
            assert covariance(told, cells[a], cells[b]) == pytest.approx(
                exact[a, b], rel=1e-3, abs=1e-5
            )

    @pytest.mark.statistical
    @pytest.mark.parametrize("spend", [dp.PureDP(1), dp.ZCDP("1/2")])
    def test_intervals_hold(self, spend):
        """How often 95 % intervals of a cell may miss has a chance below 1e-11 to be passed (binomial tail)."""
        plan, store = (
            dp.plan_question(dp.parse_sql(WIDTHS, NAMED), spend),
            dp.Memory({"land": ROWS}),
        )
        missed, runs = np.zeros(9), draws(60)
        for _ in range(runs):
            found = run_plan(plan, store)
            true = [len(plain(None, key)) for key in found.keys]
            ends = [row["n"] for row in found.interval(0.95)]
            missed += [not low <= n <= high for n, (low, high) in zip(true, ends, strict=True)]
        assert missed.max() <= most_misses(runs)


def covariance(told, a, b):
    """Read the covariance of two cells as the file says, with one list of nodes by level."""
    total = 0.0
    paths = [[v for v in cell[:3] if v is not None] for cell in (a, b)]
    same = next(
        (d for d in range(min(map(len, paths))) if paths[0][d] != paths[1][d]), min(map(len, paths))
    )
    for part in told["components"]:
        if any(cell[3] is None for cell in (a, b)) and part["keys"]:
            continue
        levels = part["levels"]
        if max(map(len, paths)) >= len(levels):
            continue
        top = levels[same]
        value = top["variance"] - (top["pooled"] if min(map(len, paths)) > same else 0.0)
        for path in paths:
            for depth in range(same, len(path)):
                value *= levels[depth + 1]["share"]
        if part["keys"]:
            value *= (a[3] == b[3]) - 0.5
        else:
            value /= np.prod([told["sizes"]["sex"] for cell in (a, b) if cell[3] is not None])
        total += value
    return total


class TestRefusals:
    @pytest.mark.parametrize(
        ("width", "way"), [(11, "use a width of 12 instead of 11"), (6, "use a width of 8 inst")]
    )
    def test_bins_that_overlap(self, width, way):
        with pytest.raises(dp.UnsupportedQuery, match=f"overlap; {way}"):
            dp.parse_sql(WIDTHS.replace("12", str(width)), NAMED)

    def test_cells_where_bins_meet_are_tables(self):
        sql = WIDTHS.replace("12", "10").replace(
            "GROUPING SETS ((FLOOR(tract / 10)),", "GROUPING SETS ("
        )
        both = sql.replace("(FLOOR(tract / 4)),", "(FLOOR(tract / 10), FLOOR(tract / 4)),")
        assert dp.parse_sql(both, NAMED).nested is None

    @pytest.mark.parametrize(
        ("nest", "why"),
        [
            (Nest((0, 1), (("A", "x"), ("A", "x"))), "each once"),
            (Nest((0, 1), (("A", "x"), ("B", "x"), ("A", "y"))), "out of order"),
            (Nest((0, 1), (("A", "q"),)), "its key has not"),
            (Nest((0, 7), (("A", "x"),)), "each once"),
            (Nest((0,), (("A",),)), "each once"),
        ],
    )
    def test_places_that_would_count_a_unit_twice(self, nest, why):
        question = dp.Table(LAND).hierarchy("state", "county")
        with pytest.raises(dp.UnsupportedQuery, match=why):
            require_sound(
                type(question)(
                    question.rows,
                    question.keys,
                    question.statistics,
                    question.finish,
                    question.sets,
                    False,
                    nest,
                )
            )

    def test_a_county_that_lies_in_two_states(self):
        question = dp.Table(LAND).hierarchy("state", "county", places=PLACES)
        with pytest.raises(dp.UnsupportedQuery, match="county alone does not say which"):
            require_sound(
                type(question)(
                    question.rows,
                    question.keys,
                    question.statistics,
                    question.finish,
                    ((0,), (1,)),
                    False,
                    question.nested,
                )
            )

    @pytest.mark.parametrize("places", [[], [("A",)], [("A", "x")] * 2, [("A", None)]])
    def test_places_that_are_none(self, places):
        with pytest.raises(dp.InvalidArgument, match="places lists"):
            dp.Table(LAND).hierarchy("state", "county", places=places)

    def test_places_beside_keys(self):
        with pytest.raises(dp.InvalidArgument, match="others only"):
            dp.Table(LAND).hierarchy("state", "county", places=PLACES, keys={"state": ["A"]})

    @pytest.mark.untraced
    def test_too_many_cells(self):
        wide = dp.Schema(
            "wide",
            dp.Rows(),
            {"x": dp.Integer(0, 5000), "job": dp.Category([f"j{i}" for i in range(40)])},
        )
        sql = "SELECT COUNT(*) AS n FROM wide GROUP BY GROUPING SETS ((FLOOR(x / 20), job), (FLOOR(x / 1000)))"
        assert dp.parse_sql(sql, {"wide": wide}).nested is not None
        with pytest.raises(dp.UnsupportedQuery, match="200,040 combinations, and at most 200,000"):
            dp.parse_sql(sql.replace("FLOOR(x / 20)", "x"), {"wide": wide})
