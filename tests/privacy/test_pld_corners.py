"""The numerical engine at the ends of its range: heavy leaks, tiny losses, very large ε."""

import math
from fractions import Fraction

import numpy as np
import pytest

from discreet.errors import InvalidArgument
from discreet.privacy import compose
from discreet.privacy.events import (
    Batch,
    BinomialNoise,
    DiscreteGaussianNoise,
    GaussianNoise,
    KeySelection,
    LaplaceNoise,
    OwnCurve,
    Parallel,
    Promise,
    Repeated,
    Response,
    Sampled,
)
from discreet.privacy.loss.atoms import Atoms
from discreet.privacy.loss.loss_masses import Directions
from discreet.privacy.measures import ZCDP, ApproxDP, GaussianDP, PureDP, RenyiDP
from discreet.privacy.numerical.accountant import numerical
from discreet.privacy.numerical.direction import DirectionBounds
from discreet.privacy.numerical.lower_bound import interpolate
from discreet.privacy.numerical.pair import composed_pairs, pairs_of
from discreet.privacy.numerical.tilting import log_renyi_factor
from discreet.privacy.pricing.boxes import optimal_delta


class TestLeaksInsideAnotherEvent:
    """A composition that leaks outright with any probability has a pair of its own."""

    @pytest.mark.untraced
    @pytest.mark.parametrize("delta", ["0.02", "0.2", "0.9", "0.9999999"])
    def test_boxes(self, delta):
        """Against the exact sum of Kairouz, Oh and Viswanath."""
        pair = pairs_of(Repeated(Promise(ApproxDP(2, delta)), 3)).remove
        stays = (1 - float(delta)) ** 3
        for epsilon in (0.0, 1.0, 3.0, 5.0, 6.0):
            exact = 1 - stays * (1 - optimal_delta(2.0, 3, epsilon))
            assert exact * (1 - 1e-12) <= pair.delta(epsilon) <= exact + 1e-3 * stays + 1e-9

    def test_sampled(self):
        """Between the leak of a drawn unit alone and what the union of all leaks allows."""
        boxes = compose(Sampled(Repeated(Promise(ApproxDP(2, "0.02")), 3), "0.1")).delta(1)
        inner = math.log1p(math.expm1(1) / 0.1)
        exact = 0.1 * (1 - 0.98**3 * (1 - optimal_delta(2.0, 3, inner)))
        assert exact <= boxes <= exact * 1.001
        keys = compose(Sampled(Repeated(KeySelection(LaplaceNoise(1, 1), "0.02"), 3), "0.1")).delta(
            1
        )
        assert 0.1 * (1 - 0.98**3) <= keys <= boxes

    def test_all_is_leaked(self):
        pair = pairs_of(Repeated(BinomialNoise(4, 5), 2)).remove
        assert (pair.delta(0.0), pair.delta(50.0), pair.top) == (1.0, 1.0, 1)
        assert numerical([BinomialNoise(4, 5)] * 2).delta(1) == 1

    def test_no_grid_is_short_enough(self):
        """Two losses so far apart that no grid holds both at any stop: only the largest loss is promised."""
        wide = Atoms(np.array([0.0, 1e12]), np.array([0.5, 0.5]), limit=Fraction(10**12))
        steep = Atoms(np.array([0.0, 1.0]), np.array([0.5, 0.5]), limit=Fraction(1))
        pair = composed_pairs(
            [(Directions(wide, wide), 1), (Directions(steep, steep), 10**6)]
        ).remove
        assert pair.delta(1e12 + 1e6) == 0
        assert pair.delta(1.0) == 1


class TestTinyLosses:
    """Losses below the rounding of the grid are priced by the distance in total variation."""

    @pytest.mark.parametrize("epsilon", [1e-30, 1e-9])
    def test_delta(self, epsilon):
        price = numerical([Sampled(GaussianNoise.of(1, 1), "1e-20")] * 100)
        assert 0 <= price.lower_delta(epsilon) <= price.delta(epsilon)
        assert price.delta(epsilon) <= 100 * 0.383e-20

    def test_epsilon(self):
        price = numerical([Sampled(GaussianNoise.of(1, 1), "1e-20")] * 100)
        assert (price.lower_epsilon("1e-9"), price.epsilon("1e-9")) == (0, 0)

    def test_rarer_than_floats(self):
        for times in (1, 3):
            assert compose([Sampled(LaplaceNoise(1, 1), "1e-400")] * times).delta(1) <= 1e-299

    @pytest.mark.parametrize("tilt", [1e-9, 0.3, 40.0, 1e19])
    def test_log_share(self, tilt):
        """λ^λ/(1+λ)^{1+λ} is 1/(e(1+λ)) for large λ, to any size."""
        assert -1 - math.log1p(tilt) <= log_renyi_factor(tilt) <= -math.log1p(tilt)


