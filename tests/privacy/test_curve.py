import math
from fractions import Fraction
from functools import cache
from random import Random

import numpy as np
import pytest
from mpmath import exp, mp, mpf, workdps

from discreet.errors import InvalidArgument
from discreet.privacy.calibrate import fits
from discreet.privacy.compose import compose
from discreet.privacy.curve import Curve
from discreet.privacy.events import (
    Batch,
    BinomialNoise,
    DiscreteGaussianNoise,
    DiscreteLaplaceNoise,
    ExponentialSelection,
    GaussianNoise,
    KeySelection,
    LaplaceNoise,
    OwnCurve,
    Parallel,
    PermuteAndFlipSelection,
    Promise,
    Repeated,
    Response,
    Sampled,
    Sequence,
    SparseVector,
    TruncatedGeometricNoise,
)
from discreet.privacy.filters.filter import open_filter
from discreet.privacy.measures import ZCDP, ApproxDP, GaussianDP, PureDP, RenyiDP
from discreet.privacy.pricing.event_parts import flatten
from discreet.privacy.pricing.gaussian import tradeoff
from oracles.prices import gaussian_delta, responses_delta

MANY = {
    "gaussian": [GaussianNoise.of(5, 1)] * 10,
    "lattice gaussian": [GaussianNoise(25, 1, "1/1000000", 3)] * 10,
    "discrete gaussian": [DiscreteGaussianNoise(25, 2, 3, 1)] * 10,
    "laplace": [LaplaceNoise(10, 1)] * 30,
    "one laplace": [LaplaceNoise(2, 1)],
    "boxes": [Promise(ApproxDP("0.1", "1e-8"))] * 20,
    "mixed": [
        LaplaceNoise(10, 1),
        GaussianNoise.of(8, 1),
        ExponentialSelection("0.2"),
        SparseVector("0.1"),
    ],
    "keys": [KeySelection(LaplaceNoise(4, 1), "1e-8")] * 3,
    "key with gaussian": [KeySelection(GaussianNoise.of(4, 1), "1e-8")],
    "sampled": [Repeated(Sampled(GaussianNoise.of(1, 1), "0.05"), 20)],
    "sampled laplace": [Sampled(LaplaceNoise(1, 1), "0.2")],
    "parallel": [Parallel([LaplaceNoise(4, 1), GaussianNoise.of(6, 1)])],
    "parallel replace": [Parallel([LaplaceNoise(4, 1), LaplaceNoise(8, 1)], neighbours="replace")],
    "zcdp": [Promise(ZCDP("0.05"))] * 3,
    "renyi": [Promise(RenyiDP({2: "0.1", 16: "0.5"}))] * 3,
    "own": [OwnCurve([(0, "0.3"), ("0.5", "0.01"), (1, "1e-9")])] * 2,
    "binomial": [BinomialNoise(4000, 1)] * 2,
    "selection": [ExponentialSelection("0.1")] * 50,
    "flip": [PermuteAndFlipSelection("0.1"), Promise(PureDP("0.1"))] * 5,
}


@cache
def curve_of(name):
    """One curve for all that ask it untraced: it keeps what it has found."""
    return compose(MANY[name])


@pytest.mark.parametrize("name", MANY)
class TestEveryKind:
    """Lower ≤ upper, δ falls with ε, ε falls with δ, and both say the same."""

    @pytest.mark.untraced
    def test_bracket(self, name):
        curve = curve_of(name)
        for d in (1e-2, 1e-6, 1e-7):
            assert curve.lower.epsilon(d) <= curve.epsilon(d)
            assert curve.gap(d) >= 0
        for e in (0, 0.1, 1):
            assert curve.lower.delta(e) <= curve.delta(e)

    @pytest.mark.untraced
    def test_monotone(self, name):
        curve = curve_of(name)
        deltas = [curve.delta(e) for e in (0, "0.05", "0.2", 1, 3)]
        assert deltas == sorted(deltas, reverse=True)
        epsilons = [curve.epsilon(d) for d in ("1e-7", "1e-5", "1e-2", "0.5")]
        assert epsilons == sorted(epsilons, reverse=True)

    def test_epsilon_and_delta_agree(self, name):
        curve = compose(MANY[name])
        e = curve.epsilon("1e-5")
        assert curve.delta(Fraction(e) * Fraction("1.002")) <= 1e-5 * (1 + 1e-9)

    @pytest.mark.untraced
    def test_why_contains_the_price(self, name):
        curve = curve_of(name)
        why = curve.why(1e-6)
        assert curve.epsilon(1e-6) <= why.winner.epsilon * (1 + 1e-3)
        assert why.winner.method in repr(why)


