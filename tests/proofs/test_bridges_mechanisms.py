"""Bridges of mechanisms, samplers, strategies and the book, on all small inputs.

The statements are those of proofs/Mechanisms.v, PermuteFlip.v, Sparse.v, Curves.v, Samplers.v, Strategies.v and Book.v.
"""

from __future__ import annotations

import json
import math
from fractions import Fraction
from itertools import pairwise, product
from pathlib import Path

import numpy as np
import pytest

import discreet as dp
from discreet.errors import BudgetExceeded
from discreet.local import Choice
from discreet.mechanisms.keys.partition import optimal_rule
from discreet.noise.exact_search import gap_of
from discreet.noise.exp import exp_neg
from discreet.noise.law import cell, first
from discreet.privacy import LaplaceNoise, PureDP
from discreet.privacy.pricing.group import delta_factor
from discreet.privacy.pricing.zcdp import laplace_rho
from discreet.workloads.residual import residual_block
from discreet.workloads.strategy_norms import block_of

ROOT = Path(__file__).parents[2]
CONSTANTS = json.loads((ROOT / "proofs" / "checked.json").read_text("utf-8"))["constants"]
ROUNDING = 1e-12
"""Floats of chances below 1 that are sums of at most nine terms."""
SCORES = list(product(range(3), repeat=3))


def neighbours_of_scores(*, monotone):
    """All pairs of scores of three options that differ by at most 1, to one side if monotone."""
    moves = product((0, 1) if monotone else (-1, 0, 1), repeat=3)
    for scores, move in product(SCORES, moves):
        yield scores, tuple(s + m for s, m in zip(scores, move, strict=True))


def largest_ratio(mechanism, *, monotone):
    """The largest ratio of chances over all neighbouring scores, both ways."""
    worst = 1.0
    for scores, moved in neighbours_of_scores(monotone=monotone):
        one = mechanism.probabilities(np.array(scores))
        other = mechanism.probabilities(np.array(moved))
        worst = max(worst, float((one / other).max()), float((other / one).max()))
    return worst


class TestExponential:
    """Row 31: with c = e^(ε/2Δ) a step of scores moves chances by c², monotone ones by c."""

    def test_any_scores(self):
        found = largest_ratio(dp.Exponential(1, 1), monotone=False)
        assert found <= math.exp(1) * (1 + ROUNDING)

    def test_monotone_scores_need_half(self):
        found = largest_ratio(dp.Exponential(1, 1), monotone=True)
        assert found <= math.exp(0.5) * (1 + ROUNDING)


def drawn(heads, coins):
    """`drawn` of PermuteFlip.v: the chance of one head among `heads` + 1 and coins still to fall."""
    if not coins:
        return Fraction(1, heads + 1)
    p, *rest = coins
    return p * drawn(heads + 1, rest) + (1 - p) * drawn(heads, rest)


class TestPermuteAndFlip:
    """Rows 32 and 33: the price, and the law of all coins at once."""

    def test_price(self):
        found = largest_ratio(dp.PermuteAndFlip(1, 1), monotone=False)
        assert found <= math.exp(1) * (1 + ROUNDING)

    @pytest.mark.parametrize("scores", SCORES, ids=str)
    def test_all_coins_at_once(self, scores):
        mechanism = dp.PermuteAndFlip(1, 1)
        stated = mechanism.probabilities(np.array(scores))
        biases = [math.exp(0.5 * (score - max(scores))) for score in scores]
        for option, bias in enumerate(biases):
            others = biases[:option] + biases[option + 1 :]
            assert stated[option] == pytest.approx(bias * float(drawn(0, others)), rel=1e-12)


def tail(scale, z):
    """P[Z ≥ z] of two-sided geometric noise with e^(−1/scale)."""
    a = math.exp(-1 / scale)
    right = a ** np.maximum(z, 1) / (1 + a)
    left = 1 - a ** (1 - np.minimum(z, 0)) / (1 + a)
    return np.where(z >= 1, right, left)