class TestLargeEpsilon:
    """Far above all losses the curve is what leaks, without a warning."""

    @pytest.mark.untraced
    @pytest.mark.parametrize("epsilon", [1000, 2**20, 10**300])
    def test_delta(self, epsilon):
        events = [GaussianNoise.of(1, 1)] * 3 + [LaplaceNoise(1, 1)]
        assert compose(events).delta(epsilon) < 1e-300
        assert numerical(events).lower_delta(epsilon) == 0

    def test_interpolate(self):
        losses = np.array([0.0, 1.0, 2.0])
        curve = interpolate(
            losses,
            np.array([0.5, 0.25, 0.125]),
            np.array([-1e300, 0.0, 2.0, 3.0, 1e300]),
            below=1.0,
        )
        assert curve.tolist() == [1.0, 0.5, 0.125, 0.125, 0.125]

    def test_all_below_the_grid(self):
        made = DirectionBounds(((pairs_of(LaplaceNoise(1, 1)).remove, 2),)).around(1e-6)
        above = float(made.evidence.profile.upper[0]) * 1.01
        assert made.epsilon(above) == pytest.approx(made.evidence.profile.losses[0])


HUGE = "1e400"
BEYOND = [
    LaplaceNoise("1e-400", 1),
    GaussianNoise("1e-400", 1),
    Response(HUGE),
    OwnCurve([(HUGE, "1e-7")]),
    Sampled(LaplaceNoise("1e-400", 1), "0.1"),
    KeySelection(LaplaceNoise("1e-400", 1), "1e-7"),
    Repeated(Batch([LaplaceNoise(1, 1), LaplaceNoise("1e-400", 1)]), 2),
    Parallel([LaplaceNoise("1e-400", 1), LaplaceNoise(1, 1)]),
    *(
        Promise(m)
        for m in (
            PureDP(HUGE),
            ApproxDP(HUGE, "1e-7"),
            ZCDP(HUGE),
            GaussianDP(HUGE),
            RenyiDP({2: HUGE}),
        )
    ),
    Promise(RenyiDP({HUGE: 1})),
]


class TestBeyondTheFloats:
    """What no float can hold is refused in words, wherever it is priced; what a float holds is priced."""

    @pytest.mark.parametrize("event", BEYOND)
    def test_events(self, event):
        for ask in (lambda: compose(event).epsilon("1e-6"), lambda: numerical([event])):
            with pytest.raises(InvalidArgument, match="beyond 1e100"):
                ask()

    def test_epsilon(self):
        for ask in (compose(LaplaceNoise(1, 1)).delta, numerical([LaplaceNoise(1, 1)] * 2).delta):
            with pytest.raises(InvalidArgument, match="beyond 1e300"):
                ask(HUGE)

    def test_measures_show_themselves(self):
        huge = GaussianDP(10**400)
        assert (huge.mu, str(huge)) == (math.inf, "μ = inf")
        assert repr(huge) == f"GaussianDP.of_square({10**800})"

    @pytest.mark.parametrize("event", [LaplaceNoise("1e-11", 1), Promise(ApproxDP(10**11, "1e-7"))])
    def test_up_to_there(self, event):
        """Alone and with another event: the price is the amount, and no more than what the other adds."""
        alone, both = (
            compose(event).epsilon("1e-6"),
            compose([event, LaplaceNoise(1, 1)]).epsilon("1e-6"),
        )
        assert 1e11 * (1 - 1e-9) <= alone <= both <= 1e11 + 10

    @pytest.mark.parametrize("epsilon", [10**29, 10**90])
    def test_one_steep_promise_among_others(self, epsilon):
        price = compose([Promise(ApproxDP(epsilon, "1e-7")), LaplaceNoise(1, 1)]).epsilon("1e-6")
        assert epsilon * (1 - 1e-9) <= price <= epsilon * (1 + 1e-9)
        with pytest.raises(InvalidArgument, match="beyond a loss of 1e18"):
            numerical([OwnCurve([(epsilon, "1e-7")])])

    def test_discrete_noise_of_hardly_any_width(self):
        assert compose(DiscreteGaussianNoise("1e-11", 1)).epsilon("1e-6") >= 0.49e11


@pytest.mark.parametrize("sensitivity", [100, 10**4, 10**6, 10**9])
def test_losses_of_millions_have_a_delta(sensitivity):
    """Of six such releases nothing is protected: δ at ε = 0 is 1, and no float overflows."""
    assert compose([LaplaceNoise(1, sensitivity)] * 6).delta(epsilon=0) == 1