def test_readings():
    curve = compose([GaussianNoise.of(10, 1)] * 100)
    assert curve.mu() == pytest.approx(1)
    assert curve.rho() == 0.5
    assert curve.renyi(3) == pytest.approx(1.5)
    assert curve.neighbours == "add-remove"
    assert compose(Promise(GaussianDP(0))).mu() == 0.0
    boxes = compose(Promise(ApproxDP(1, "1e-6")))
    assert (boxes.mu(), boxes.rho(), boxes.renyi(2)) == (math.inf, math.inf, math.inf)
    with pytest.raises(InvalidArgument, match="alpha"):
        curve.renyi(1)


class TestPureEnd:
    """At δ = 0 the price is Σε exactly, or infinite."""

    def test_exact(self):
        twenty = compose([LaplaceNoise(20, 1)] * 20)
        assert twenty.epsilon(0) == 1.0
        assert twenty.delta(1) == 0.0
        assert twenty.lower.epsilon(0) == pytest.approx(1.0)

    def test_infinite(self):
        for event in (GaussianNoise.of(1, 1), Promise(ApproxDP(1, "1e-6"))):
            assert compose(event).epsilon(0) == math.inf
            assert compose(event).lower.epsilon(0) == math.inf
            assert compose(event).gap(0) == 0.0

    def test_a_box_at_its_own_delta(self):
        assert compose(Promise(ApproxDP(1, "1e-6"))).epsilon("1e-6") == 1.0
        assert compose([Promise(ApproxDP("0.05", "1e-7"))] * 20).epsilon("2e-6") <= 1.0
        assert 1e-6 <= compose(Promise(ApproxDP(1, "1e-6"))).delta(1) <= 1e-6 * (1 + 1e-15)


def test_gap_without_a_lower_bound():
    curve = compose(LaplaceNoise(1, 1))
    assert curve.gap("0.9") == 0.0  # both are 0
    nothing = compose(Promise(PureDP(0)))
    assert nothing.epsilon("1e-6") == 0.0
    assert nothing.gap("1e-6") == 0.0


def test_gap_can_be_infinite():
    curve = compose(Promise(RenyiDP({2: "0.001"})))
    assert curve.lower.epsilon("0.1") == 0.0
    assert curve.gap("1e-3") > 0
    assert curve.epsilon("0.001") > 0


class TestAttack:
    """Every guess errs at least as the trade-off function says."""

    @pytest.mark.parametrize("alpha", [0.0, 0.001, 0.05, 0.3, 0.9, 1.0])
    def test_gaussian(self, alpha):
        bound = compose(GaussianNoise.of(1, 1)).tradeoff(alpha)
        truth = tradeoff(1.0, alpha) if 0 < alpha < 1 else 1 - alpha
        assert bound.false_negative <= truth
        assert bound.false_negative == pytest.approx(truth, abs=3e-3)

    def test_response(self):
        attack = compose(Response(1)).tradeoff("0.1")
        assert attack.true_positive == pytest.approx(math.e * 0.1, rel=1e-3)
        assert attack.advantage == pytest.approx((math.e - 1) * 0.1, rel=1e-2)

    @pytest.mark.parametrize("alpha", [0.0, 0.01, 0.05, 0.1, 0.3, 0.9])
    def test_a_box_whose_delta_never_vanishes(self, alpha):
        """1 − δ − e^ε·α and e^(−ε)(1 − δ − α), whichever is larger (Wasserman, Zhou 2010; Kairouz, Oh, Viswanath 2015)."""
        truth = max(0.0, 1 - 0.01 - math.e * alpha, (1 - 0.01 - alpha) / math.e)
        bound = compose(Promise(ApproxDP(1, "1/100"))).tradeoff(alpha).false_negative
        assert truth - 1e-4 <= bound <= truth

    def test_bad_rate(self):
        with pytest.raises(InvalidArgument, match="false_positive"):
            compose(Response(1)).tradeoff(1.5)


