"""The theorems every price obeys, on events drawn at random; one class per theorem."""

import math
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from discreet.privacy import (
    ZCDP,
    ApproxDP,
    Batch,
    DiscreteGaussianNoise,
    DiscreteLaplaceNoise,
    ExponentialSelection,
    GaussianDP,
    GaussianNoise,
    KeySelection,
    LaplaceNoise,
    Parallel,
    PermuteAndFlipSelection,
    Promise,
    PureDP,
    RenyiDP,
    Repeated,
    Response,
    Sampled,
    Sequence,
    TruncatedGeometricNoise,
    amplify,
    compose,
    fits,
    group_event,
    group_privacy,
    implies,
    least_budget,
    least_scale,
    meaning,
    to_gaussian,
    to_renyi,
    to_zcdp,
)
from discreet.privacy.advise import passed
from discreet.privacy.convert import epsilon
from discreet.privacy.pricing.gdp import price_gdp
from discreet.privacy.pricing.pure import price_pure
from discreet.privacy.pricing.rdp import renyi
from discreet.privacy.pricing.zcdp import price_zcdp
from support.profile import examples

LAWS = settings(
    max_examples=examples(25), deadline=None, suppress_health_check=[HealthCheck.too_slow]
)

amounts = st.fractions(min_value=Fraction(1, 100), max_value=2, max_denominator=100)
scales = st.fractions(min_value=1, max_value=20, max_denominator=16)
deltas = st.sampled_from([Fraction(1, 10**2), Fraction(1, 10**5), Fraction(1, 10**9)])

pure_events = st.one_of(
    st.builds(LaplaceNoise, scales, st.just(1)),
    st.builds(DiscreteLaplaceNoise, scales, st.integers(1, 3)),
    st.builds(ExponentialSelection, amounts),
    st.builds(PermuteAndFlipSelection, amounts),
    st.builds(lambda e, k: Response(e, k, neighbours="add-remove"), amounts, st.integers(2, 9)),
    st.builds(lambda e: Promise(PureDP(e)), amounts),
)
concentrated = st.one_of(
    pure_events,
    st.builds(lambda s: GaussianNoise.of(s, 1), scales),
    st.builds(lambda s: DiscreteGaussianNoise(s * s, 1), scales),
    st.builds(lambda r: Promise(ZCDP(r / 10)), amounts),
)
measures = st.one_of(
    st.builds(PureDP, amounts),
    st.builds(ApproxDP, amounts, st.just(Fraction(1, 10**7))),
    st.builds(ZCDP, amounts),
    st.builds(GaussianDP, amounts),
    st.builds(lambda e: RenyiDP({2: e, 8: 2 * e, 64: 4 * e}), amounts),
)


class TestSequentialComposition:
    """The ε, ρ, μ² and Rényi divergences of composed events are the sums of their parts."""

    @LAWS
    @given(st.lists(concentrated, min_size=1, max_size=5))
    def test_sum_of_parts(self, events):
        curve = compose(events)
        assert price_zcdp(events) == sum(price_zcdp(e) for e in events)
        assert curve.renyi(3) == pytest.approx(sum(renyi(e, 3) for e in events), rel=1e-12)
        pure = [price_pure(e) for e in events]
        assert price_pure(events) == (None if None in pure else sum(pure))
        squares = [price_gdp(e) for e in events]
        assert price_gdp(events) == (None if None in squares else sum(squares))

    @LAWS
    @given(st.lists(pure_events, min_size=1, max_size=3), deltas)
    def test_never_above_basic(self, events, delta):
        curve = compose(events)
        assert curve.epsilon(delta) <= float(price_pure(events)) * (1 + 1e-12)
        assert curve.delta(price_pure(events)) == 0.0


