import math
from fractions import Fraction
from itertools import islice

import pytest
from mpmath import mpf

from discreet.errors import InvalidArgument
from discreet.privacy.calibrate import (
    _upwards,
    fits,
    largest,
    least_budget,
    least_scale,
    most_queries,
)
from discreet.privacy.compose import compose
from discreet.privacy.events import (
    BinomialNoise,
    DiscreteGaussianNoise,
    DiscreteLaplaceNoise,
    ExponentialSelection,
    GaussianNoise,
    KeySelection,
    LaplaceNoise,
    Promise,
    Repeated,
    Response,
    Sampled,
)
from discreet.privacy.measures import ZCDP, ApproxDP, GaussianDP, PureDP, RenyiDP
from oracles.prices import responses_delta

BUDGETS = [
    PureDP("0.3"),
    ApproxDP("0.7", "1e-6"),
    ZCDP("0.02"),
    GaussianDP("0.4"),
    RenyiDP({2: "0.1", 8: "0.2"}),
]
FAMILIES = {
    "laplace": lambda s: LaplaceNoise(s, 1),
    "lattice laplace": lambda s: LaplaceNoise(s, 1, "1/1024"),
    "discrete laplace": lambda s: DiscreteLaplaceNoise(s, 2),
    "gaussian": lambda s: GaussianNoise.of(s, 1),
    "lattice gaussian": lambda s: GaussianNoise(s * s, 2, "1/1048576", 3),
    "discrete gaussian": lambda s: DiscreteGaussianNoise(s * s, 4),
    "ten laplace": lambda s: Repeated(LaplaceNoise(s, 1), 10),
}


def within(price, budget):
    """Write out what it means to fit, from the public readings of the curve."""
    match budget:
        case PureDP():
            return Fraction(repr(price.epsilon(0))) <= budget.epsilon
        case ApproxDP():
            return Fraction(price.delta(budget.epsilon)) <= budget.delta
        case ZCDP():
            return Fraction(price.rho()) <= budget.rho * (1 + Fraction(1, 10**15))
        case GaussianDP():
            return price.mu() <= budget.mu * (1 + 1e-11)
    return all(price.renyi(float(a)) <= float(e) * (1 + 1e-11) for a, e in budget.orders)


class TestLeastScale:
    """The least scale that fits: it fits, and hardly less does not."""

    @pytest.mark.untraced
    @pytest.mark.parametrize("family", FAMILIES)
    @pytest.mark.parametrize("budget", BUDGETS, ids=repr)
    def test_both_sides(self, family, budget):
        make = FAMILIES[family]
        if isinstance(budget, PureDP) and "gaussian" in family:
            with pytest.raises(InvalidArgument, match="no amount of noise"):
                least_scale(make, budget, start=1)
            return
        scale = least_scale(make, budget, start=1)
        assert fits(make(scale), budget)
        assert within(compose(make(scale)), budget)
        assert not fits(make(scale * (1 - Fraction(1, 10**12))), budget)
        assert scale.numerator.bit_length() <= 53
        assert scale.denominator.bit_length() <= 53

    @pytest.mark.parametrize("start", ["1e-9", 1, "1e9"])
    def test_the_start_does_not_matter(self, start):
        assert least_scale(FAMILIES["laplace"], PureDP("1/7"), start=start) == 7
        assert least_scale(FAMILIES["gaussian"], ZCDP("1/8"), start=start) == 2
        assert least_scale(FAMILIES["gaussian"], GaussianDP("0.1"), start=start) == 10

    def test_steps_inside_make_are_survived(self):
        def make(scale):
            return LaplaceNoise(Fraction(math.floor(scale * 1000), 1000), 1)

        scale = least_scale(make, PureDP("0.3"), start=1)
        assert fits(make(scale), PureDP("0.3"))

    def test_a_jumpy_price_is_walked_up(self):
        calls = []

        def make(scale):
            calls.append(scale)
            # just above the root the price rises once more, as a lattice step may do
            return LaplaceNoise(
                scale,
                Fraction(1)
                if scale < 7 or scale > 7 * (1 + Fraction(1, 2**40))
                else Fraction("1.1"),
            )

        scale = least_scale(make, PureDP("1/7"), start=1)
        assert fits(LaplaceNoise(scale, 1), PureDP("1/7"))

    def test_fractions_that_cost_more_are_passed_over(self):
        def make(scale):
            dyadic = scale.denominator & (scale.denominator - 1) == 0
            return LaplaceNoise(scale, 1 if dyadic else Fraction("1.001"))

        scale = least_scale(make, PureDP("0.3"), start=1)
        assert scale.denominator & (scale.denominator - 1) == 0
        assert 10 <= 3 * scale <= 10 * (1 + Fraction(1, 10**12))

    def test_steps_up_grow(self):
        steps = list(islice(_upwards(1.0), 60))
        assert steps == sorted(steps)
        assert steps[0] == 1
        assert steps[-1] > 2

    def test_refusals(self):
        with pytest.raises(InvalidArgument, match="start"):
            least_scale(FAMILIES["laplace"], PureDP(1), start=0)
        with pytest.raises(InvalidArgument, match="a measure is expected"):
            least_scale(FAMILIES["laplace"], 1, start=1)
        with pytest.raises(InvalidArgument, match="every scale fits"):
            least_scale(lambda _: Promise(PureDP(0)), PureDP(1), start=1)
        with pytest.raises(InvalidArgument, match="no amount of noise"):
            least_scale(FAMILIES["laplace"], PureDP(0), start=1)