@pytest.mark.parametrize(
    ("call", "what"),
    [
        (lambda c: c.epsilon(1), "delta must be at least 0 and below 1"),
        (lambda c: c.epsilon(-0.1), "delta"),
        (lambda c: c.epsilon(float("nan")), "delta"),
        (lambda c: c.delta(-1), "epsilon must be at least 0"),
        (lambda c: c.delta(float("inf")), "epsilon"),
        (lambda c: c.lower.epsilon(2), "delta"),
        (lambda c: c.lower.delta(-2), "epsilon"),
        (lambda c: c.why(1), "delta"),
    ],
)
def test_refusals(call, what):
    with pytest.raises(InvalidArgument, match=what):
        call(compose(LaplaceNoise(1, 1)))


class TestCompose:
    """One event, several, nested: the same price."""

    def test_the_same_in_any_wrapping(self):
        noise = LaplaceNoise(10, 1)
        flat = compose([noise] * 4).epsilon(1e-6)
        for events in (
            Repeated(noise, 4),
            Sequence([noise, Repeated(noise, 3)]),
            [Repeated(noise, 2)] * 2,
        ):
            assert compose(events).epsilon(1e-6) == flat

    def test_accuracy(self):
        events = Repeated(LaplaceNoise(10, 1), 30)
        assert compose(events, accuracy=1e-4).gap(1e-6) < 3e-4
        assert compose(events) == Curve(flatten(events))

    @pytest.mark.parametrize("accuracy", [1e-2, 1e-3])
    def test_tighter_than_all_classical_methods(self, accuracy):
        why = compose([LaplaceNoise(10, 1)] * 100, accuracy=accuracy).why(1e-6)
        assert why.winner.method == "numerical"

    def test_mixed_neighbours_are_refused(self):
        with pytest.raises(InvalidArgument, match="mix"):
            compose([LaplaceNoise(1, 1), Response(1)])

    def test_what_is_no_event_is_refused(self):
        with pytest.raises(InvalidArgument, match="event"):
            compose(PureDP(1))


def test_far_too_many_boxes_for_a_sum_go_to_the_engine():
    curve = compose(Repeated(Promise(PureDP("1e-6")), 2**23))
    assert curve.epsilon(1e-6) < 2**23 * 1e-6
    assert "optimal" not in {row.method for row in curve.why(1e-6).rows}


@pytest.mark.parametrize("epsilon", [20, 25, 30, 40])
def test_bounds_of_tiny_chances_are_bounds(epsilon):
    """Discrete Gaussian noise of σ = 1, Δ = 1: δ(ε) = Σ (p(x) − e^ε·p(x + 1))₊ in 400 digits, down to 1e-350."""
    with workdps(400):
        p = lambda x: exp(-(mpf(x) ** 2) / 2)  # noqa: E731
        whole = sum(p(x) for x in range(-60, 61))
        exact = sum(max(mpf(0), p(x) - exp(mpf(epsilon)) * p(x + 1)) for x in range(90)) / whole
    curve = compose(DiscreteGaussianNoise(1, 1))
    assert mpf(curve.lower.delta(epsilon)) <= exact <= mpf(curve.delta(epsilon))


@pytest.mark.parametrize("epsilon", [800, 2000])
@pytest.mark.parametrize("kind", ["residue", "zcdp", "renyi", "advanced", "gdp"])
def test_filters_of_a_huge_epsilon_are_filters(epsilon, kind):
    book = open_filter(ApproxDP(epsilon, "1e-6"), kind)
    assert book.admits(LaplaceNoise(1, epsilon)) and not book.after(
        LaplaceNoise(1, epsilon)
    ).admits(LaplaceNoise(1, 1))


def test_prices_are_numbers_even_far_out():
    curve = compose([GaussianNoise.of("0.01", 1)] * 3)
    assert curve.epsilon("1e-9") > 1e4
    assert curve.delta(1) == pytest.approx(1.0)
    assert np.isfinite(compose(LaplaceNoise("0.001", 1)).epsilon("1e-6"))


def test_no_price_is_known():
    event = Parallel([Sampled(BinomialNoise(9, 1), "0.5")], neighbours="replace")
    for events in (event, [event] * 2):
        curve = compose(events)
        assert curve.epsilon(1e-6) == math.inf
        assert curve.delta(1) == 1.0


def test_a_curve_of_points_says_nothing_below_its_least_delta():
    curve = compose(OwnCurve([(1, "1e-3")]))
    assert curve.epsilon("1e-6") == math.inf
    assert curve.epsilon("1e-3") == 1.0


def test_printing():
    assert repr(compose([LaplaceNoise(2, 1)] * 3)) == "Curve(3 × LaplaceNoise; add-remove)"
    many = compose([LaplaceNoise(s, 1) for s in range(1, 7)])
    assert repr(many).endswith(", …; add-remove)")


