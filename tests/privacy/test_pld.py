"""The numerical engine against exact numbers: no bound is ever on the wrong side, and brackets are narrow."""

import json
import math
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf

from discreet.errors import InvalidArgument
from discreet.privacy.events import (
    Batch,
    BinomialNoise,
    DiscreteGaussianNoise,
    DiscreteLaplaceNoise,
    ExponentialSelection,
    GaussianNoise,
    KeySelection,
    LaplaceNoise,
    Parallel,
    Promise,
    Repeated,
    Response,
    Sampled,
    Sequence,
)
from discreet.privacy.loss.atoms import Atoms
from discreet.privacy.measures import ZCDP, ApproxDP, GaussianDP, PureDP
from discreet.privacy.numerical.accountant import numerical
from discreet.privacy.numerical.convolution import compose
from discreet.privacy.numerical.direction import DirectionBounds
from discreet.privacy.numerical.loss_grid import align_lattice, connect_dots
from discreet.privacy.numerical.lower_bound import spread_law
from discreet.privacy.numerical.pair import composed_pairs, pairs_of
from discreet.privacy.numerical.tilting import log_renyi_factor
from discreet.privacy.pairs.gauss import Gauss
from discreet.privacy.pairs.hyperbola import bounded_range
from oracles import privacy_curves as oracle
from support.profile import examples

VECTORS = {
    v["id"]: v
    for v in json.loads((Path(__file__).parents[1] / "vectors" / "vectors.json").read_text())[
        "vectors"
    ]
}
DELTAS = ["1e-2", "1e-6", "1e-12", "1e-16", "1e-30", "1e-60", "1e-100"]
few = settings(
    max_examples=examples(12), deadline=None, suppress_health_check=[HealthCheck.too_slow]
)


def bracket(events, delta, gap=1e-3):
    price = numerical(events, gap=gap)
    return price.lower_epsilon(delta), price.epsilon(delta)


def encloses(low, high, exact):
    assert mpf(low) <= mpf(exact) <= mpf(high)


class TestVectors:
    """Fifty-digit numbers by independent means."""

    @pytest.mark.parametrize("name", ["GC-1", "GC-3"])
    def test_gaussians(self, name):
        v = VECTORS[name]
        events = [GaussianNoise.of(v["inputs"]["sigma"], 1)] * v["inputs"]["k"]
        low, high = bracket(events, v["inputs"]["delta"])
        encloses(low, high, v["value"])
        assert high <= float(v["value"]) * (1 + 1e-11)

    @pytest.mark.parametrize("name", ["GC-1", "GC-3"])
    def test_gaussians_on_the_ring(self, name):
        """The same without the closed form: every Gaussian discretised and composed."""
        v = VECTORS[name]
        side = DirectionBounds(((Gauss(1 / float(v["inputs"]["sigma"])), v["inputs"]["k"]),))
        found = side.epsilon(Fraction(v["inputs"]["delta"]), 1e-3)
        encloses(found.lower, found.upper, v["value"])
        assert found.upper <= found.lower * (1 + 1e-3)

    @pytest.mark.parametrize("name", ["GT-1", "GT-3"])
    def test_small_delta(self, name):
        v = VECTORS[name]
        low, high = bracket([GaussianNoise(1, 1)], v["inputs"]["delta"])
        encloses(low, high, v["value"])
        assert high / low - 1 < 1e-11

    def test_optimal_composition(self):
        v = VECTORS["KO-1"]
        price = numerical([Promise(PureDP("0.1"))] * 10)
        encloses(price.lower_delta("0.5"), price.delta("0.5"), v["value"])
        assert price.delta("0.5") == pytest.approx(float(v["value"]), rel=1e-11)

    def test_two_laplaces(self):
        price = numerical([LaplaceNoise(1, 1)] * 2, gap=1e-4)
        exact = VECTORS["LC-1"]["value"]
        encloses(price.lower_delta(1), price.delta(1), exact)
        assert price.delta(1) / price.lower_delta(1) - 1 < 1e-3

    def test_measured_jobs(self):
        """The jobs of the design, against exact values or brackets by other programs."""
        gauss = DirectionBounds(((Gauss(0.1), 100_000),)).epsilon(Fraction(1, 10**6), 1e-3)
        encloses(gauss.lower, gauss.upper, "649.38509")
        assert gauss.upper / gauss.lower - 1 <= 1e-3
        low, high = bracket([Promise(ApproxDP("0.1", "1e-10"))] * 1000, 1e-6)
        assert low == pytest.approx(19.401852, abs=1e-6)
        assert high == pytest.approx(19.401852, abs=1e-6)
        low, high = bracket([Repeated(LaplaceNoise(10, 1), 100_000)], 1e-6)
        assert low <= 630.5090
        assert 630.5089 <= high <= low * (1 + 1e-3)
        low, high = bracket([Repeated(Sampled(GaussianNoise("0.64", 1), "0.01"), 10_000)], 1e-6)
        assert low <= 11.1832
        assert 11.1822 <= high <= low * (1 + 1e-3)

    def test_narrow_on_request(self):
        low, high = bracket(
            [Repeated(Sampled(GaussianNoise("0.64", 1), "0.01"), 10_000)], 1e-6, gap=1e-4
        )
        assert high <= low * (1 + 1e-4)
        assert low <= 11.1832
        assert high >= 11.1822


