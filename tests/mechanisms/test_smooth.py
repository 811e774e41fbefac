"""Smooth sensitivity: the bound is smooth, the exact law on neighbours is (ε, δ), the answers hide the scale."""

import itertools
import math
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import InvalidArgument
from discreet.mechanisms.beyond import ordered, smooth
from discreet.mechanisms.beyond.ordered import PLACES
from discreet.mechanisms.beyond.smooth import (
    SmoothQuantile,
    SmoothTrimmedMean,
    smooth_bound,
    smoothness,
)
from discreet.noise import laplace
from discreet.privacy.events import Promise
from discreet.privacy.measures import ApproxDP, PureDP
from discreet.testing.bits import HashedBits, UntouchedBits
from support.profile import examples


class TestSmoothBound:
    """S ≥ the local sensitivity, and |ln S(x) − ln S(x')| ≤ β for all neighbours: exactly."""

    @settings(deadline=None, max_examples=examples(60))
    @given(st.lists(st.integers(0, PLACES), min_size=1, max_size=9), st.data())
    def test_smooth(self, values, data):
        beta = data.draw(st.sampled_from([Fraction(1, 50), Fraction(1, 5), Fraction(2)]))
        at, new = data.draw(st.integers(0, len(values) - 1)), data.draw(st.integers(0, PLACES))
        b = data.draw(st.integers(1, len(values)))
        a = data.draw(st.integers(0, b - 1))
        x, y = np.sort(values), np.sort([*values[:at], new, *values[at + 1 :]])
        s, t = smooth_bound(x, a, b, beta), smooth_bound(y, a, b, beta)
        with mp.workdps(40):
            ratio = mp.mpf(s.numerator) / s.denominator * t.denominator / t.numerator
            assert abs(mp.log(ratio)) <= mp.mpf(beta.numerator) / beta.denominator
        assert abs(int(x[a:b].sum()) - int(y[a:b].sum())) <= min(s, t)
        assert min(s, t) >= 256

    @settings(deadline=None, max_examples=examples(60))
    @given(st.lists(st.integers(0, PLACES), min_size=1, max_size=9), st.data())
    def test_none_that_matters_is_left_out(self, values, data):
        beta = data.draw(st.sampled_from([Fraction(1, 50), Fraction(1, 5), Fraction(2)]))
        b = data.draw(st.integers(1, len(values)))
        a = data.draw(st.integers(0, b - 1))
        weights = smooth._weights(beta)
        places = [*[0] * 900, *sorted(values), *[PLACES] * 900]  # rank r is at 899 + r
        spans = [
            max(places[899 + b + t] - places[899 + a + t - k] for t in range(k + 2))
            for k in range(min(len(weights), 80))
        ]
        plain = max(
            [w * s for w, s in zip(weights, spans, strict=False)]
            + [w * PLACES for w in weights[80:]]
        )
        assert smooth_bound(np.sort(values), a, b, beta) == Fraction(
            max(plain, weights[-1] * PLACES), 2**30
        )

    def test_equals_the_definition(self):
        """max_k e^(−βk) A_k over all k, to the rounding of the weights."""
        x = np.sort(np.random.default_rng(1).integers(PLACES // 3, PLACES // 2, 200))
        beta = Fraction(1, 10)
        exact = max(math.exp(-0.1 * k) * ordered.span(x, 100, 101, k) for k in range(400))
        assert float(smooth_bound(x, 100, 101, beta)) == pytest.approx(exact, rel=1e-4)
        assert smooth_bound(x, 100, 101, beta) >= exact * (1 - 1e-9)

    def test_an_enormous_beta_gives_the_local_sensitivity_or_the_floor(self):
        assert (
            smooth_bound(np.array([0, 5, 10]), 1, 2, Fraction(100)) == PLACES
        )  # no weight but 1 fits: the whole range


class TestPrice:
    """P[loss > ε] ≤ δ for every pair of neighbouring scales and centres that the theorem allows."""

    @pytest.mark.untraced
    @pytest.mark.parametrize(("epsilon", "delta"), [(1, 1e-6), (0.1, 1e-3), (4, 1e-9), (8, 0.4)])
    def test_exact_law(self, epsilon, delta):
        epsilon, delta = Fraction(epsilon), Fraction(str(delta))
        beta, alpha = smoothness(epsilon, delta), epsilon / 2
        for small in (256 / alpha, 1000 / alpha):
            for ratio, (first, second) in itertools.product((1, math.exp(beta)), ((0, 1), (1, 0))):
                scales = [float(small), float(small) * ratio]
                s, t = scales[first], scales[second]
                gap = math.floor(alpha * Fraction(min(s, t)))
                x = np.arange(-int(45 * s), int(45 * s))
                p, q = (log_law(c, u, x) for c, u in ((0, s), (gap, t)))
                delta_exact = np.exp(p)[p - q > float(epsilon) + 1e-9].sum()
                assert delta_exact <= float(delta)
                assert np.maximum(np.exp(p) - np.exp(float(epsilon) + q), 0).sum() <= float(delta)

    def test_beta_is_close_to_the_published_one(self):
        """ε/(2 ln(2/δ)) of Nissim, Raskhodnikova, Smith: ours is at least as large, by the sharper tail."""
        assert float(smoothness(Fraction(1), Fraction(1, 10**6))) >= 1 / (2 * math.log(2e6))
        assert smoothness(Fraction(1), Fraction(1, 10**400)) > 0

    def test_events(self):
        for made in (
            SmoothQuantile.spending(ApproxDP(1, 1e-6), low=0, high=1),
            SmoothTrimmedMean.spending(ApproxDP(1, 1e-6), low=0, high=1, trim=0.1),
        ):
            assert made.event == Promise(ApproxDP(1, 1e-6), neighbours="replace")


def log_law(centre, scale, x):
    return np.log(np.tanh(1 / (2 * scale))) - np.abs(x - centre) / scale


class TestRelease:
    """The statistic plus exact noise of scale 2S/ε, on a lattice that depends on the public bounds only."""

    VALUES = np.linspace(40, 60, 301)

    def test_quantile(self):
        made = SmoothQuantile(1, 1e-6, 0, 100, quantile=0.25)
        x = made.range.sorted(self.VALUES)
        scale = 2 * smooth_bound(x, 75, 76, smoothness(Fraction(1), Fraction(1, 10**6)))
        place = int(x[75]) + laplace(scale, bits=HashedBits(b"x"))
        assert made.release(self.VALUES, bits=HashedBits(b"x")) == made.range.value(
            min(max(place, 0), PLACES)
        )

    def test_trimmed_mean(self):
        made = SmoothTrimmedMean(1, 1e-6, 0, 100, trim=0.25)
        x = made.range.sorted(self.VALUES)
        scale = 2 * smooth_bound(x, 75, 226, smoothness(Fraction(1), Fraction(1, 10**6)))
        total = int(x[75:226].sum()) + laplace(scale, bits=HashedBits(b"x"))
        assert made.release(self.VALUES, bits=HashedBits(b"x")) == made.range.value(
            Fraction(total, 151)
        )

    @pytest.mark.parametrize(
        "values", [[50.0] * 301, [0.0] * 150 + [100.0] * 151], ids=["tight", "split"]
    )
    def test_every_answer_lies_on_the_public_lattice(self, values):
        made = SmoothQuantile(1, 1e-6, 0, 128)
        for _ in range(20):
            answer = made.release(values)
            assert 0 <= answer <= 128
            assert (Fraction(answer) * PLACES / 128).denominator == 1

    def test_tight_data_get_little_noise_and_split_data_much(self):
        made = SmoothQuantile(1, 1e-6, 0, 100)
        tight, split = made.error_on([50.0] * 1001), made.error_on([0.0] * 500 + [100.0] * 501)
        assert tight < 0.1
        assert split > 100

    def test_beats_global_sensitivity(self):
        """For 1001 values about 50 the noise is far below the 600 of Laplace noise with Δ = 100 at ε = ½."""
        made = SmoothQuantile(1, 1e-6, 0, 100)
        assert made.error_on(np.linspace(40, 60, 1001)) < 6

    @pytest.mark.statistical
    def test_error_covers(self):
        """10^6 draws of a median's noise: beyond the bound in 10 %; false alarm ≤ 1e-9 (Hoeffding, ±0.0033)."""
        made = SmoothQuantile(2, 1e-3, 0, 100)
        values = np.linspace(45, 55, 301)
        scale = smooth_bound(
            made.range.sorted(values), 150, 151, smoothness(Fraction(2), Fraction(1, 1000))
        )
        noise = np.abs(laplace(scale, 10**6)) * (100 / PLACES)
        assert 0.1 - 0.0034 <= (noise > made.error_on(values, 0.1)).mean() <= 0.1 + 0.0034

    def test_trimmed_error(self):
        made = SmoothTrimmedMean(1, 1e-6, 0, 100, trim=0.1)
        assert 0 < made.error_on(self.VALUES) < 10


def test_bad_input_is_refused_and_nothing_is_drawn():
    for made in (SmoothQuantile(1, 1e-6, 0, 1), SmoothTrimmedMean(1, 1e-6, 0, 1, trim=0)):
        for values in ([], [math.nan], ["a"]):
            with pytest.raises(InvalidArgument):
                made.release(values, bits=UntouchedBits())
    for bad in (
        lambda: SmoothQuantile(0, 1e-6, 0, 1),
        lambda: SmoothQuantile(Fraction(1, 10**6), 1e-6, 0, 1),
        lambda: SmoothQuantile(1, 0, 0, 1),
        lambda: SmoothQuantile(1, 1, 0, 1),
        lambda: SmoothQuantile(1, 1e-6, 1, 0),
        lambda: SmoothQuantile(1, 1e-6, 0, 1, quantile=2),
        lambda: SmoothQuantile.spending(PureDP(1), low=0, high=1),
        lambda: SmoothTrimmedMean(1, 1e-6, 0, 1, trim=0.5),
    ):
        with pytest.raises(InvalidArgument):
            bad()


@pytest.mark.untraced
def test_weights_fall_slowly_enough():
    for beta in (Fraction(1, 1000), Fraction(1, 30), Fraction(3)):
        weights = smooth._weights(beta)
        with mp.workdps(40):
            decay = mp.e ** -(mp.mpf(beta.numerator) / beta.denominator)
            assert all(b >= a * decay for a, b in itertools.pairwise(weights))
        assert weights[-1] >= 64