class TestTheOrderDoesNotMatter:
    """Composition is commutative, and does not see how events are wrapped."""

    @pytest.mark.untraced
    @LAWS
    @given(
        st.lists(concentrated, min_size=2, max_size=3), deltas, st.randoms(use_true_random=False)
    )
    def test_commutative(self, events, delta, random):
        curve, shuffled = compose(events), events.copy()
        random.shuffle(shuffled)
        assert compose(shuffled).epsilon(delta) == pytest.approx(curve.epsilon(delta), rel=3e-3)
        assert compose(Sequence(events)) == compose(Batch(events)) == curve

    @LAWS
    @given(concentrated, st.integers(1, 5))
    def test_repeated(self, event, times):
        assert compose([event] * times) == compose(Repeated(event, times))


class TestNeverLooserThanItsBestIngredient:
    """The price is the least of all methods, and the lower bound is below it."""

    @pytest.mark.untraced
    @LAWS
    @given(st.lists(concentrated, min_size=1, max_size=3), deltas)
    def test_least(self, events, delta):
        curve = compose(events)
        price = curve.epsilon(delta)
        for row in curve.why(delta).rows:
            assert price <= row.epsilon * (1 + 2e-3) + 1e-12
        assert curve.lower.epsilon(delta) <= price

    @pytest.mark.untraced
    @LAWS
    @given(concentrated, concentrated, deltas)
    def test_more_events_never_cost_less(self, one, more, delta):
        assert compose([one, more]).epsilon(delta) >= compose(one).lower.epsilon(delta)


class TestMonotone:
    """More noise costs less, more sensitivity and more queries cost more, larger δ costs less ε."""

    @LAWS
    @given(
        scales,
        scales,
        deltas,
        st.sampled_from(["laplace", "gaussian", "discrete laplace", "discrete gaussian"]),
    )
    def test_in_the_scale(self, one, more, delta, kind):
        make = {
            "laplace": lambda s: LaplaceNoise(s, 1),
            "gaussian": lambda s: GaussianNoise.of(s, 1),
            "discrete laplace": lambda s: DiscreteLaplaceNoise(s, 1),
            "discrete gaussian": lambda s: DiscreteGaussianNoise(s * s, 1),
        }[kind]
        low, high = sorted([one, one + more])
        assert compose(make(high)).epsilon(delta) <= compose(make(low)).epsilon(delta) * (1 + 1e-9)

    @LAWS
    @given(concentrated, st.integers(1, 20), st.integers(1, 20), deltas)
    def test_in_the_number_of_queries(self, event, few, more, delta):
        small, large = compose(Repeated(event, few)), compose(Repeated(event, few + more))
        assert small.lower.epsilon(delta) <= large.epsilon(delta)
        assert large.rho() >= small.rho()

    @LAWS
    @given(st.lists(concentrated, min_size=1, max_size=3))
    def test_in_delta(self, events):
        curve = compose(events)
        prices = [curve.epsilon(d) for d in ("1e-9", "1e-6", "1e-3", "0.1")]
        assert all(a >= b * (1 - 1e-9) for a, b in pairwise(prices))

    @LAWS
    @given(scales, st.fractions(min_value=Fraction(1, 50), max_value=1, max_denominator=50), deltas)
    def test_in_the_sampling_rate(self, scale, rate, delta):
        whole = compose(GaussianNoise.of(scale, 1)).epsilon(delta)
        assert compose(Sampled(GaussianNoise.of(scale, 1), rate)).epsilon(delta) <= whole * (
            1 + 1e-9
        )


class TestPostProcessing:
    """What is computed from a release costs nothing: a coarser release is never dearer."""

    @LAWS
    @given(scales, st.integers(1, 4), st.integers(1, 9), deltas)
    def test_clamping_to_a_public_range(self, scale, sensitivity, width, delta):
        free = compose(DiscreteLaplaceNoise(scale, sensitivity)).epsilon(delta)
        assert compose(TruncatedGeometricNoise(scale, sensitivity, 0, width)).epsilon(
            delta
        ) <= free * (1 + 1e-9)

    @LAWS
    @given(scales, deltas)
    def test_leaving_out_coordinates(self, scale, delta):
        many = compose(DiscreteGaussianNoise(scale**2, 4, 4, 1)).epsilon(delta)
        assert compose(DiscreteGaussianNoise(scale**2, 1)).lower.epsilon(delta) <= many


