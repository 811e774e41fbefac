import math

import numpy as np
import pytest
from mpmath import mp, mpf

from discreet.privacy.pricing.divergence import (
    discrete_gaussian_renyi,
    laplace_renyi,
    range_renyi,
    response_renyi,
    sampled_gaussian_renyi,
)
from oracles.prices import (
    discrete_gaussian_atoms,
    lattice_laplace,
    renyi_of_atoms,
    response_atoms,
)
from oracles.prices import laplace_renyi as exact_laplace
from oracles.prices import (
    sampled_gaussian_renyi as exact_sampled,
)

ORDERS = np.array([1.001, 1.5, 2.0, 7.3, 60.0])


def close(values, exact, tolerance):
    for value, truth in zip(values, exact, strict=True):
        assert abs(float(value) / truth - 1) < tolerance


@pytest.mark.parametrize("ratio", [1e-7, 1e-3, 0.1, 1.0, 6.0, 50.0])
def test_laplace(ratio):
    close(laplace_renyi(ratio, 0, ORDERS), [exact_laplace(ratio, a) for a in ORDERS], 2e-12)


@pytest.mark.untraced
@pytest.mark.parametrize("ratio", [1e-6, 0.1, 1.0, 8.0])
@pytest.mark.parametrize("steps", [1, 2, 3, 17, 400])
def test_laplace_on_a_lattice_is_exact(ratio, steps):
    p, q = lattice_laplace(ratio, steps)
    close(laplace_renyi(ratio, steps, ORDERS), [renyi_of_atoms(p, q, a) for a in ORDERS], 2e-12)


def test_laplace_never_exceeds_its_pure_price():
    for ratio in (0.5, 5.0, 499.0, 501.0, 5000.0):
        for steps in (0, 1, 1000):
            assert (laplace_renyi(ratio, steps, np.array([1.5, 1e3, 1e6])) <= ratio).all()


@pytest.mark.parametrize("e", [1e-6, 0.1, 1.0, 5.0, 40.0])
@pytest.mark.parametrize("options", [2, 3, 50])
def test_response(e, options):
    p, q = response_atoms(e, options)
    close(response_renyi(e, options, ORDERS), [renyi_of_atoms(p, q, a) for a in ORDERS], 1e-12)


class TestBoundedRange:
    """The worst loss of range ε takes two values ε apart; over all such pairs the formula is the largest divergence."""

    @pytest.mark.untraced
    @pytest.mark.parametrize("e", [1e-3, 0.1, 1.0, 4.0, 20.0])
    @pytest.mark.parametrize("alpha", [1.01, 2.0, 9.0])
    def test_is_the_largest_over_two_point_losses(self, e, alpha):
        value = float(range_renyi(e, np.array([alpha]))[0])

        def found(t):
            heavy = (mp.exp(mpf(e)) - mp.exp(t * mpf(e))) / mp.expm1(mpf(e))
            moved = heavy * mp.exp(-t * mpf(e))
            return renyi_of_atoms([heavy, 1 - heavy], [moved, 1 - moved], alpha)

        places = np.linspace(1e-9, 1 - 1e-9, 41)
        at = int(np.argmax([found(mpf(t)) for t in places]))
        near = np.linspace(
            places[max(at - 1, 0)], places[min(at + 1, 40)], 41
        )  # the middle one is the best so far
        best = max(found(mpf(t)) for t in near)
        assert best * (1 - mpf(10) ** -9) <= value <= best * (1 + mpf("1e-4")) + mpf(10) ** -12

    def test_random_mechanisms_stay_below(self):
        rng = np.random.default_rng(7)
        for _ in range(400):
            e = rng.uniform(0.05, 5)
            scores = rng.normal(size=6) * 3
            moved = scores + rng.uniform(-e / 2, e / 2, size=6)
            p = np.exp(scores) / np.exp(scores).sum()
            q = np.exp(moved) / np.exp(moved).sum()
            for a in (1.3, 2.0, 20.0):
                assert math.log(np.sum(p**a * q ** (1 - a))) / (a - 1) <= float(
                    range_renyi(e, np.array([a]))[0]
                )

    def test_never_above_an_eighth_of_the_square(self):
        for e in (1e-9, 1e-4, 0.3, 3.0, 300.0):
            assert (range_renyi(e, ORDERS) <= ORDERS * e * e / 8).all()


@pytest.mark.untraced
@pytest.mark.parametrize("variance", ["0.05", "0.3", "1", "3.9", "4.1"])
@pytest.mark.parametrize("shift", [1, 3])
def test_discrete_gaussian(variance, shift):
    p, q = discrete_gaussian_atoms(variance, shift)
    values = discrete_gaussian_renyi(float(variance), shift, ORDERS)
    for value, a in zip(values, ORDERS, strict=True):
        # the sum runs over a window; outside it the terms are far below 1e-12
        assert abs(value / renyi_of_atoms(p, q, a) - 1) < 1e-9 or shift * a > 60
    assert (values <= ORDERS * shift**2 / (2 * float(variance)) * (1 + 1e-15)).all()


class TestSampledGaussian:
    """Removing a unit: E[(1 − q + qe^L)^α]; adding one is never dearer."""

    @pytest.mark.parametrize("mu", [5.0, 30.0])
    @pytest.mark.parametrize("alpha", [1.01, 1.5, 7.3])
    def test_rates_near_the_end_of_the_floats(self, mu, alpha):
        """e^L leaves the floats where qe^L is small; the divergence grows with the rate."""
        rates = [5e-324, 1e-310, 1e-300, 1e-200, 1e-20]
        found = [float(sampled_gaussian_renyi(mu, rate, np.array([alpha]))[0]) for rate in rates]
        assert all(map(math.isfinite, found)) and found[0] >= 0
        assert found == sorted(found)

    @pytest.mark.grid
    @pytest.mark.untraced
    @pytest.mark.parametrize("mu", [0.05, 1.0, 2.5, 9.0])
    @pytest.mark.parametrize("rate", [1e-6, 0.01, 0.5, 0.99])
    @pytest.mark.parametrize("alpha", [1.0001, 1.05, 2.0, 2.5, 31.7])
    def test_against_sixty_digits(self, mu, rate, alpha):
        value = float(sampled_gaussian_renyi(mu, rate, np.array([alpha]))[0])
        exact = exact_sampled(mu, rate, alpha)
        assert exact * (1 - mpf(10) ** -13) <= value <= exact * (1 + mpf(10) ** -9)
        assert value >= exact_sampled(mu, rate, alpha, adds=True) * (1 - mpf(10) ** -9)

    @pytest.mark.parametrize("alpha", [64.5, 100.25])
    def test_large_fractional_orders_are_bounded_by_a_chord(self, alpha):
        low, mid, high = sampled_gaussian_renyi(
            1.0, 0.01, np.array([math.floor(alpha), alpha, math.ceil(alpha)])
        )
        assert low <= mid <= high
        assert mid >= float(exact_sampled(1.0, 0.01, alpha)) * (1 - 1e-9)

    def test_a_sample_of_everybody(self):
        assert sampled_gaussian_renyi(1.0, 1.0, np.array([3.0])).tolist() == [1.5]
        assert sampled_gaussian_renyi(1.0, 1.0, np.array([2.5]))[0] == pytest.approx(1.25, rel=1e-9)