class TestFits:
    """Exact sums: twenty spends of 1/20 fit in 1, a twenty-first does not."""

    @pytest.mark.parametrize(
        ("event", "budget"),
        [
            (LaplaceNoise(20, 1), PureDP(1)),
            (Promise(ApproxDP("0.05", "1e-7")), ApproxDP(1, "2e-6")),
            (GaussianNoise.of(20, 1), ZCDP("1/40")),
            (GaussianNoise.of(20, 1), GaussianDP.of_square("1/20")),
            (GaussianNoise.of(20, 1), RenyiDP({2: "1/20", 8: "1/5"})),
            (Promise(ZCDP("0.05")), ZCDP(1)),
            (Promise(RenyiDP({3: "0.05"})), RenyiDP({3: 1})),
            (LaplaceNoise(20, 1), ApproxDP(1, 0)),
        ],
    )
    def test_twenty(self, event, budget):
        assert fits([event] * 20, budget)
        assert not fits([event] * 21, budget)

    def test_none(self):
        assert not fits(GaussianNoise.of(99, 1), PureDP(9))
        assert not fits(GaussianNoise.of(99, 1), ApproxDP(9, 0))
        assert not fits(KeySelection(LaplaceNoise(9, 1), "1e-6"), ZCDP(9))
        assert not fits(BinomialNoise(9, 1), RenyiDP({2: 9}))
        assert not fits(LaplaceNoise(1, 1), PureDP(0))

    def test_nothing_done_fits_in_nothing(self):
        assert fits(Promise(PureDP(0)), PureDP(0))

    def test_numerical_prices_decide_too(self):
        events = [LaplaceNoise(10, 1)] * 100
        assert fits(events, ApproxDP("4.7", "1e-6"))
        assert not fits(events, ApproxDP("4.68", "1e-6"))

    def test_refusals(self):
        with pytest.raises(InvalidArgument, match="a measure is expected"):
            fits(LaplaceNoise(1, 1), 1.0)
        with pytest.raises(InvalidArgument, match="event"):
            fits("noise", PureDP(1))


class TestTheThird:
    """Given two of privacy, noise and queries, the third."""

    def test_queries(self):
        assert most_queries(LaplaceNoise(20, 1), PureDP(1)) == 20
        assert most_queries(LaplaceNoise("0.5", 1), PureDP(1)) == 0
        assert most_queries(GaussianNoise.of(10, 1), ZCDP(1)) == 200
        assert most_queries(Promise(ApproxDP("0.01", "1e-12")), ApproxDP(1, "1e-6")) > 400

    @pytest.mark.untraced
    def test_queries_to_the_last_one(self):
        assert responses_delta("0.01", 562, 1) <= mpf("1e-6") < responses_delta("0.01", 563, 1)
        assert most_queries(Response("0.01"), ApproxDP(1, "1e-6")) == 562
        assert 563 <= most_queries(LaplaceNoise(100, 1), ApproxDP(1, "1e-6")) <= 564

    def test_free_queries_have_no_most(self):
        with pytest.raises(InvalidArgument, match="no largest number"):
            most_queries(Promise(PureDP(0)), PureDP(1))

    def test_largest(self):
        each = largest(lambda e: Repeated(ExponentialSelection(e), 10), PureDP(1), start=1)
        assert each == Fraction(1, 10)
        sampled = largest(
            lambda q: Sampled(LaplaceNoise(1, 1), min(q, Fraction(1))), PureDP("0.1"), start="0.5"
        )
        assert float(sampled) == pytest.approx(math.expm1(0.1) / math.expm1(1), rel=1e-11)

    def test_budget(self):
        assert least_budget([LaplaceNoise(20, 1)] * 20) == PureDP(1)
        spent = least_budget([GaussianNoise.of(10, 1)] * 10, delta="1e-6")
        assert fits([GaussianNoise.of(10, 1)] * 10, spent)
        assert spent.delta == Fraction(1, 10**6)

    def test_round_trip(self):
        scale = least_scale(
            lambda s: Repeated(GaussianNoise.of(s, 1), 50), ApproxDP(1, "1e-6"), start=1
        )
        assert most_queries(GaussianNoise.of(scale, 1), ApproxDP(1, "1e-6")) == 50
        assert float(
            least_budget(Repeated(GaussianNoise.of(scale, 1), 50), delta="1e-6").epsilon
        ) == pytest.approx(1)

    def test_budget_refusals(self):
        with pytest.raises(InvalidArgument, match="no pure promise"):
            least_budget(GaussianNoise.of(1, 1))
        with pytest.raises(InvalidArgument, match="give a larger delta"):
            least_budget(Promise(ApproxDP(1, "1e-3")), delta="1e-6")
        with pytest.raises(InvalidArgument, match="delta"):
            least_budget(LaplaceNoise(1, 1), delta=1)