class TestAboveThreshold:
    """Row 34: noes before one yes, for all small answers and moves by one step."""

    @staticmethod
    def chance(answers, threshold_scale, scale):
        x = np.arange(-400, 401)
        a = math.exp(-1 / threshold_scale)
        found = (1 - a) / (1 + a) * a ** np.abs(x)
        for answer in answers[:-1]:
            found *= 1 - tail(scale, x - answer)
        return float((found * tail(scale, x - answers[-1])).sum())

    def test_all_small(self):
        svt = dp.SparseVector(1, 1, answers=1)
        scales = float(svt.threshold_scale), float(svt.scale)
        for answers, moves in product(product((0, 3), repeat=3), product((-1, 0, 1), repeat=3)):
            moved = [x + move for x, move in zip(answers, moves, strict=True)]
            ratio = self.chance(answers, *scales) / self.chance(moved, *scales)
            assert ratio <= math.e * (1 + 1e-9)


class TestLaplaceVector:
    """Row 35: chances of a vector of noise change by at most e^(L1 distance / scale)."""

    def test_all_small(self):
        noise = dp.Geometric(2, 1)
        for x, y in product(product(range(-2, 3), repeat=2), repeat=2):
            distance = sum(abs(a - b) for a, b in zip(x, y, strict=True))
            at_x = math.prod(float(noise.pmf(entry)) for entry in x)
            at_y = math.prod(float(noise.pmf(entry)) for entry in y)
            assert at_x * math.exp(-distance / float(noise.scale)) <= at_y * (1 + ROUNDING)


def step(x, a):
    """`step` of Curves.v: the best power at size x after one lattice step."""
    return min(x / a, 1 - a * (1 - x))


class TestSplitShift:
    """Row 36: powers of split shifts, and ρ of split shifts, are at most those of one shift."""

    @pytest.mark.parametrize("ratio", [Fraction(1, 2), Fraction(3, 4)])
    def test_one_shift_is_the_iterated_step(self, ratio):
        a = float(ratio)
        tails = [float(tail(-1 / math.log(a), np.array(c))) for c in range(-6, 7)]
        for higher, lower in pairwise(tails):
            assert step(lower, a) == pytest.approx(higher, rel=1e-12)

    def test_the_price_of_one_shift_covers_splits(self):
        for m, n in product(range(1, 5), repeat=2):
            split = laplace_rho(0.25 * m, m) + laplace_rho(0.25 * n, n)
            assert split <= laplace_rho(0.25 * (m + n), m + n) * (1 + ROUNDING)


class TestPostProcessing:
    """Row 37: a truncated geometric is the clamped geometric, outcome by outcome."""

    @pytest.mark.parametrize("value", range(4))
    def test_clamped(self, value):
        cut = dp.TruncatedGeometric(1, 1, low=0, high=3)
        noise = dp.Geometric(1, 1)
        far = range(-80, 81)
        for x in range(4):
            pushed = sum(float(noise.pmf(o)) for o in far if min(max(value + o, 0), 3) == x)
            assert float(cut.pmf(x, value)) == pytest.approx(pushed, rel=1e-12)


class TestTwoLevels:
    """Row 38: e^ε on the sets of a value and 1 off them over one normaliser."""

    @pytest.mark.parametrize("options", [2, 3, 5, 8])
    def test_ratio_and_sum(self, options):
        law = Choice(options, PureDP(1)).law
        facts = law.facts
        inside, outputs = facts.inside, facts.outputs
        total = math.e * inside + (outputs - inside)
        assert law.p == pytest.approx(math.e * inside / total, rel=1e-12)
        # The two levels: a report's chance on its own sets, and off them.
        on, off = law.p / inside, (1 - law.p) / (outputs - inside)
        assert on <= math.e * off * (1 + ROUNDING)


class TestGroups:
    """Row 39: the factor of δ is 1 + a + … + a^(K−1)."""

    def test_all_small(self):
        for epsilon, size in product((0.0, 0.5, 1.0, 2.0), range(1, 7)):
            stated = sum(math.exp(epsilon) ** i for i in range(size))
            assert delta_factor(epsilon, size) == pytest.approx(stated, rel=1e-12)


