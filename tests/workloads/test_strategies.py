"""Strategies measure whole numbers exactly, estimate without bias, and err as they say."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dp
from discreet.privacy import fits
from discreet.workloads import (
    Counts,
    Hierarchy,
    RunningTotals,
    StrategyNorms,
    Tables,
    bound_of,
    marginals,
    plan_strategy,
)
from discreet.workloads.choose import strategies
from discreet.workloads.estimate import STEP
from discreet.workloads.plan import planned
from discreet.workloads.residual import ResidualStrategy, residual_error
from discreet.workloads.workload import MAX_CELLS
from support.profile import examples

ADULT = (85, 9, 100, 16, 7, 15, 6, 5, 2, 100, 100, 99, 42, 2)
CPS = (100, 50, 7, 4, 2)
BUDGETS = [dp.PureDP("1/3"), dp.PureDP(2), dp.ZCDP("1/8"), dp.GaussianDP("1/2")]


@st.composite
def tables(draw):
    sizes = draw(st.lists(st.integers(1, 4), min_size=1, max_size=3))
    every = [s for k in range(len(sizes) + 1) for s in combinations(range(len(sizes)), k)]
    sets = draw(st.lists(st.sampled_from(every), min_size=1, max_size=len(every), unique=True))
    return Tables(sizes, sets, draw(st.sampled_from(["cells", "sets"])))


@st.composite
def trees(draw):
    levels, above = [], 1
    for _ in range(draw(st.integers(1, 3))):
        counts = draw(st.lists(st.integers(1, 3), min_size=above, max_size=above))
        levels.append(np.repeat(np.arange(above), counts))
        above = sum(counts)
    return Hierarchy(levels)


@st.composite
def counts(draw):
    width = draw(st.integers(1, 6))
    row = st.lists(st.integers(0, 1), min_size=width, max_size=width).filter(any)
    return Counts(draw(st.lists(row, min_size=1, max_size=6)))


lines = st.builds(RunningTotals, st.integers(1, 9), ranges=st.booleans())
workloads = st.one_of(tables(), trees(), counts(), lines)


def cells_of(workload):
    match workload:
        case Tables():
            return math.prod(workload.sizes)
        case Hierarchy():
            return workload.sizes[-1]
        case RunningTotals():
            return workload.size
    return workload.matrix.shape[1]


def totals_of(workload, x):
    """Return cells in the shape that a strategy of the workload measures."""
    match workload:
        case Tables():
            return {tuple(range(len(workload.sizes))): x.reshape(workload.sizes)}
        case Hierarchy():
            return x[:, None]
    return x


def answers_of(workload, estimate):
    """Return all that is asked, set by set, in floats."""
    match workload:
        case Tables():
            return [estimate.table(one).values.ravel() for one in workload.sets]
        case Hierarchy():
            return [estimate.level(depth)[:, 0] / STEP for depth in range(len(workload.sizes))]
        case RunningTotals():
            prefix = np.concatenate([[0], np.cumsum(estimate.cells)])
            if workload.ranges:
                return [
                    np.array(
                        [prefix[b] - prefix[a] for a, b in combinations(range(len(prefix)), 2)]
                    )
                    / STEP
                ]
            return [prefix[1:] / STEP]
    return [estimate.sums(workload.matrix) / STEP]


def units(workload):
    return [totals_of(workload, column) for column in np.eye(cells_of(workload), dtype=np.int64)]


class TestSensitivity:
    """The norms of a block are the largest of its columns, found by trying every cell and every pair of cells."""

    @given(workloads, st.booleans())
    @settings(max_examples=examples(120))
    def test_of_every_strategy(self, workload, laplace):
        for strategy in strategies(workload, laplace=laplace):
            columns = [strategy.measure(unit) for unit in units(workload)]
            for at, block in enumerate(strategy.blocks):
                matrix = np.array([column[at] for column in columns])
                assert block.rows == matrix.shape[1]
                assert block.l1 == np.abs(matrix).sum(axis=1).max()
                assert block.square == (matrix**2).sum(axis=1).max()
                assert block.linf == np.abs(matrix).max()
                assert block.touched == (matrix != 0).sum(axis=1).max()
                assert block.mixed or (matrix >= 0).all()
                pairs = [((a - b) ** 2).sum() for a, b in combinations(matrix, 2)]
                assert block.pair >= max(pairs, default=0)

    @given(tables())
    @settings(max_examples=examples(40))
    def test_of_replaced_contrasts_is_exact(self, workload):
        """Two units that differ in the smallest key alone are farthest apart; the total does not move at all."""
        strategy = ResidualStrategy(workload)
        columns = [strategy.measure(unit) for unit in units(workload)]
        for at, (part, block) in enumerate(zip(strategy.parts, strategy.blocks, strict=True)):
            pairs = [((a[at] - b[at]) ** 2).sum() for a, b in combinations(columns, 2)]
            assert not part or block.pair == max(pairs)

    @given(workloads, st.integers(1, 5), st.booleans(), st.sampled_from(BUDGETS), st.data())
    @settings(max_examples=examples(80))
    def test_bounds_any_move_of_one_unit(self, workload, size, signed, budget, data):
        """‖Aδ‖ of any δ that a unit may cause, added or replaced, is within the norms that are charged."""
        strategy = strategies(workload, laplace=isinstance(budget, dp.PureDP))[-1]
        signs = st.sampled_from([-1, 1]) if signed else st.just(1)
        unit = st.lists(st.tuples(st.integers(0, cells_of(workload) - 1), signs), max_size=size)
        for near in ("add-remove", "replace"):
            move = np.zeros(cells_of(workload), dtype=np.int64)
            for cell, sign in data.draw(unit):
                move[cell] += sign
            for cell, sign in data.draw(unit) if near == "replace" else ():
                move[cell] -= sign
            found = strategy.measure(totals_of(workload, move))
            for rows, block in zip(found, strategy.blocks, strict=True):
                norms = block.sensitivity(StrategyNorms(size, near, signed))
                assert np.abs(rows).sum() <= norms.l1
                assert (rows**2).sum() <= norms.squared_l2
                assert np.abs(rows).max() <= norms.linf
                assert (rows != 0).sum() <= max(norms.changed, 0)


class TestEstimates:
    """The least-squares estimate is unbiased, linear, consistent, and its variances are those that are predicted."""

    @given(workloads, st.sampled_from(BUDGETS), st.data())
    @settings(max_examples=examples(80))
    def test_without_noise_is_the_truth(self, workload, budget, data):
        size = cells_of(workload)
        x = np.array(
            data.draw(st.lists(st.integers(0, 10**6), min_size=size, max_size=size)), dtype=np.int64
        )
        truth = answers_of(workload, _of_cells(workload, x))
        for strategy in strategies(workload, laplace=isinstance(budget, dp.PureDP)):
            plan = planned(
                workload,
                strategy,
                budget,
                StrategyNorms(),
                bound_of(workload, budget, StrategyNorms()),
            )
            exact = strategy.measure(totals_of(workload, x))
            noisy = [rows * one.grid for rows, one in zip(exact, plan.measured, strict=True)]
            for found, true in zip(answers_of(workload, plan.estimate(noisy)), truth, strict=True):
                assert np.allclose(found, true, atol=1e-4 * size, rtol=1e-7)

    @given(workloads, st.sampled_from(BUDGETS))
    @settings(max_examples=examples(60))
    def test_variances_are_those_of_the_linear_map(self, workload, budget):
        """Push one unit of noise at a time through the estimate: Σ squares is the variance."""
        for strategy in strategies(workload, laplace=isinstance(budget, dp.PureDP)):
            plan = planned(
                workload,
                strategy,
                budget,
                StrategyNorms(),
                bound_of(workload, budget, StrategyNorms()),
            )
            sums = None
            for at, one in enumerate(plan.measured):
                for row in range(one.block.rows):
                    noisy = [np.zeros(other.block.rows, dtype=np.int64) for other in plan.measured]
                    noisy[at][row] = one.grid * 10**6
                    felt = [
                        (a / 10**6) ** 2 * one.variance
                        for a in answers_of(workload, plan.estimate(noisy))
                    ]
                    sums = (
                        felt if sums is None else [a + b for a, b in zip(sums, felt, strict=True)]
                    )
            found = [math.sqrt(one.mean()) for one in sums]
            assert found == pytest.approx(plan.set_rmse, rel=1e-4)

    @given(tables(), st.sampled_from(BUDGETS), st.integers(0, 10**9))
    @settings(max_examples=examples(40))
    def test_tables_add_up_to_the_last_digit(self, workload, budget, seed):
        plan = plan_strategy(workload, [budget])
        rng = np.random.default_rng(seed)
        noisy = [rng.integers(-(10**9), 10**9, one.block.rows) for one in plan.measured]
        estimate = plan.estimate(noisy)
        for fine in workload.sets:
            for coarse in workload.sets:
                if set(coarse) < set(fine):
                    gone = tuple(at for at, key in enumerate(fine) if key not in coarse)
                    assert estimate.table(fine).sum(gone).same(estimate.table(coarse))


def _of_cells(workload, x):
    """Return an estimate that is the truth: the finest cells, measured without noise."""
    wide = (
        Tables(workload.sizes, [tuple(range(len(workload.sizes)))])
        if isinstance(workload, Tables)
        else workload
    )
    found = strategies(wide, laplace=True)[0]
    plan = planned(
        wide, found, dp.PureDP(1), StrategyNorms(), bound_of(wide, dp.PureDP(1), StrategyNorms())
    )
    exact = found.measure(totals_of(workload, x))
    return plan.estimate([rows * one.grid for rows, one in zip(exact, plan.measured, strict=True)])


class TestPrice:
    """All measurements together keep the promise that was asked for, and a set costs no more than its parts apart."""

    @given(
        workloads,
        st.sampled_from(BUDGETS),
        st.integers(1, 3),
        st.sampled_from(["add-remove", "replace"]),
    )
    @settings(max_examples=examples(60))
    def test_fits_the_budget(self, workload, budget, size, near):
        plan = plan_strategy(workload, [budget], change=StrategyNorms(size, near))
        assert plan.event.neighbours == near
        assert fits(plan.event, budget)

    @given(workloads, st.sampled_from(BUDGETS), st.integers(1, 3))
    @settings(max_examples=examples(60))
    def test_never_crosses_the_bound(self, workload, budget, size):
        plan = plan_strategy(workload, [budget], change=StrategyNorms(size))
        assert plan.rmse >= plan.bound.rmse
        assert all(rmse >= plan.rmse - 1e-12 for _, _, rmse in plan.tried)

    @given(tables(), st.sampled_from(BUDGETS))
    @settings(max_examples=examples(30))
    def test_is_no_worse_than_its_tables_asked_apart(self, workload, budget):
        """Apart, each of k tables gets a k-th of the budget, and its own least noise."""
        share = 1 / len(workload.sets)
        if isinstance(budget, dp.PureDP):
            apart = 2 / float(budget.epsilon * share) ** 2
        else:
            apart = 1 / (
                float(2 * budget.rho if isinstance(budget, dp.ZCDP) else budget.squared) * share
            )
        assert plan_strategy(workload, [budget]).rmse <= math.sqrt(apart) * (1 + 1e-6)

    @given(workloads, st.sampled_from(BUDGETS), st.sampled_from([0.5, 20, 3000]))
    @settings(max_examples=examples(16))
    def test_meets_an_error(self, workload, budget, error):
        try:
            plan = plan_strategy(workload, [budget], error=error)
        except dp.InvalidArgument as refused:  # whole noise cannot be as small as one likes
            assert error < 1 and "ask for a larger error" in str(refused)
            return
        assert max(plan.reach(0.05)) <= error
        assert fits(plan.event, plan.budget)


class TestPublishedFigures:
    """Xiao et al. 2023, tables 3 and 4, at price 1; McKenna et al. 2018 and Li, Miklau 2013 for lines at ε = 1."""

    @pytest.mark.parametrize(
        ("sizes", "keys", "rmse"),
        [
            (ADULT, 1, 3.047),
            (ADULT, 2, 6.359),
            (ADULT, 3, 10.515),
            (CPS, 1, 1.744),
            (CPS, 2, 2.035),
            (CPS, 3, 2.048),
        ],
    )
    def test_marginals(self, sizes, keys, rmse):
        asked = Tables(sizes, combinations(range(len(sizes)), keys), "cells")
        assert math.sqrt(residual_error(asked)) == pytest.approx(rmse, abs=6e-4)

    def test_all_tables_of_adult_up_to_three_keys(self):
        assert math.sqrt(residual_error(marginals(ADULT, 3, "cells"))) <= 10.67

    @pytest.mark.parametrize(
        ("ranges", "pure", "gaussian"), [(False, 7.41, 10.7), (True, 8.17, 12.3)]
    )
    def test_lines(self, ranges, pure, gaussian):
        line = RunningTotals(256, ranges=ranges)
        assert plan_strategy(line, [dp.PureDP(1)]).rmse <= pure
        smooth = plan_strategy(line, [dp.GaussianDP(1 / 4.224678889)])
        assert smooth.rmse <= gaussian
        assert smooth.gap <= 1e-3

    @pytest.mark.parametrize("size", [4, 5])
    def test_a_second_table_beside_the_finest(self, size):
        """A share of Laplace noise for the total, searched for here by the formula of its variance."""
        plan = plan_strategy(Tables((size, size), [(0, 1), (0,), (1,), ()], "sets"), [dp.PureDP(1)])
        share = np.linspace(0, 0.9, 1000)
        cell = 2 / (1 - share) ** 2
        total = 1 / (share**2 / 2 + 1 / (size**2 * cell))
        searched = (cell + 2 * size * cell + total) / 4
        assert plan.rmse <= 1.001 * math.sqrt(searched.min())
        assert plan.rmse <= 0.98 * math.sqrt(searched[0])

    def test_counts_above_twenty_thresholds(self):
        assert plan_strategy(Counts(np.tri(20, 21, dtype=np.int64)), [dp.PureDP(1)]).rmse <= 5


class TestRefusals:
    @pytest.mark.parametrize(
        ("make", "words"),
        [
            (lambda: Tables((1000, 1000, 1000), [(0, 1, 2)]), "1,000,000,000 cells is asked"),
            (lambda: Tables((2, 2), [(0,), (0,)]), "each once"),
            (lambda: Tables((2, 2), []), "1 to 1,024 sets"),
            (lambda: Tables((2, 2), [(0, 2)]), "from 0 to 1"),
            (lambda: marginals((2, 2), 3), "number of keys, 2"),
            (lambda: RunningTotals(5000), "wider bins"),
            (lambda: Hierarchy([[0, 0], [0, 0, 0]]), "in the order of their parents"),
            (lambda: Hierarchy([]), "a level below its root"),
            (lambda: Counts([[0, 2]]), "0 and 1"),
            (lambda: Counts(np.ones((1, 1025), dtype=np.int64)), "1,025 cells"),
            (lambda: plan_strategy(RunningTotals(3), []), "give one"),
            (lambda: plan_strategy(RunningTotals(3), [dp.ZCDP("1e-40")]), r"2\^50"),
            (lambda: plan_strategy(RunningTotals(3), [dp.PureDP("1e-40")]), r"2\^50"),
            (
                lambda: (
                    Tables((2,), [(0,)])
                    and plan_strategy(RunningTotals(3), [dp.PureDP(1)], change=StrategyNorms(0))
                ),
                "size",
            ),
        ],
    )
    def test_say_what_would_work(self, make, words):
        with pytest.raises(dp.DiscreetError, match=words):
            make()

    def test_totals_beyond_64_bits_are_measured_all_the_same(self):
        """A refusal after the charge would tell how large totals are; nor may an estimate stop at some number."""
        for workload in (
            RunningTotals(4),
            Tables((9, 9), [(0,), (1,), (0, 1)]),
            Hierarchy([[0, 0], [0, 1]]),
        ):
            for size in (2**43, 2**60):
                plan = plan_strategy(workload, [dp.ZCDP(1)])
                huge = np.full(cells_of(workload), size)
                found = answers_of(
                    workload, plan.estimate(plan.release(totals_of(workload, huge)))
                )[0]
                count = {RunningTotals: 1, Tables: 9, Hierarchy: 2}[type(workload)]
                assert float(found.ravel()[0]) == pytest.approx(count * size, rel=1e-9)

    def test_there_are_limits_on_cells(self):
        assert MAX_CELLS == 10_000_000
