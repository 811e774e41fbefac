"""The residue's cost is enough at every ε, in 50 digits, and for symmetric noise not a thousandth more than needed."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache

import mpmath as mp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import BudgetExceeded
from discreet.privacy.events import (
    BinomialNoise,
    DiscreteGaussianNoise,
    DiscreteLaplaceNoise,
    ExponentialSelection,
    GaussianNoise,
    KeySelection,
    LaplaceNoise,
    Parallel,
    PermuteAndFlipSelection,
    Promise,
    Repeated,
    Response,
    Sampled,
    SparseVector,
    TruncatedGeometricNoise,
)
from discreet.privacy.filters import residue
from discreet.privacy.filters.filter import open_filter
from discreet.privacy.measures import ZCDP, ApproxDP, GaussianDP, PureDP
from discreet.privacy.pricing.gdp import price_gdp
from support.profile import examples

DIGITS = 50


def gauss(s, e):
    """δ(e) of G(√s), in high precision, at any real e."""
    root = mp.sqrt(s)
    return mp.ncdf(root / 2 - e / root) - mp.exp(e) * mp.ncdf(-root / 2 - e / root)


def rest(law, t, e):
    """δ(e) of a discrete loss followed by G(√t); the law lists (loss, chance under D)."""
    return sum(p * gauss(t, e - loss) for loss, p in law)


def response_law(epsilon, options=2):
    e = mp.mpf(epsilon.numerator) / epsilon.denominator
    whole = mp.exp(e) + options - 1
    return [(e, mp.exp(e) / whole), (-e, 1 / whole), (mp.mpf(0), (options - 2) / whole)]


def laplace_law(ratio, steps):
    x = mp.mpf(ratio.numerator) / ratio.denominator
    h, base = x / steps, 1 / (1 + mp.exp(-x / steps))
    inner = [(x - 2 * j * h, mp.tanh(h / 2) * mp.exp(-j * h)) for j in range(1, steps)]
    return [(x, base), (-x, base * mp.exp(-x)), *inner]


def range_law(epsilon, share):
    e = mp.mpf(epsilon.numerator) / epsilon.denominator
    top = e * mp.mpf(share)
    high, low = mp.exp(-top), mp.exp(e - top)
    upper = (low - 1) / (low - high)
    return [(top, upper), (top - e, 1 - upper)]


def places(s):
    """Losses over the whole line: the middle, closely, and the tails where everything is below 1e-40."""
    root = mp.sqrt(s)
    near = [root * k / 4 for k in range(-32, 33)]
    return (
        near
        + [root * k / 64 for k in range(-16, 17)]
        + [root * k for k in (-20, -14, -11, 11, 14, 20)]
    )


@cache
def promised(s):
    """What G(√s) promises at each of the places."""
    left = mp.mpf(s.numerator) / s.denominator
    return [(e, gauss(left, e)) for e in places(left)]


def check(law_of, parameters, s, c):
    with mp.workdps(DIGITS):
        law = [(loss, p) for loss, p in law_of(*parameters) if p]
        after = mp.mpf((s - c).numerator) / (s - c).denominator
        for e, most in promised(s):
            assert rest(law, after, e) <= most * (1 + mp.mpf(10) ** -40), (
                float(e),
                float(s),
                float(c),
            )


LEFT = [
    Fraction(1, 10),
    Fraction(1),
    Fraction(6),
]  # multiples of 64ths in their octave or not: what a table rounds to
RATIOS = [Fraction(1, 200), Fraction(1, 10), Fraction(1, 2)]


@pytest.mark.untraced
class TestEnoughAtEveryEpsilon:
    """δ of M⊗G(√(s−c)) is at most δ of G(√s), for all e."""

    @pytest.mark.grid
    @pytest.mark.parametrize("s", [Fraction(1, 2000), *LEFT])
    @pytest.mark.parametrize(
        "epsilon", [Fraction(1, 100), Fraction(1, 4), Fraction(1), Fraction(3)]
    )
    @pytest.mark.parametrize("options", [2, 3, 6, 40])
    def test_randomized_response(self, s, epsilon, options):
        c = residue.cost(Response(epsilon, options), s)
        if c < s:
            check(response_law, (epsilon, options), s, c)

    @pytest.mark.grid
    @pytest.mark.parametrize("s", LEFT)
    @pytest.mark.parametrize("ratio", RATIOS)
    @pytest.mark.parametrize("steps", [2, 3, 8])
    def test_lattice_laplace(self, s, ratio, steps):
        c = residue.cost(DiscreteLaplaceNoise(steps / ratio, steps), s)
        if c < s:
            check(laplace_law, (ratio, steps), s, c)

    @pytest.mark.parametrize("s", LEFT)
    @pytest.mark.parametrize("ratio", RATIOS)
    def test_continuous_laplace(self, s, ratio):
        """Against a lattice of 12 steps that the continuous noise comes close to, from its safe side: not below it."""
        fine = residue.cost(DiscreteLaplaceNoise(12 / ratio, 12), s)
        smooth = residue.cost(LaplaceNoise(1 / ratio, 1), s)
        assert smooth <= fine * (1 + Fraction(1, 10**9))
        if smooth < s:
            with mp.workdps(DIGITS):
                self.check_integral(ratio, s, smooth)

    @staticmethod
    def check_integral(ratio, s, c):
        x, left, t = (mp.mpf(v.numerator) / v.denominator for v in (ratio, s, s - c))
        for e in (mp.mpf(0), mp.sqrt(left) / 2, -mp.sqrt(left) * 2):
            between = mp.quad(lambda v, e=e: mp.exp((v - x) / 2) / 4 * gauss(t, e - v), [-x, 0, x])
            ends = gauss(t, e - x) / 2 + mp.exp(-x) / 2 * gauss(t, e + x)
            assert between + ends <= gauss(left, e) * (1 + mp.mpf(10) ** -35)

    @pytest.mark.grid
    @pytest.mark.parametrize("s", LEFT)
    @pytest.mark.parametrize("epsilon", [Fraction(1, 100), Fraction(1, 5), Fraction(1)])
    @pytest.mark.parametrize("share", ["0.02", "0.3", "0.49", "0.5", "0.61", "0.97"])
    def test_bounded_range_at_any_offset(self, s, epsilon, share):
        c = residue.cost(ExponentialSelection(epsilon), s)
        if c < s:
            check(range_law, (epsilon, share), s, c)

    @given(
        st.fractions(Fraction(1, 50), 2, max_denominator=400),
        st.fractions(Fraction(1, 100), 8, max_denominator=400),
    )
    @settings(max_examples=examples(25), deadline=None)
    def test_anywhere(self, epsilon, s):
        c = residue.cost(Response(epsilon), s)
        if c < s:
            check(response_law, (epsilon,), s, c)


class TestLeast:
    """A thousandth less than the cost's excess over ε² (or a millionth of it all) is not enough: at e = 0 it fails."""

    @pytest.mark.parametrize("s", LEFT)
    @pytest.mark.parametrize("epsilon", [Fraction(1, 100), Fraction(1, 10)])
    def test_randomized_response(self, s, epsilon):
        c = residue.cost(Response(epsilon), s)
        short = c - max(epsilon**4 / 1000 / s, c / 10**6)
        with mp.workdps(DIGITS):
            left, after = (
                mp.mpf(s.numerator) / s.denominator,
                mp.mpf((s - short).numerator) / (s - short).denominator,
            )
            assert rest(response_law(epsilon), after, mp.mpf(0)) > gauss(left, mp.mpf(0))

    @pytest.mark.parametrize("epsilon", [Fraction(1, 100), Fraction(1, 3), Fraction(17, 10)])
    def test_a_selection_costs_what_a_response_of_half_its_range_costs(self, epsilon):
        """Where it is proved; it cannot cost less, because that response is one of the worst pairs."""
        s = 16 * epsilon**2
        one, other = (
            residue.cost(ExponentialSelection(epsilon), s),
            residue.cost(Response(epsilon / 2), s),
        )
        assert one == pytest.approx(other, rel=1e-9)
        wide = residue.cost(ExponentialSelection(2), Fraction(100))
        assert residue.cost(Response(1), Fraction(100)) < wide < Fraction(102, 100)

    def test_more_lattice_steps_cost_less(self):
        s = Fraction(1)
        costs = [residue.cost(DiscreteLaplaceNoise(2 * n, n), s) for n in (1, 2, 5, 64, 129, 5000)]
        assert costs == sorted(costs, reverse=True)
        assert residue.cost(LaplaceNoise(2, 1), s) <= costs[-1] * (1 + Fraction(1, 10**6))
        assert residue.cost(LaplaceNoise(2, 1, "1/4096"), s) == residue.cost(
            DiscreteLaplaceNoise(8192, 4096), s
        )

    def test_truncation_costs_nothing(self):
        s = Fraction(1)
        assert residue.cost(TruncatedGeometricNoise(8, 4, 0, 9), s) == residue.cost(
            DiscreteLaplaceNoise(8, 4), s
        )