class TestOracle:
    """Sixty digits: lower ≤ exact ≤ upper, with δ from 1e-2 to 1e-100."""

    @pytest.mark.untraced
    @few
    @given(
        st.sampled_from([0.01, 0.1, 0.5, 3.0]),
        st.sampled_from([2, 7, 60, 3000]),
        st.sampled_from(DELTAS),
    )
    def test_gaussians(self, mu, times, delta):
        found = DirectionBounds(((Gauss(mu), times),)).epsilon(Fraction(delta), 1e-3)
        whole = mpf(mu) * oracle.sqrt(times)
        exact = oracle.epsilon_of(
            lambda e: oracle.gauss_delta(whole, e), mpf(delta), whole * (whole + 60) + 1
        )
        encloses(found.lower, found.upper, exact)
        assert found.upper <= found.lower * (1 + 1e-3)

    laws = st.one_of(
        st.tuples(st.just("response"), st.integers(5, 250), st.integers(2, 4)),
        st.tuples(st.just("geometric"), st.integers(5, 150), st.integers(1, 4)),
        st.tuples(st.just("box"), st.integers(5, 150), st.just(0)),
        st.tuples(st.just("binomial"), st.integers(4, 12), st.integers(1, 2)),
        st.tuples(st.just("sampled"), st.integers(10, 150), st.integers(1, 3)),
    )

    @staticmethod
    def both(kind, number, extra, removes):
        e, m = Fraction(number, 100), mpf(number) / 100
        if kind == "response":
            return Response(e, extra, neighbours="add-remove"), oracle.response_law(m, extra)
        if kind == "geometric":
            return DiscreteLaplaceNoise(1 / e, extra), oracle.geometric_law(m, extra)
        if kind == "box":
            return Promise(ApproxDP(e, "1e-110")), oracle.box_law(m, mpf("1e-110"))
        if kind == "binomial":
            return BinomialNoise(number, extra), oracle.binomial_law(number, extra)
        law = oracle.sampled_law(oracle.geometric_law(m, extra), mpf("0.3"), removes=removes)
        return Sampled(DiscreteLaplaceNoise(1 / e, extra), "0.3"), law

    @few
    @given(st.lists(laws, min_size=2, max_size=4), st.sampled_from(DELTAS), st.floats(0, 1))
    def test_products_of_discrete_laws(self, chosen, delta, part):
        made = [[self.both(*one, removes) for one in chosen] for removes in (True, False)]
        totals = [oracle.compose_laws([law for _, law in side]) for side in made]
        price = numerical([event for event, _ in made[0]])

        def curve(epsilon):
            return max(oracle.delta_of(total, epsilon) for total in totals)

        infinite = max(sum(p for loss, p in total if loss == oracle.inf) for total in totals)
        if mpf(delta) > infinite * (1 + mpf("1e-9")):
            exact = oracle.epsilon_of(curve, mpf(delta), 100)
            encloses(price.lower_epsilon(delta), price.epsilon(delta), exact)
        at = part * 2
        encloses(price.lower_delta(at), price.delta(at), curve(mpf(at)))
        assert price.delta(at) <= price.lower_delta(at) * (1 + 4e-2) + 1e-280

    @pytest.mark.untraced
    @few
    @given(
        st.sampled_from([(1, 20), (1, 2), (3, 1)]),
        st.integers(2, 3),
        st.sampled_from(DELTAS),
        st.booleans(),
    )
    def test_hyperbolas(self, ratio, times, delta, bounded):
        x = mpf(ratio[0]) / ratio[1]
        shape = (x, x, mpf(1) / 2, oracle.exp(-x / 2) / 2)
        event = LaplaceNoise(ratio[1], ratio[0])
        if bounded:
            shape = (x, x, mpf(0), 1 / (2 * mp.sinh(x / 2)))
            event = ExponentialSelection(Fraction(*ratio))
        low, high = bracket([event] * times, delta)
        assert (
            oracle.hyperbola_delta(shape, times, mpf(low)) >= mpf(delta) * (1 - mpf("1e-15"))
            or low == 0
        )
        assert oracle.hyperbola_delta(shape, times, mpf(high)) <= mpf(delta) * (1 + mpf("1e-15"))
        assert high <= low * (1 + 1e-3) or low == 0

    def test_mixed_families(self):
        """A Gaussian, a Laplace and a response, by quadrature over the Gaussian."""
        x, mu, epsilon = mpf(1) / 2, mpf(1) / 2, mpf(1)

        def rest(e):
            return sum(
                p * oracle.laplace_delta(x, e - loss) for loss, p in oracle.response_law(mpf(1) / 4)
            )

        def integrand(z):
            return (
                oracle.exp(-z * z / 2)
                * rest(epsilon - mu * mu / 2 - mu * z)
                / oracle.sqrt(2 * mp.pi)
            )

        with mp.workdps(20):
            kinks = sorted(
                (epsilon - mu * mu / 2 - s * x - t / mpf(4)) / mu for s in (-1, 1) for t in (-1, 1)
            )
            exact = oracle.quad(integrand, [-12, *kinks, 12])
        events = [
            GaussianNoise(4, 1),
            LaplaceNoise(2, 1),
            Response("0.25", neighbours="add-remove"),
        ]
        price = numerical(events, gap=1e-4)
        assert price.lower_delta(1) * (1 - 1e-9) <= float(exact) <= price.delta(1) * (1 + 1e-9)
        assert price.delta(1) / price.lower_delta(1) - 1 < 1e-3