class TestTwoParts:
    """Row 40: books of two parts under replace keep C + P + Q ≤ B, whatever is asked in any order."""

    def test_all_small(self):
        events = [(part, size) for part in (None, "a", "b") for size in (1, 2)]
        for asked in product(events, repeat=3):
            budget = PureDP(4)
            parts = dp.Parts("t", "k", ["a", "b"])
            with dp.open_ledger(":memory:", budget, parts=parts, neighbours="replace") as ledger:
                spent = {None: 0, "a": 0, "b": 0}
                for part, size in asked:
                    noise = LaplaceNoise(1, size, neighbours="replace")
                    try:
                        ledger.charge(noise, who="w", why="y", part=part)
                    except BudgetExceeded:
                        continue
                    spent[part] += size
                assert spent[None] + spent["a"] + spent["b"] <= 4


class TestParallel:
    """Row 41: under add/remove each part has the whole budget, and no part more."""

    def test_all_small(self):
        for asked in product([("a", 1), ("b", 2), (None, 1)], repeat=4):
            parts = dp.Parts("t", "k", ["a", "b"])
            with dp.open_ledger(
                ":memory:", PureDP(3), parts=parts, neighbours="add-remove"
            ) as ledger:
                spent = {None: 0, "a": 0, "b": 0}
                for part, size in asked:
                    try:
                        ledger.charge(LaplaceNoise(1, size), who="w", why="y", part=part)
                    except BudgetExceeded:
                        continue
                    spent[part] += size
                assert spent[None] + max(spent["a"], spent["b"]) <= 3


class TestRejection:
    """Row 42: after any number of rounds an accepted index has exactly its weight."""

    def test_all_small(self):
        for weights in product(range(1, 4), repeat=3):
            shares = [Fraction(w, 16) for w in weights]
            accepted = sum(shares)
            for rounds in range(5):
                kept = [sum((1 - accepted) ** i * w for i in range(rounds)) for w in shares]
                for share, found in zip(shares, kept, strict=True):
                    assert found == share / accepted * (1 - (1 - accepted) ** rounds)


class TestCells:
    """Row 43: cells of 2^shift integers, each integer in one of them."""

    @pytest.mark.parametrize("shift", range(4))
    def test_cells_partition_the_integers(self, shift):
        reach = 64
        cells = {}
        for x in range(-reach, reach):
            cells.setdefault(x >> shift, []).append(x)
        assert all(len(inside) == 1 << shift for inside in cells.values())
        for inside in cells.values():
            nearest = min(inside, key=lambda x: (abs(x), x))
            assert all(first(x, shift) == nearest for x in inside)
        order = [cell(j, 2) for j in range(2 * reach)]
        assert sorted(order) == list(range(-reach, reach))


class TestLazyComparison:
    """Row 44: `gap_of` on every case that Coq computed by `gap`; decided cases are exact."""

    def test_as_coq_computes(self):
        rows = CONSTANTS["gap_table"]
        assert len(rows) == 1000
        for start, stop, *bounds, index in rows:
            thresholds = [tuple(bounds[:2]), tuple(bounds[2:])]
            assert gap_of(start, stop, thresholds) == index


MATRICES = [np.array(m).reshape(2, 2) for m in product((-2, 0, 1), repeat=4)]


def column_l1(block, matrix):
    return block.l1 >= max(np.abs(matrix).sum(axis=0))


def column_l2(block, matrix):
    return block.square >= max((matrix**2).sum(axis=0))


class TestStrategies:
    """Row 45: a unit in one cell moves what is measured by a column."""

    @pytest.mark.parametrize("statement", [column_l1, column_l2])
    def test_all_small(self, statement):
        used = [matrix for matrix in MATRICES if matrix.any(axis=0).all()]
        assert all(statement(block_of("m", matrix), matrix) for matrix in used)


def contrasts(sizes):
    """The columns of ⊗(n·I − 11ᵀ)."""
    found = np.ones((1, 1), dtype=int)
    for n in sizes:
        found = np.kron(found, n * np.eye(n, dtype=int) - 1)
    return found.T