class TestOracle:
    """Lower ≤ exact ≤ upper in 60-digit arithmetic, for δ from 1e-2 to 1e-100; no violation."""

    @pytest.mark.parametrize("power", [2, 6, 12, 30, 100])
    def test_gaussians(self, power):
        random = Random(power)
        for _ in range(12):
            sigma, times = Fraction(random.randint(5, 4000), 100), random.randint(1, 500)
            delta = Fraction(1, 10**power)
            mu = mp.sqrt(mpf(times)) / (mpf(sigma.numerator) / sigma.denominator)
            curve = compose(Repeated(GaussianNoise.of(sigma, 1), times))
            upper, lower = curve.epsilon(delta), curve.lower.epsilon(delta)
            assert gaussian_delta(mu, upper) <= mpf(10) ** -power
            assert lower == 0 or gaussian_delta(mu, lower) >= mpf(10) ** -power

    @pytest.mark.untraced
    @pytest.mark.parametrize("power", [2, 6, 12, 30, 100])
    def test_responses(self, power):
        random = Random(power)
        for _ in range(6):
            each, times = Fraction(random.randint(1, 200), 100), random.randint(1, 120)
            curve = compose(Repeated(Response(each), times))
            upper, lower = (
                curve.epsilon(Fraction(1, 10**power)),
                curve.lower.epsilon(Fraction(1, 10**power)),
            )
            exact = mpf(each.numerator) / each.denominator
            assert responses_delta(exact, times, upper) <= mpf(10) ** -power or upper == float(
                times * each
            )
            assert lower == 0 or responses_delta(exact, times, lower) >= mpf(10) ** -power


class TestMoreIsShownThanAsked:
    """A mechanism that shows everything with probability above δ has no ε: the price is infinite, no refusal."""

    @pytest.mark.parametrize("event", [BinomialNoise(2, 5), BinomialNoise(4, 1)])
    def test_infinite(self, event):
        curve = compose([event])
        assert curve.epsilon(1e-6) == math.inf
        assert curve.lower.epsilon(1e-6) > 699
        assert curve.gap(1e-6) == math.inf
        assert curve.why(1e-6).winner.epsilon == math.inf
        assert curve.tradeoff(0.1).false_negative >= 0

    def test_exactly_what_leaks(self):
        assert compose(BinomialNoise(4, 1)).delta(100) >= 1 / 16

    @pytest.mark.parametrize("event", [Promise(ApproxDP(1, 1 - Fraction(1, 10**30)))])
    def test_nearly_everything(self, event):
        assert compose(event).epsilon(0.5) == math.inf
        assert compose(event).delta(0.5) == 1
        assert compose(event).lower.epsilon(0.5) >= 0


class TestADeltaThatNeverVanishes:
    """A leak δ helps an attack by δ and no more, however far the curve is followed."""

    @pytest.mark.untraced
    @pytest.mark.parametrize("leak", ["1e-3", "1e-6", "1e-9"])
    @pytest.mark.parametrize("rate", [0, "1e-3", "0.05", "0.5"])
    def test_a_key_beside_noise(self, leak, rate):
        plain, leaky = compose(LaplaceNoise(1, 1)), compose(KeySelection(LaplaceNoise(1, 1), leak))
        most = plain.tradeoff(rate).true_positive + 2 * float(Fraction(leak))
        assert leaky.tradeoff(rate).true_positive <= most + 1e-3 * float(Fraction(rate))

    def test_a_box(self):
        assert (
            compose(Promise(ApproxDP(1, "2/3"))).tradeoff("0.05").true_positive
            < 2 / 3 + 0.05 * math.e + 1e-3
        )


class TestALeakBesideGaussianNoise:
    """δ(ε) = 1 − (1 − leak)(1 − δ'(ε)): both bounds enclose it, and no ε is promised below the leak."""

    curve = compose(KeySelection(GaussianNoise.of(1, 1), "1e-3"))

    def test_bracket(self):
        upper, lower = self.curve.epsilon("1e-2"), self.curve.lower.epsilon("1e-2")
        with workdps(40):
            rest = 1 - (1 - mpf("1e-2")) / (1 - mpf("1e-3"))
            assert gaussian_delta(mpf(1), upper) <= rest <= gaussian_delta(mpf(1), lower)
        assert upper / lower - 1 < 1e-9

    def test_below_the_leak(self):
        assert self.curve.epsilon("1e-4") == math.inf
        assert self.curve.lower.epsilon("1e-4") >= 0