EVENTS = st.one_of(
    st.builds(lambda n: LaplaceNoise(n, 1), st.integers(1, 30)),
    st.builds(lambda n: DiscreteLaplaceNoise(n, 2), st.integers(2, 30)),
    st.builds(lambda n: Response(Fraction(n, 20), neighbours="add-remove"), st.integers(1, 40)),
    st.builds(lambda n: ExponentialSelection(Fraction(n, 20)), st.integers(1, 40)),
    st.builds(lambda n: DiscreteGaussianNoise(n, 1), st.integers(2, 60)),
    st.builds(lambda n: Sampled(GaussianNoise(n, 1), "0.1"), st.integers(1, 9)),
)
LOOSE = 1.0021
"""Two brackets of 1e-3 may lie this far apart where the exact numbers agree."""


class TestLaws:
    """What every price obeys."""

    @few
    @given(st.lists(EVENTS, min_size=2, max_size=5), st.sampled_from([1e-3, 1e-9]), st.randoms())
    def test_order_does_not_matter(self, events, delta, random):
        mixed = list(events)
        random.shuffle(mixed)
        assert numerical(events).epsilon(delta) == pytest.approx(
            numerical(mixed).epsilon(delta), rel=2e-3
        )

    @few
    @given(st.lists(EVENTS, min_size=1, max_size=4), EVENTS, st.sampled_from([1e-3, 1e-9]))
    def test_more_events_cost_more(self, events, another, delta):
        assert numerical(events).lower_epsilon(delta) <= numerical([*events, another]).epsilon(
            delta
        )

    @pytest.mark.untraced
    @few
    @given(st.lists(EVENTS, min_size=2, max_size=4))
    def test_smaller_delta_costs_more(self, events):
        price = numerical(events)
        found = [price.epsilon(10.0**-e) for e in (1, 3, 6, 12, 24)]
        assert all(a <= b * LOOSE for a, b in pairwise(found))

    @few
    @given(st.integers(2, 9), st.integers(1, 9), st.sampled_from([1e-4, 1e-10]))
    def test_more_noise_costs_less(self, times, scale, delta):
        prices = [
            numerical([LaplaceNoise(s, 1)] * times).epsilon(delta) for s in (scale, 2 * scale)
        ]
        assert prices[1] < prices[0]
        moved = numerical([LaplaceNoise(scale, 2)] * times).epsilon(delta)
        assert moved > prices[0]

    @few
    @given(
        st.lists(
            EVENTS.filter(lambda e: pairs_of(e).remove.limit is not None), min_size=1, max_size=5
        ),
        st.sampled_from([0, 1e-30, 1e-5]),
    )
    def test_never_above_the_sum(self, events, delta):
        total = sum(pairs_of(event).remove.limit for event in events)
        assert numerical(events).epsilon(delta) <= float(total) * (1 + 1e-15)

    @few
    @given(st.lists(EVENTS, min_size=2, max_size=4), st.sampled_from([0.05, 0.4, 1.0]))
    def test_epsilon_and_delta_agree(self, events, epsilon):
        price = numerical(events)
        delta = price.lower_delta(epsilon)
        if delta > 1e-200:
            assert price.epsilon(delta) >= epsilon * (1 - 1e-9)

    def test_grouping_does_not_matter(self):
        one, two = LaplaceNoise(10, 1), Response(Fraction(1, 10), neighbours="add-remove")
        nested = Sequence([Repeated(Batch([one, two]), 20)])
        assert numerical([nested]).epsilon(1e-6) == numerical([one, two] * 20).epsilon(1e-6)

    def test_replace_costs_more_in_parallel(self):
        parts = [DiscreteLaplaceNoise(10, 1)] * 5
        once = numerical([Parallel(parts)] * 10)
        moved = numerical([Parallel(parts, neighbours="replace")] * 10)
        assert once.epsilon(1e-6) == numerical([parts[0]] * 10).epsilon(1e-6)
        assert moved.epsilon(0) == 2.0
        assert once.epsilon(0) == 1.0