class TestParallelComposition:
    """Disjoint public parts cost the worst of them under add/remove; under replace a unit may touch two."""

    @LAWS
    @given(st.lists(pure_events, min_size=1, max_size=4))
    def test_pure(self, parts):
        worst = max(price_pure(p) for p in parts)
        assert price_pure(Parallel(parts)) == worst
        assert price_pure(Parallel(parts, neighbours="replace")) == 2 * worst

    @LAWS
    @given(st.lists(concentrated, min_size=1, max_size=4))
    def test_concentrated(self, parts):
        prices = sorted(price_zcdp(p) for p in parts)
        assert price_zcdp(Parallel(parts)) == prices[-1]
        assert price_zcdp(Parallel(parts, neighbours="replace")) >= sum(prices[-2:])

    @LAWS
    @given(scales, scales, deltas)
    def test_curves(self, one, two, delta):
        parts = [LaplaceNoise(one, 1), LaplaceNoise(two, 1)]
        worst = max(compose(p).epsilon(delta) for p in parts)
        assert compose(Parallel(parts)).epsilon(delta) == pytest.approx(worst, rel=2e-3)
        both = compose(parts).lower.epsilon(delta)
        assert compose(Parallel(parts, neighbours="replace")).epsilon(delta) >= both


class TestGroupPrivacy:
    """A group of one is one; a group of K costs at least one unit and at most what chaining gives."""

    @LAWS
    @given(measures)
    def test_one_is_identity(self, measure):
        assert group_privacy(measure, 1) == measure

    @LAWS
    @given(
        st.one_of(
            st.builds(PureDP, amounts), st.builds(ZCDP, amounts), st.builds(GaussianDP, amounts)
        )
    )
    def test_twice_two_is_four(self, measure):
        assert group_privacy(group_privacy(measure, 2), 2) == group_privacy(measure, 4)
        assert measure <= group_privacy(measure, 2)

    @LAWS
    @given(concentrated, st.integers(1, 4))
    def test_events_cost_no_more_than_their_promise(self, event, size):
        grown = group_event(event, size)
        known_by_its_law = not isinstance(
            event, Response
        )  # of a response only the pure promise is grouped
        if known_by_its_law:
            assert price_zcdp(grown) <= size**2 * price_zcdp(event) * (1 + Fraction(1, 10**9))
        assert price_zcdp(grown) >= price_zcdp(event)
        pure = price_pure(event)
        assert pure is None or price_pure(grown) == size * pure


class TestConversionsNeverFlatter:
    """What a promise is converted to is kept by everyone who keeps the promise."""

    @LAWS
    @given(concentrated, deltas)
    def test_an_event_keeps_its_converted_prices(self, event, delta):
        curve = compose(event)
        lower = curve.lower.epsilon(delta)
        assert ZCDP(price_zcdp(event)).epsilon(delta) >= lower
        if (square := price_gdp(event)) is not None:
            assert GaussianDP.of_square(square).epsilon(delta) >= lower

    @LAWS
    @given(amounts, deltas)
    def test_pure_through_every_other_measure(self, amount, delta):
        exact = compose(Promise(PureDP(amount))).lower.epsilon(delta)
        for other in (
            to_zcdp(PureDP(amount)),
            to_gaussian(PureDP(amount)),
            to_renyi(PureDP(amount), [2, 4, 8, 32]),
        ):
            assert PureDP(amount) <= other
            assert other.epsilon(delta) >= exact

    @LAWS
    @given(measures, measures, deltas)
    def test_implication_is_sound(self, one, other, delta):
        """If a implies b, some mechanism that keeps a costs no more than b allows, at every δ."""
        if implies(one, other):
            assert compose(Promise(one)).lower.epsilon(delta) <= epsilon(other, delta)

    @LAWS
    @given(measures)
    def test_implication_is_reflexive(self, measure):
        assert measure <= measure  # noqa: PLR0124


