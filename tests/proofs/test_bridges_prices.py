"""Bridges of filters and prices: the Python functions satisfy proofs/Admission.v, Tail.v, Residue.v and Centre.v.

The adversary of `realised` is the recursion of the Coq file: all answers, every admitted question next, stop at any time.
"""

from __future__ import annotations

import json
import math
from fractions import Fraction
from itertools import pairwise, product
from pathlib import Path

import numpy as np
import pytest

from discreet.frozen import replace
from discreet.mechanisms.keys.threshold import laplace_threshold
from discreet.noise.laplace import LaplaceLaw
from discreet.noise.table import build
from discreet.privacy import Response
from discreet.privacy.events import KeySelection, LaplaceNoise
from discreet.privacy.filters.filter import open_filter
from discreet.privacy.filters.renyi import _allowed_divergence
from discreet.privacy.filters.residue import charge, cost, laplace, response
from discreet.privacy.measures import ApproxDP, PureDP
from discreet.privacy.pricing import gaussian, zcdp
from discreet.privacy.pricing.gdp import _lattice_factor, range_square
from discreet.privacy.pricing.group import delta_factor

ROOT = Path(__file__).parents[2]
CONSTANTS = json.loads((ROOT / "proofs" / "checked.json").read_text("utf-8"))["constants"]
UNIT = Fraction(1, 5)
BUDGET = ApproxDP(1, "1/50")
SIZES = (1, 2, 5)
"""Randomized response of ε = 1/5, 2/5 and 1: a budget of ε = 1 takes five of the first."""


def realised(book, loss=0, *, most_steps=5, admit=None, epsilon=5):
    """`realised` of Admission.v at its best play, in units of ε: p and q have the ratio e^(loss/5).

    Returns the excess per mass of D, since all laws here are randomized response.
    """
    best = max(0.0, 1 - math.exp(float(UNIT) * (epsilon - loss)))
    if not most_steps:
        return best
    for size in SIZES:
        after = (admit or admitted)(book, Response(size * UNIT))
        if after is None:
            continue
        up = 1 / (1 + math.exp(-float(UNIT) * size))
        left = most_steps - 1
        found = up * realised(after, loss + size, most_steps=left, admit=admit, epsilon=epsilon)
        found += (1 - up) * realised(
            after, loss - size, most_steps=left, admit=admit, epsilon=epsilon
        )
        best = max(best, found)
    return best


def admitted(book, event):
    return book.after(event) if book.admits(event) else None


def forgetful(book, event):
    """A tail that is not exhausted after an event that only the sum admits: a wrong rule."""
    after = admitted(book, event)
    if after is None or book.pays(book.cost(event)):
        return after
    return replace(after, used=book.used)


class TestAdmission:
    """Rows 1 and 2: no play of five answers realises more than δ, for every kind of tail."""

    @pytest.mark.parametrize("kind", ["zcdp", "renyi", "gdp", "residue", "advanced"])
    def test_tails(self, kind):
        assert realised(open_filter(BUDGET, kind), most_steps=4) <= float(BUDGET.delta)

    def test_pure_and_approximate(self):
        assert realised(open_filter(PureDP(1))) == 0
        assert realised(open_filter(BUDGET, "approximate")) == 0


def tail_holds(alpha, x):
    """tail_potential: (1 − e^(−x))₊ ≤ K_α e^((α−1)x)."""
    k = math.exp(alpha * math.log1p(-1 / alpha) - math.log(alpha - 1))
    return max(0.0, 1 - math.exp(-x)) <= k * math.exp((alpha - 1) * x) * (1 + 1e-12)


ORDERS = (1.25, 1.5, 2.0, 3.0, 8.0, 30.0)


class TestTailPotential:
    """Row 3: the inequality on a grid, and the conversion that the filter computes from it."""

    def test_grid(self):
        assert all(tail_holds(a, x) for a, x in product(ORDERS, np.linspace(-4, 4, 81)))

    def test_the_conversion_is_the_starting_potential(self):
        """s0·K_α·e^(−(α−1)ε) = δ at the allowed divergence, as `renyi_ledger` has it."""
        for alpha, epsilon, delta in product(ORDERS, (0.5, 1.0, 4.0), (1e-2, 1e-6)):
            allowed = float(_allowed_divergence(epsilon, delta, np.array([alpha]))[0])
            k = alpha * math.log1p(-1 / alpha) - math.log(alpha - 1)
            assert k + (alpha - 1) * (allowed - epsilon) == pytest.approx(math.log(delta), rel=1e-9)