class TestContrasts:
    """Rows 46 and 47: norms of contrasts and of their products, add/remove and replace."""

    @pytest.mark.parametrize(
        "sizes", [(2,), (3,), (5,), (2, 2), (2, 3), (3, 4), (2, 3, 3)], ids=str
    )
    def test_all_columns(self, sizes):
        block = residual_block(sizes)
        columns = contrasts(sizes)
        assert {int(np.abs(c).sum()) for c in columns} == {block.l1}
        assert {int((c**2).sum()) for c in columns} == {block.square}
        apart = {int(((x - y) ** 2).sum()) for x, y in product(columns, repeat=2)}
        assert max(apart) == block.pair


class TestUnknownKeys:
    """Row 48: a key that one person alone holds is shown with chance at most δ."""

    @pytest.mark.parametrize("epsilon", [Fraction(1, 2), 1, 2])
    def test_all_small(self, epsilon):
        for delta in (Fraction(1, 10), Fraction(1, 1000)):
            for groups in (1, 2, 3):
                rule = dp.LaplaceThreshold(epsilon, delta, max_groups=groups)
                assert 1 - (1 - rule.shown(1)) ** groups <= float(delta) * (1 + 1e-9)


def private(x, y, decay, delta, one):
    """`private` of Curves.v in whole numbers: both outcomes, both ways; decay ≥ e^(−ε)·one."""
    return all(
        decay * p <= one * q + decay * delta
        for p, q in ((y, x), (x, y), (one - y, one - x), (one - x, one - y))
    )


class TestKeyRule:
    """Row 49: every two neighbouring counts, in exact whole numbers."""

    @pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(1), Fraction(3)])
    def test_all_counts(self, epsilon):
        one = 1 << 124
        delta = Fraction(1, 100)
        # The lower bound of e^(−ε): the statement is no easier than the true one.
        decay = exp_neg(epsilon.numerator, epsilon.denominator, 124)[0]
        rule = optimal_rule(epsilon, delta)
        for x, y in pairwise(rule):
            assert private(x, y, decay, int(delta * one) + 1, one)


def run(asked, budget, prices):
    """`run` of Book.v: asked before is free, new is charged if it fits."""
    log = []
    for question in asked:
        fits = sum(prices[x] for x in log) + prices[question] <= budget
        if question not in log and fits:
            log.append(question)
    return log


class TestBook:
    """Row 50: a ledger's charges are those of `run`, for all sequences of three questions."""

    def test_all_small(self):
        prices = {"p": 1, "q": 2, "r": 3}
        for asked in product(prices, repeat=4):
            with dp.open_ledger(":memory:", PureDP(4)) as ledger:
                log = []
                for question in asked:
                    before = ledger.left()
                    if question in log:
                        continue
                    try:
                        ledger.charge(LaplaceNoise(1, prices[question]), who="w", why=question)
                    except BudgetExceeded:
                        assert ledger.left() == before
                        continue
                    log.append(question)
                assert log == run(asked, 4, prices)
                assert ledger.left() == PureDP(4 - sum(prices[x] for x in log))


class TestWrongStatements:
    """Statements that are false are refuted on the same inputs."""

    def test_scores_of_two_sides_at_the_price_of_one(self):
        found = largest_ratio(dp.Exponential(1, 1), monotone=False)
        assert found > math.exp(0.5) * (1 + ROUNDING)

    def test_a_group_pays_delta_once_for_each(self):
        assert delta_factor(1.0, 3) != pytest.approx(3, rel=1e-12)

    def test_contrasts_under_replace_are_two_columns(self):
        columns = contrasts((2, 3))
        apart = {int(((x - y) ** 2).sum()) for x, y in product(columns, repeat=2)}
        assert max(apart) > 2 * residual_block((2, 3)).square

    def test_a_rule_with_twice_delta(self):
        one = 1 << 124
        rule = optimal_rule(Fraction(1), Fraction(2, 100))
        decay = exp_neg(1, 1, 124)[0]
        delta = int(Fraction(1, 100) * one) + 1
        pairs = pairwise(rule)
        assert not all(private(x, y, decay, delta, one) for x, y in pairs)

    def test_keys_at_the_chance_of_one_key(self):
        """Without δ' = 1 − (1 − δ)^(1/K) two keys of a person would be shown too often."""
        rule = dp.LaplaceThreshold(Fraction(1, 2), Fraction(1, 10))
        assert 1 - (1 - rule.shown(1)) ** 2 > 0.1