class TestAmplification:
    """A Poisson sample promises ln(1 + q(e^ε − 1)) and qδ, in both directions, and never more than without."""

    @LAWS
    @given(amounts, st.fractions(min_value=Fraction(1, 50), max_value=1, max_denominator=50))
    def test_promise(self, amount, rate):
        box = ApproxDP(amount, Fraction(1, 10**6))
        less = amplify(box, rate)
        assert less <= box
        assert fits(Sampled(Promise(box), rate), less)


class TestMeaning:
    """The odds pass e^loss with probability at most min over ε < loss of δ(ε)(1 + e^−loss)/(1 − e^(ε−loss))."""

    @LAWS
    @given(st.fractions(min_value=Fraction(1, 20), max_value=4, max_denominator=40), deltas)
    def test_gaussian_noise(self, mu, delta):
        """The loss of Gaussian noise is N(μ²/2, μ²), so the exact probability of |L| > ε is known."""
        said, m = meaning(GaussianDP(mu), delta), float(mu)
        true = sum(
            math.erfc((said.loss + side * m * m / 2) / (m * math.sqrt(2))) / 2 for side in (-1, 1)
        )
        assert true <= said.chance <= 4 * true
        assert said.chance > delta

    @LAWS
    @given(amounts, st.integers(2, 30), deltas)
    def test_repeated_response(self, amount, times, delta):
        """k randomized responses have the losses (2j − k)ε with binomial probabilities."""
        curve, p = compose([Response(amount)] * times), 1 / (1 + math.exp(-float(amount)))
        loss = max(curve.epsilon(delta), 1e-9)
        held = [math.comb(times, j) * p**j * (1 - p) ** (times - j) for j in range(times + 1)]
        true = sum(
            h for j, h in enumerate(held) if abs(2 * j - times) * float(amount) > loss * (1 + 1e-12)
        )
        assert true <= passed(curve, loss) * (1 + 1e-12)

    def test_delta_is_not_the_chance(self):
        said = meaning(GaussianDP(1), "1e-5")
        assert said.chance >= 5.28e-5


class TestCalibration:
    """The least scale fits and spends the budget; the least budget is spent by its event."""

    @LAWS
    @given(measures.filter(lambda m: not isinstance(m, RenyiDP)))
    def test_laplace(self, budget):
        scale = least_scale(lambda s: LaplaceNoise(s, 1), budget, start=1)
        assert fits(LaplaceNoise(scale, 1), budget)
        assert not fits(LaplaceNoise(scale * (1 - Fraction(1, 10**11)), 1), budget)

    @pytest.mark.untraced
    @LAWS
    @given(st.lists(concentrated, min_size=1, max_size=3), deltas)
    def test_budget(self, events, delta):
        spent = least_budget(events, delta=delta)
        assert fits(events, ApproxDP(spent.epsilon * (1 + Fraction(3, 1000)), delta))

    @LAWS
    @given(concentrated, st.fractions(min_value=Fraction(1, 10**9), max_value=Fraction(1, 10**7)))
    def test_a_leak_is_paid_on_top(self, event, leak):
        plain, leaky = compose(event), compose(KeySelection(event, leak))
        assert leaky.delta(1) >= float(leak) * (1 - 1e-9)
        assert leaky.delta(1) <= plain.delta(1) + float(leak) * (1 + 1e-6) + 1e-15
        assert leaky.epsilon(Fraction(1, 10**5)) >= plain.lower.epsilon(Fraction(1, 10**5))
        assert math.isinf(leaky.epsilon(leak / 2))