class TestRenyiPotential:
    """Row 4: a step's moment times what is left is at most what was there, for randomized response."""

    def test_supermartingale(self):
        for alpha in ORDERS[1:]:
            book = open_filter(ApproxDP(40, "1e-3"), "renyi", orders=Fraction(str(alpha)))
            for size in SIZES:
                epsilon = size / 5
                up = 1 / (1 + math.exp(-epsilon))
                moment = up * math.exp((alpha - 1) * epsilon)
                moment += (1 - up) * math.exp(-(alpha - 1) * epsilon)
                spent = float(book.after(Response(size * UNIT)).used[0])
                assert moment <= math.exp((alpha - 1) * spent) * (1 + 1e-9)


class TestGaussianPotential:
    """Row 5: randomized response, then G(√(s − c)), has a curve below that of G(√s)."""

    @pytest.mark.parametrize("kind", ["gdp", "residue"])
    def test_curve_pays(self, kind):
        for epsilon, s in product((0.1, 0.25), (0.5, 1.0, 2.0)):
            budget = open_filter(ApproxDP(1, "1e-3"), kind)
            book = replace(budget, capacity=(Fraction(s),))
            c = float(book.after(Response(Fraction(str(epsilon)))).used[0])
            up = 1 / (1 + math.exp(-epsilon))
            for e in np.linspace(-3, 3, 25):
                after = up * gaussian.delta(math.sqrt(s - c), e - epsilon)
                after += (1 - up) * gaussian.delta(math.sqrt(s - c), e + epsilon)
                assert after <= gaussian.delta(math.sqrt(s), e) * (1 + 1e-9) + 1e-15


class TestWholeAtOnce:
    """Row 6: after the whole (ε, δ) nothing that costs is admitted, whatever came out."""

    @pytest.mark.parametrize("kind", ["zcdp", "renyi", "gdp", "residue"])
    def test_nothing_follows(self, kind):
        book = open_filter(BUDGET, kind, delta="1/100")
        spent = book.after(KeySelection(LaplaceNoise(1, 1), "1/50"))
        for scale in (1, 10**3, 10**9):
            assert not spent.admits(LaplaceNoise(scale, 1))
        assert not spent.admits(KeySelection(LaplaceNoise(10**9, 1), "1e-9"))


def moments(loss, t):
    """Coefficients a_k of `residue` up to a factor: m_2k/((2k−1)!!·(κt²)^k) with κt² = 1."""
    roots = loss.weights * np.exp(-loss.losses / 2 - loss.losses**2 / (2 * t))
    found = []
    odd = 1.0
    for k in range(9):
        odd *= max(1, 2 * k - 1)
        found.append(float((roots * loss.losses ** (2 * k)).sum()) / odd)
    return found


def interval_holds(a, level):
    """one_interval: the places where a_k ≥ level are consecutive."""
    at = [k for k, value in enumerate(a) if value >= level]
    return at == list(range(at[0], at[-1] + 1)) if at else True


def differences(loss, s, c):
    """The difference of curves at e ≥ 0: G(√s) minus the loss followed by G(√(s − c))."""
    for e in np.linspace(0, 6, 61):
        rest = math.sqrt(s - c)
        pairs = zip(loss.weights, loss.losses, strict=True)
        after = sum(w * gaussian.delta(rest, e - shift) for w, shift in pairs)
        yield gaussian.delta(math.sqrt(s), e) - after


class TestOneNumber:
    """Row 7: where e = 0 holds, every e holds; where it does not, e = 0 tells."""

    @pytest.mark.parametrize("epsilon", [0.1, 0.25])
    @pytest.mark.parametrize("s", [0.5, 1.0, 2.0])
    def test_zero_decides(self, epsilon, s):
        loss = response(epsilon)
        enough = float(cost(Response(Fraction(str(epsilon))), Fraction(s)))
        for c in (0.5 * enough, 0.99 * enough, enough, 1.5 * enough):
            found = list(differences(loss, s, c))
            if found[0] >= 0:
                assert min(found) >= -1e-15
            if c < enough:
                assert found[0] < 0