class TestEnds:
    """Where nothing is left to compute."""

    def test_pure(self):
        assert numerical([LaplaceNoise(10, 1)] * 10).epsilon(0) == 1.0
        assert numerical([GaussianNoise(1, 1)]).epsilon(0) == math.inf
        assert numerical([Promise(PureDP("1/3"))] * 2).epsilon(0) >= Fraction(2, 3)
        assert numerical([LaplaceNoise(1, 1)] * 2).delta(2) == 0.0

    def test_mass_that_is_given_away(self):
        price = numerical([Promise(ApproxDP(1, "0.01"))] * 2)
        assert price.epsilon("0.001") == math.inf
        assert price.lower_epsilon("0.001") == math.inf
        assert price.epsilon("0.0199") <= 2.0
        assert price.delta(50) == pytest.approx(1 - 0.99**2, rel=1e-9)

    def test_mass_that_is_nearly_given_away(self):
        """Exactly at the mass at infinity only bounds of the trivial kind hold."""
        price = numerical([Promise(ApproxDP(1, "0.25"))])
        assert price.lower_epsilon("0.25") == 0.0
        assert price.epsilon("0.25") == 1.0

    def test_large_delta(self):
        assert numerical([GaussianNoise(100, 1)] * 3).epsilon("0.5") == 0.0
        assert numerical([LaplaceNoise(10, 1)] * 3).epsilon("0.9") == 0.0
        assert numerical([LaplaceNoise(100, 1)] * 3).epsilon("0.2") <= 1e-3

    def test_where_no_lower_bound_can_be_shown(self):
        """Just above δ(0), and just below the largest loss: 0 is a lower bound, the upper one stays sound."""
        price = numerical([LaplaceNoise(1, 1)] * 2, gap=0.01)
        edge = price.delta(0) * (1 - 1e-5)
        assert price.lower_epsilon(edge) <= price.epsilon(edge) <= 0.01
        late = 2 - 1e-9
        assert price.lower_delta(late) <= 0.25 * 1e-9 <= price.delta(late)
        steep = numerical([ExponentialSelection(1)] * 20, gap=0.1)
        assert steep.lower_delta(20 - 1e-6) == 0.0
        assert 0 < steep.delta(20 - 1e-6) < 1e-70

    @pytest.mark.untraced
    def test_a_gap_finer_than_any_grid(self):
        low, high = bracket([LaplaceNoise(3, 1)] * 3, 1e-3, gap=1e-30)
        assert 0 < low <= high < low * (1 + 1e-5)

    def test_tiny_delta(self):
        assert numerical([DiscreteGaussianNoise(9, 1)] * 2).epsilon(1e-290) == math.inf
        assert numerical([DiscreteGaussianNoise(9, 1)] * 2).lower_epsilon(1e-290) == 0.0
        assert numerical([GaussianNoise(9, 1)]).lower_epsilon(0) == math.inf
        assert numerical([Promise(ApproxDP(5, 0))]).epsilon(1e-299) == 5.0

    def test_negative_epsilon(self):
        price = numerical([LaplaceNoise(1, 1)] * 2)
        forth = price.delta(1)
        assert price.delta(-1) == pytest.approx(1 - math.exp(-1) * (1 - forth), rel=1e-3)

    def test_losses_beyond_doubles(self):
        assert numerical([LaplaceNoise(1, 5000)] * 2).epsilon(1e-6) <= 10_000
        assert numerical([Repeated(GaussianNoise(1, 1), 10**7)]).epsilon(1e-6) > 5e6
        assert numerical([GaussianNoise("1e-40", 1)]).epsilon(1e-6) == math.inf

    def test_nothing_but_zero_losses(self):
        assert numerical([Promise(PureDP(0))] * 3).epsilon(1e-6) == 0.0

    def test_own_answers_are_remembered(self):
        price = numerical([LaplaceNoise(1, 1)] * 3)
        assert price.epsilon(1e-5) == price.epsilon(1e-5)
        assert len(price.known) == 1

    def test_refusals(self):
        with pytest.raises(InvalidArgument, match="at least one event"):
            numerical([])
        with pytest.raises(InvalidArgument, match="mix"):
            numerical([LaplaceNoise(1, 1), Response(1)])
        with pytest.raises(InvalidArgument, match="gap must lie"):
            numerical([LaplaceNoise(1, 1)], gap=0)
        with pytest.raises(InvalidArgument, match="delta must be"):
            numerical([LaplaceNoise(1, 1)]).epsilon(1)
        with pytest.raises(InvalidArgument, match="finite"):
            numerical([LaplaceNoise(1, 1)]).delta(math.nan)
        with pytest.raises(AssertionError):
            align_lattice(Atoms(np.zeros(1), np.ones(1)), Fraction(1))