class TestMonotone:
    """What is enough when little is left is enough when more is."""

    @given(
        st.fractions(Fraction(1, 100), 1, max_denominator=100),
        st.integers(1, 400),
        st.integers(1, 400),
    )
    @settings(max_examples=examples(40), deadline=None)
    def test_in_what_is_left(self, epsilon, one, other):
        low, high = (Fraction(n, 100) for n in sorted((one, other)))
        for event in (
            Response(epsilon),
            LaplaceNoise(1 / epsilon, 1),
            ExponentialSelection(epsilon),
        ):
            assert residue.cost(event, high) <= residue.cost(event, low) * (1 + Fraction(1, 10**9))

    @given(st.fractions(Fraction(1, 10**9), 10**9))
    def test_the_table_rounds_down_by_less_than_one_part_in_32(self, s):
        assert s * Fraction(31, 32) < residue._round_down(s) <= s
        assert residue._round_down(-s) == 0


class TestFallBack:
    @pytest.mark.parametrize("s", [Fraction(), Fraction(1, 10**9), Fraction(4)])
    def test_gaussian_noise_costs_its_square_exactly(self, s):
        assert residue.cost(GaussianNoise.of(3, 1), s) == Fraction(1, 9)
        assert residue.cost(Promise(GaussianDP(2)), s) == 4

    def test_near_exhaustion_the_plain_price_is_asked(self):
        for event in (Response(1), LaplaceNoise(1, 1), ExponentialSelection(1)):
            for s in (Fraction(), Fraction(1, 100), Fraction(1, 5)):
                assert residue.cost(event, s) == price_gdp(event)

    def test_other_pure_events_are_responses(self):
        s = Fraction(1)
        like = residue.cost(Response("1/10"), s)
        for event in (
            PermuteAndFlipSelection("1/10"),
            SparseVector("1/10"),
            Promise(PureDP("1/10")),
        ):
            assert residue.cost(event, s) == like

    def test_large_losses_fall_back_on_a_response(self):
        """Where the crossings of Laplace noise are not proved, it is charged as the response it is a part of."""
        s = Fraction(16)
        assert residue.cost(LaplaceNoise(1, 2), s) <= residue.cost(Response(2), s)
        assert not residue.laplace(2.0, 0).proved(16.0)
        assert residue.laplace(1.0, 0).proved(1.0)
        assert not residue.laplace(1.0, 0).proved(0.7)
        assert not residue.response(0.5, 40).proved(1e6)

    def test_discrete_gaussian_and_samples(self):
        noise = DiscreteGaussianNoise(100, 1)
        assert residue.cost(noise, Fraction(1)) == price_gdp(noise)
        sampled = Sampled(GaussianNoise.of(1, 1), "1/2")
        assert residue.cost(sampled, Fraction(4)) == 1
        assert residue.cost(Sampled(LaplaceNoise(1, 1), "1/10"), Fraction(1)) < Fraction(1, 30)

    def test_no_price(self):
        for event in (BinomialNoise(100, 1), Promise(ZCDP(1))):
            assert residue.cost(event, Fraction(1)) is None
            assert residue.charge(event, 3, Fraction(1)) is None