class TestCrossings:
    """Row 8: moments of the losses that are `proved` are log-concave, and so lie on intervals."""

    def test_log_concave(self):
        for loss in (response(0.5), response(1.0, 3), laplace(0.5, 0), laplace(1.0, 4)):
            for t in (1.0, 2.0, 8.0):
                if not loss.proved(t):
                    continue
                for scale in (0.1, 0.5, 1.0, 2.0, 5.0):
                    a = [value / scale**k for k, value in enumerate(moments(loss, t))]
                    triples = zip(a, a[1:], a[2:], strict=False)
                    assert all(x * z <= y * y * (1 + 1e-9) for x, y, z in triples)
                    assert all(interval_holds(a, level) for level in a)


class TestCostsHoldFurtherOn:
    """Row 9: costs fall with what is left, and runs cost what single copies cost."""

    def test_monotone(self):
        atom = Response("1/10")
        costs = [cost(atom, Fraction(k, 8)) for k in range(1, 17)]
        assert all(later <= earlier for earlier, later in pairwise(costs))

    def test_a_run_begins_no_copy_below_its_table(self):
        """charge(n) is enough: it is at least what copies cost one by one at their own tables."""
        atom, left = Response("1/10"), Fraction(1)
        one_by_one = Fraction()
        for copies in range(1, 30):
            one_by_one += charge(atom, 1, left - one_by_one)
            assert charge(atom, copies, left) == one_by_one


def corners(variance, reach):
    """z_k − z_(k−1) for k = 1 … reach, z_k = Φ⁻¹(P[X < k]) of the discrete Gaussian, in 120 digits."""
    mpmath = pytest.importorskip("mpmath")
    with mpmath.workdps(120):
        weights = [mpmath.exp(-mpmath.mpf(j * j) / (2 * variance)) for j in range(reach + 60)]
        total = weights[0] + 2 * sum(weights[1:])
        tail = [sum(weights[k:]) / total for k in range(1, reach + 2)]
        z = [mpmath.sqrt(2) * mpmath.erfinv(1 - 2 * t) for t in tail]
        steps = [2 * z[0], *(b - a for a, b in pairwise(z))]
        return [float(step) for step in steps]


class TestCentre:
    """Rows 10 to 13: no corner of the discrete Gaussian is further apart than the centre."""

    @pytest.mark.parametrize("variance", [0.3, 1.0, 2.5, 9.0])
    def test_no_corner_beyond_the_centre(self, variance):
        steps = corners(variance, 6)
        assert all(step <= steps[0] * (1 + 1e-12) for step in steps)


class TestLatticeFactor:
    """Row 14: the factor has the constants of Coq and covers the centre."""

    def test_constants(self):
        start = Fraction(CONSTANTS["LATTICE_FROM"])
        for variance in (start, start + Fraction(1, 3), 100 * start):
            stated = 1 + 1 / (CONSTANTS["LATTICE_DENOMINATOR"] * variance)
            assert _lattice_factor(variance) == stated

    @pytest.mark.parametrize("variance", [0.05, 0.3, 1.0, 2.5, 9.0, 16.0, 20.0])
    def test_covers_the_centre(self, variance):
        factor = float(_lattice_factor(Fraction(str(variance))))
        assert corners(variance, 1)[0] ** 2 * variance <= factor * (1 + 1e-12)


class TestCorners:
    """Row 15: between its corners the trade-off of every offset stays above G(μ)'s."""

    @pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(1), Fraction(2)])
    def test_between_corners(self, epsilon):
        mu = math.sqrt(range_square(epsilon))
        y = float(epsilon) / 2
        for w in np.linspace(-0.9 * y, 0.9 * y, 7):
            alpha = (math.exp(-w) - math.exp(-y)) / (2 * math.sinh(y))
            beta = (math.exp(w) - math.exp(-y)) / (2 * math.sinh(y))
            for x in np.linspace(0, 1, 21):
                straight = max(1 - x * (1 - beta) / alpha, beta * (1 - x) / (1 - alpha))
                assert straight >= trade_off(mu, x) - 1e-9


def trade_off(mu, x):
    """Φ(Φ⁻¹(1 − x) − μ), at the ends by limit."""
    mpmath = pytest.importorskip("mpmath")
    if x in {0, 1}:
        return 1 - x
    quantile = mpmath.sqrt(2) * mpmath.erfinv(1 - 2 * x)
    return float(mpmath.ncdf(quantile - mu))


