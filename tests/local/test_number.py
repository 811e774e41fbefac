"""Number: every table keeps ε exactly, is unbiased, and beats the published mechanisms; its intervals hold."""

import math
from fractions import Fraction

import numpy as np
import pytest

from discreet.errors import InvalidArgument
from discreet.local import Number, Randomizer
from discreet.local.estimates.chernoff import chernoff_margin
from discreet.local.table import SCALE, make_table
from discreet.noise.exp import exp_neg
from discreet.privacy.measures import ZCDP, PureDP
from discreet.testing.bits import HashedBits, ScriptedBits, UntouchedBits

EPSILONS = ("1/10", "1/2", "1", "2", "4")


def hybrid(e):
    """The worst-case variance of Wang et al. 2019 on [−1, 1]: Duchi's below ε = 0.61, then mixed with PM."""
    if e <= 0.61:
        return 1 / math.tanh(e / 2) ** 2
    half = math.exp(e / 2)
    return (half + 3) / (3 * half * (half - 1)) + 1 / (half * math.tanh(e / 2) ** 2)


@pytest.mark.parametrize("epsilon", EPSILONS)
class TestTable:
    def test_keeps_epsilon_exactly(self, epsilon):
        """Every ratio of two inputs is at most e^ε, as rationals: w·e^−ε ≤ w', with e^−ε from above."""
        exact = Fraction(epsilon)
        table = make_table(exact)
        high = exp_neg(exact.numerator, exact.denominator, 200)[1]
        for column in table.weights.T.tolist():
            assert max(column) * high <= min(column) << 200
        assert all(sum(row) == SCALE for row in table.weights.tolist())

    def test_unbiased(self, epsilon):
        table = make_table(Fraction(epsilon))
        last = len(table.weights) - 1
        for i, row in enumerate(table.weights.tolist()):
            mean = Fraction(
                sum(w * v for w, v in zip(row, table.values.tolist(), strict=True)), SCALE * SCALE
            )
            assert abs(mean - Fraction(2 * i - last, last)) < Fraction(1, 10**9)

    def test_variance_at_most_that_of_the_hybrid(self, epsilon):
        table = make_table(Fraction(epsilon))
        assert table.worst <= hybrid(float(Fraction(epsilon))) * (1 + 1e-8)
        assert table.worst >= table.variances().max()

    def test_reach_by_the_exact_laws(self, epsilon):
        """Chernoff's bound is above the normal quantile and below Hoeffding's bound on the range of the values."""
        table = make_table(Fraction(epsilon))
        normal = 1.96 * math.sqrt(table.worst / 2000)
        hoeffding = float(np.ptp(table.values)) / SCALE * math.sqrt(math.log(40) / 4000)
        assert normal < chernoff_margin(table, 2000, 0.05) < min(2 * normal, 1.01 * hoeffding)


def test_figures():
    """The optimum at ε = 1, 2, 4 is 3.99, 0.865, 0.127 by a finer program; rounding between inputs may add 4 %."""
    for epsilon, figure in (("1", 3.99), ("2", 0.865), ("4", 0.127)):
        assert figure * 0.99 < make_table(Fraction(epsilon)).worst < 1.04 * figure


class TestReports:
    def test_the_law_of_a_row(self):
        """Word u falls on the output whose cumulated weights enclose it."""
        number = Number(-1, 1, PureDP(1))
        ends = np.cumsum(number.table.weights[0])
        for output, end in enumerate(ends.tolist()):
            for word in (end - 1, end - int(number.table.weights[0, output])):
                bits = ScriptedBits((0).to_bytes(8, "little") + word.to_bytes(8, "little"))
                assert number.randomize(-1, bits=bits) == output

    def test_rounding_between_inputs(self):
        number = Number(0, 10, PureDP(1))  # eleven inputs: 0, 1 … 10
        assert len(number.table.weights) == 11
        places = number._positions(np.array([0, 2.5, 10, 11, -3, float("inf")]))
        assert (places / 2**52).tolist() == [0, 2.5, 10, 10, 0, 10]

    @pytest.mark.statistical
    def test_covers(self):
        """Ten means of 2,000 people at 1 − 1e-12 each: a false alarm has a chance of at most 1e-11."""
        number = Number(0, 100, PureDP(1))
        values = np.random.default_rng(3).uniform(20, 90, 2000)
        for _ in range(10):
            found = number.estimate(number.randomize(values), level=1 - 1e-12)
            assert found.low[0] <= values.mean() <= found.high[0]

    def test_a_forged_report_moves_little(self):
        number = Number(0, 100, PureDP(1))
        honest = number.randomize(np.full(100, 50), bits=HashedBits(b"n"))
        before = number.estimate(honest)["mean"]
        for forged in range(number.table.values.size):
            poisoned = honest.copy()
            poisoned[0] = forged
            assert abs(number.estimate(poisoned)["mean"] - before) <= number.influence(n=100)

    def test_refusals(self):
        number = Number(0, 100, PureDP(1))
        for bad in (float("nan"), [1, float("nan")], "3", None, [[1.0]]):
            with pytest.raises(InvalidArgument):
                number.randomize(bad, bits=UntouchedBits())
        for reports in ([], [99999], [-1], [0.5]):
            with pytest.raises(InvalidArgument):
                number.estimate(reports)
        for low, high, spend in ((0, 0, PureDP(1)), (0, 1, PureDP("1/1000")), (0, 1, PureDP(0))):
            with pytest.raises(InvalidArgument):
                Number(low, high, spend)

    @pytest.mark.slow
    def test_errors_foretold(self):
        number = Number.for_error(2, n=50_000, low=0, high=100)
        assert (
            number.error(n=50_000)
            <= 2
            < Number(0, 100, PureDP(number.epsilon * Fraction(95, 100))).error(n=50_000)
        )
        with pytest.raises(InvalidArgument, match="no epsilon"):
            Number.for_error("1e-9", n=10, low=0, high=100)

    def test_one_of_the_room(self):
        number = Number(0, 1, PureDP(1))
        assert isinstance(number, Randomizer)
        assert repr(number) == "Number(0, 1, epsilon=1)"
        assert 0.9 < Number(0, 1, ZCDP("1/2")).epsilon < 1.3
        assert number.event.measure == PureDP(number.epsilon)

    def test_parameters(self):
        number = Number(0, "12.5", PureDP(1))
        data = number.to_json()
        again = Number.from_json(data)
        assert again.to_json() == data
        same = [
            n.randomize(np.linspace(0, 12.5, 50), bits=HashedBits(b"p")).tolist()
            for n in (number, again)
        ]
        assert same[0] == same[1]
        swapped = [row[:] for row in data["weights"]]
        swapped[0] = swapped[0][::-1]
        cheaper = data | {"epsilon": "9/10"}
        short = data | {"values": data["values"][1:]}
        for bad in (
            cheaper,
            short,
            data | {"weights": [*swapped[1:], [1] * len(swapped[0])]},
            data | {"version": 2},
        ):
            with pytest.raises(InvalidArgument):
                Number.from_json(bad)
        for bad in (data | {"more": 1}, data | {"weights": [[1], [2, 3]]}):
            with pytest.raises(InvalidArgument):
                Number.from_json(bad)