class TestNested:
    """Compositions inside other events become one pair that dominates."""

    def test_sampled_composition(self):
        inner = Batch([DiscreteLaplaceNoise(2, 1), Response("0.5", neighbours="add-remove")])
        laws = [oracle.geometric_law(mpf(1) / 2, 1), oracle.response_law(mpf(1) / 2)]
        pairs = pairs_of(Sampled(inner, "0.2"))
        for removes, pair in ((True, pairs.remove), (False, pairs.add)):
            law = oracle.sampled_law(oracle.compose_laws(laws), mpf(1) / 5, removes=removes)
            for epsilon in (-0.1, 0.0, 0.1, 0.2):
                exact = float(oracle.delta_of(law, mpf(epsilon)))
                assert exact <= pair.delta(epsilon) <= exact * 1.01 + 1e-12

    def test_sampled_gaussians_are_one_gaussian(self):
        once = pairs_of(Sampled(Repeated(GaussianNoise(8, 1), 2), "0.1")).remove
        assert once.delta(0.3) == pytest.approx(
            pairs_of(Sampled(GaussianNoise(4, 1), "0.1")).remove.delta(0.3), rel=1e-12
        )

    def test_keys(self):
        event = KeySelection(LaplaceNoise(1, 1), "1e-4")
        assert numerical([event]).epsilon("2e-4") <= 1.0
        assert numerical([event]).epsilon("5e-5") == math.inf
        assert pairs_of(event).remove.delta(1.0) == pytest.approx(1e-4, rel=1e-6)

    @pytest.mark.untraced
    def test_both_directions_survive(self):
        pairs = pairs_of(Repeated(Sampled(GaussianNoise(1, 1), "0.1"), 3))
        assert pairs.remove is not pairs.add
        exact = numerical([Sampled(GaussianNoise(1, 1), "0.1")] * 3)
        assert max(pairs.remove.delta(0.3), pairs.add.delta(0.3)) == pytest.approx(
            exact.delta(0.3), rel=1e-2
        )
        assert max(pairs.remove.delta(0.3), pairs.add.delta(0.3)) >= exact.lower_delta(0.3)

    @pytest.mark.untraced
    def test_zcdp_adds_before_it_is_priced(self):
        split = numerical([Promise(ZCDP("0.1"))] * 5).epsilon(1e-6)
        assert split == numerical([Promise(ZCDP("0.5"))]).epsilon(1e-6)
        assert split == pytest.approx(float(VECTORS["ZC-1b"]["value"]), rel=1e-3)

    def test_slack_adds_up(self):
        """A lattice Gaussian in many coordinates: a little above the continuous one, never below."""
        lattice = numerical([DiscreteGaussianNoise(100, 30, 20)] * 10)
        assert numerical([GaussianNoise(100, 30)] * 10).epsilon(1e-6) <= lattice.epsilon(1e-6)
        assert lattice.epsilon(1e-6) <= numerical([GaussianNoise(97, 30)] * 10).epsilon(1e-6) * (
            1 + 1e-3
        )

    def test_nothing(self):
        assert composed_pairs([]).remove.delta(0.0) < 1e-12