def moment_holds(rho, alpha, law):
    """pure_rho and range_rho: Σ q·r^α ≤ e^(α(α−1)ρ) for a law of chances q and ratios r."""
    moment = sum(q * r**alpha for q, r in law)
    # In logarithms: e^(α(α−1)ρ) leaves the floats at large orders.
    return math.log(moment) <= alpha * (alpha - 1) * rho + 1e-12


def laws_between(low, high):
    """Laws of three ratios between low and high whose mean is 1: two ends and one inside."""
    for inside, share in product(np.linspace(low, high, 9), (0.0, 0.25, 0.5)):
        # The two ends share what is left so that the mean is 1.
        up = (1 - share * inside - (1 - share) * low) / (high - low)
        down = 1 - share - up
        if min(up, down) >= 0:
            yield [(up, high), (down, low), (share, inside)]


class TestConcentrated:
    """Row 51: moments of all small laws stay below those of the prices, at every order."""

    @pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(3)])
    def test_pure(self, epsilon):
        rho = float(zcdp.rho_of_pure(epsilon))
        ends = math.exp(-epsilon), math.exp(epsilon)
        laws = list(laws_between(*ends))
        assert len(laws) > 9
        assert all(moment_holds(rho, alpha, law) for alpha, law in product(ORDERS, laws))

    @pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(3)])
    def test_bounded_range(self, epsilon):
        """ε²/8 is proved; `range_rho` charges the least ρ, which is not above it."""
        assert zcdp.range_rho(epsilon) <= epsilon**2 / 8
        rho = float(zcdp.range_rho(epsilon))
        for offset in np.linspace(0, float(epsilon), 9):
            laws = laws_between(math.exp(-offset), math.exp(float(epsilon) - offset))
            assert all(moment_holds(rho, alpha, law) for alpha, law in product(ORDERS, laws))


class TestPrintedNumbers:
    """Row 53: the numbers that docs print, as Interval has certified them."""

    def test_digits(self):
        digits = CONSTANTS["TENTH_DIGITS"]
        stated = {
            "LAPLACE_RHO": zcdp.laplace_rho(1.0),
            "RESPONSE_RHO": zcdp.response_rho(1.0, 2),
            "DELTA_FACTOR": delta_factor(1.0, 3),
        }
        for name, value in stated.items():
            assert abs(value - CONSTANTS[name] / digits) <= 2 / digits

    def test_threshold(self):
        stated = CONSTANTS["THRESHOLD"] / 10**9
        assert abs(laplace_threshold(1, 1e-6) - stated) <= 2e-9

    def test_noise_table(self):
        """All thresholds of Laplace noise of scale 1, but the last, which is all ones."""
        table = build(LaplaceLaw(Fraction(1), 0))
        assert table.low.tolist() == table.high.tolist()
        assert table.low.tolist()[:-1] == CONSTANTS["LAPLACE_TABLE"]
        assert int(table.low[-1]) == (1 << 64) - 1

    def test_zcdp(self):
        assert zcdp.epsilon(0.5, 1e-6) < 5.2215345
        assert zcdp.rho_of_pure(Fraction(2)) < Fraction("1.5232")


class TestWrongStatements:
    """Statements that are false are refuted on the same inputs."""

    def test_a_tail_that_is_not_exhausted(self):
        book = open_filter(BUDGET, "zcdp")
        found = realised(book, most_steps=5, admit=forgetful)
        assert found > float(BUDGET.delta)

    def test_a_potential_without_its_power(self):
        def without(alpha, x):
            return max(0.0, 1 - math.exp(-x)) <= math.exp((alpha - 1) * x) / alpha**alpha

        assert not all(without(a, x) for a, x in product(ORDERS, np.linspace(-4, 4, 81)))

    def test_a_lattice_without_its_factor(self):
        assert corners(1.0, 1)[0] ** 2 > 1

    def test_pure_at_the_price_of_bounded_range(self):
        ends = math.exp(-1), math.exp(1)
        rho = float(zcdp.range_rho(Fraction(1)))
        laws = product(ORDERS, laws_between(*ends))
        assert not all(moment_holds(rho, alpha, law) for alpha, law in laws)

    def test_every_sequence_is_an_interval(self):
        assert not interval_holds([2.0, 0.5, 2.0], 1.0)