class TestLowerBoundsOfCutTails:
    """A tail that was cut off stands above an upper bound, and is no part of a lower one."""

    @pytest.mark.parametrize("variance", [1, 4, 100])
    @pytest.mark.parametrize("times", [1, 3])
    def test_discrete_gaussian(self, variance, times):
        """By subadditivity δ(ε) ≤ P[L > ε]: the loss at y is (2y + 1)/2σ², and P(y) ≤ e^(−y²/2σ²)."""
        curve = compose(Repeated(DiscreteGaussianNoise(variance, 1), times))
        for epsilon in (60, 200, 900):
            far = Fraction(epsilon * variance, times) - Fraction(
                1, 2
            )  # one of the releases lies that far out
            most = (
                times
                * mp.exp(-(mpf(far.numerator) ** 2) / far.denominator**2 / (2 * variance))
                * (1 + 10 * variance)
            )
            assert curve.lower.delta(epsilon) <= most

    def test_binomial(self):
        assert compose(BinomialNoise(2000, 1)).lower.delta(100) <= 2.0**-1000
        assert compose([BinomialNoise(2000, 1)] * 2).lower.delta(100) <= 2.0**-900
        assert compose(BinomialNoise(100_000, 40_000)).lower.delta(700) < compose(
            BinomialNoise(100_000, 40_000)
        ).delta(0)


class TestNoFloatIsTooSmall:
    """A δ below the least float is not 0: it rounds up, and fits no smaller budget."""

    @pytest.mark.parametrize(
        "event",
        [
            GaussianNoise.of(1, 1),
            DiscreteGaussianNoise(1, 1),
            Promise(ZCDP("0.5")),
            Sampled(GaussianNoise.of(1, 1), "0.1"),
            Batch([GaussianNoise.of(2, 1), LaplaceNoise(2, 1)]),
        ],
    )
    def test_rounds_up(self, event):
        assert compose(event).delta(600) > 0
        assert not fits(event, ApproxDP(600, "1e-400"))

    def test_pure_events_reach_zero(self):
        assert compose([LaplaceNoise(1, 1)] * 3).delta(3) == 0


def test_little_noise_on_a_sample():
    curve = compose(Sampled(GaussianNoise.of("0.01", 1), "0.1"))
    assert 5423.2072 < curve.epsilon(1e-6) <= 5423.2073  # the exact curve, in forty digits


@pytest.mark.parametrize("accuracy", [0, 1, -1, math.nan, "x"])
def test_refuses_an_accuracy_that_is_none(accuracy):
    with pytest.raises(InvalidArgument, match="accuracy"):
        compose(LaplaceNoise(1, 1), accuracy=accuracy)


class TestHardlyAnyNoise:
    """Above a loss of 600 the pair is the largest loss alone: sound, but no lower bound for Laplace noise."""

    @pytest.mark.parametrize("below", [1, 1e-6, 50])
    def test_laplace(self, below):
        curve = compose(LaplaceNoise(1, 1000))
        truth = -math.expm1(-below / 2)
        assert curve.lower.delta(1000 - below) <= truth <= curve.delta(1000 - below)
        assert curve.lower.epsilon(truth) <= 1000 - below + 1e-9

    @pytest.mark.parametrize("event", [DiscreteLaplaceNoise(10, 10**4), ExponentialSelection(1000)])
    def test_others(self, event):
        curve = compose(event)
        assert curve.lower.delta(999) <= -math.expm1(-0.5) + 0.05
        assert curve.lower.epsilon(1e-6) <= curve.epsilon(1e-6)
        assert curve.epsilon(0) == 1000

    @pytest.mark.parametrize("options", [2, 3])
    def test_responses(self, options):
        curve = compose(Response(1000, options))
        for below in (1e-10, 1e-6, 1.0):
            with mp.workdps(500):
                epsilon = mpf(repr(1000 - below))
                truth = (mp.exp(1000) - mp.exp(epsilon)) / (mp.exp(1000) + options - 1)
                assert curve.lower.delta(1000 - below) <= truth <= curve.delta(1000 - below)


def test_the_largest_loss_is_not_rounded_down():
    event = Repeated(TruncatedGeometricNoise("4.6", 4, 0, 3), 2)
    for delta in ("1e-40", "1e-80"):
        assert Fraction(repr(compose(event).epsilon(delta))) > Fraction(60, 46) * (
            1 - Fraction(1, 10**30)
        )