class TestParts:
    """The pieces of the engine."""

    def test_dots_keep_both_masses_and_dominate(self):
        for pair in (Gauss(0.7), bounded_range(Fraction(1)), pairs_of(Response(1, 3)).remove):
            comb = connect_dots(pair, 0.03, 1e-15)
            assert comb.mass.sum() + comb.top == pytest.approx(1)
            as_atoms = Atoms(comb.losses, comb.mass, Fraction(comb.top))
            for epsilon in (-0.4, 0.0, 0.333, 0.9):
                assert pair.lower_delta(epsilon) <= as_atoms.delta(epsilon) * (1 + 1e-9)
                assert as_atoms.delta(epsilon) <= pair.delta(epsilon) + 0.01

    def test_spread_dominates_every_split(self):
        """A point anywhere in a cell, split between its ends, is dominated by the spread law."""
        law = spread_law(0.5, 1, 1.0)
        losses = law.half * np.arange(-law.reach, law.reach + 1)
        for share in np.linspace(0.01, 0.99, 25):
            q = np.array([1 - share, share])
            ratio = np.exp(np.array([0.0, 0.5]))
            ratio /= q @ ratio
            for epsilon in np.linspace(-0.5, 0.5, 21):
                curve = (q * np.maximum(ratio - math.exp(epsilon), 0)).sum()
                most = (law.weights * np.maximum(0, -np.expm1(epsilon - losses))).sum()
                assert curve <= most + 1e-12

    def test_spread_of_many_is_cut_with_a_bound(self):
        law = spread_law(1e-3, 100_000, 0.5)
        assert law.reach < 10_000
        assert law.tail < 1e-12
        assert law.weights.sum() == pytest.approx(1, abs=1e-8)

    def test_too_long_a_ring_is_refused(self):
        comb = connect_dots(Gauss(1.0), 1e-3, 1e-12)
        assert compose([comb], [10**6], 1.0, 2**12) is None

    def test_narrow_combs_on_a_short_ring(self):
        """A comb longer than the ring wraps around, and the bound still holds."""
        side = DirectionBounds(((Gauss(3.0), 1), (Gauss(0.01), 3)))
        found = side.epsilon(Fraction(1, 100), 1e-3)
        whole = oracle.sqrt(mpf(9) + 3 * mpf("0.01") ** 2)
        exact = oracle.epsilon_of(lambda e: oracle.gauss_delta(whole, e), mpf("0.01"), 300)
        encloses(found.lower, found.upper, exact)

    def test_log_share(self):
        assert log_renyi_factor(0.0) == 0.0

    @pytest.mark.untraced
    def test_grids_that_do_not_fit_grow_coarser(self):
        """Very many composed events at a very narrow gap: a wider bracket, but a sound one."""
        side = DirectionBounds(((Gauss(0.001), 10**7), (pairs_of(Response(3)).remove, 1)))
        found = side.epsilon(Fraction(1, 10**6), 1e-8)
        assert 0 < found.lower <= found.upper < math.inf

    def test_common_lattices(self):
        """Responses of 1/10, 1/20 and 3/20 share a lattice: the bracket is rounding only."""
        events = [Promise(PureDP(Fraction(n, 20))) for n in (1, 2, 3)] * 10
        low, high = bracket(events, 1e-6)
        assert high / low - 1 < 1e-9

    def test_one_gaussian_promise(self):
        assert numerical([Promise(GaussianDP(1))]).delta(1) == pytest.approx(
            float(VECTORS["GD-1"]["value"]), rel=1e-11
        )