class TestParallel:
    """One unit is in one part under add/remove; under replace it may touch two."""

    def test_the_worst_part(self):
        s = Fraction(1)
        small, large = LaplaceNoise(20, 1), LaplaceNoise(10, 1)
        assert residue.cost(Parallel([small, large]), s) == residue.charge(large, 1, s)
        both = Parallel([Repeated(small, 2), large], neighbours="replace")
        assert residue.cost(both, s) > residue.cost(Parallel([Repeated(small, 2), large]), s)

    def test_a_part_that_is_a_sequence(self):
        s = Fraction(1)
        part = Repeated(LaplaceNoise(20, 1), 7)
        assert residue.cost(Parallel([part, LaplaceNoise(100, 1)]), s) == residue.charge(
            LaplaceNoise(20, 1), 7, s
        )

    def test_no_price(self):
        fine = LaplaceNoise(1, 1)
        assert residue.cost(Parallel([fine, BinomialNoise(9, 1)]), Fraction(1)) is None
        assert residue.cost(Parallel([fine, KeySelection(fine, "1e-6")]), Fraction(1)) is None


class TestCharge:
    @given(st.integers(1, 60), st.fractions(Fraction(1, 100), Fraction(1, 4), max_denominator=100))
    @settings(max_examples=examples(30), deadline=None)
    def test_many_at_once_cost_what_one_by_one_costs(self, times, epsilon):
        event, s = Response(epsilon), Fraction(1)
        together = residue.charge(event, times, s)
        if together <= s:
            left = s
            for _ in range(times):
                left -= residue.charge(event, 1, left)
            assert s - left == together

    def test_a_million_at_once(self):
        cost = residue.charge(Response("1/10000"), 10**6, Fraction(1))
        assert Fraction(1, 100) < cost < Fraction(1, 100) * (1 + Fraction(1, 10**7))

    def test_more_than_is_left_is_more_than_is_left(self):
        assert residue.charge(Response(1), 2, Fraction(1)) > 1
        assert residue.charge(Response("1/10"), 1000, Fraction(1)) > 1

    def test_nothing_costs_nothing(self):
        assert residue.charge(Promise(PureDP(0)), 5, Fraction(1)) == 0

    def test_spreads_are_laws(self):
        for spread in (
            residue.response(1.0, 5),
            residue.laplace(0.5, 1),
            residue.laplace(0.5, 100),
        ):
            assert math.isclose(spread.weights.sum(), 1.0, rel_tol=1e-12)
        for spread in (
            residue.laplace(0.5, 0),
            residue.laplace(0.5, 10**9),
        ):  # bounds: a little above a law
            assert 1.0 <= spread.weights.sum() < 1 + 1e-5


class TestLargeBudgets:
    """Beyond e^709 a loss leaves the floats; the filter goes on, and never pays less than the Gaussian price."""

    @pytest.mark.parametrize("budget", [800, 900, 10**4, 10**6, 10**12])
    @pytest.mark.parametrize(
        "event",
        [
            LaplaceNoise(1, 800),
            LaplaceNoise(1, 3000),
            DiscreteLaplaceNoise(1, 900),
            Response(1600, neighbours="add-remove"),
            Response(2000, 5, neighbours="add-remove"),
            ExponentialSelection(1500),
        ],
    )
    def test_priced_or_refused(self, budget, event):
        start = open_filter(ApproxDP(budget, "1e-6"))
        assert 0 < start.price(event).squared <= price_gdp(event)
        if start.admits(event):
            assert start.after(event).left().squared < start.left().squared
        else:
            with pytest.raises(BudgetExceeded):
                start.after(event)
