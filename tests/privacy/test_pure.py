import math
from fractions import Fraction

import pytest
from mpmath import mp, mpf

from discreet.privacy.compose import compose
from discreet.privacy.events import (
    BinomialNoise,
    DiscreteLaplaceNoise,
    ExponentialSelection,
    GaussianNoise,
    KeySelection,
    LaplaceNoise,
    OwnCurve,
    Parallel,
    PermuteAndFlipSelection,
    Promise,
    Response,
    Sampled,
    SparseVector,
    TruncatedGeometricNoise,
)
from discreet.privacy.measures import ZCDP, ApproxDP, GaussianDP, PureDP, RenyiDP
from discreet.privacy.pricing.pure import (
    amplified,
    price_pure,
    pure_promise,
)

HALF = Fraction(1, 2)


@pytest.mark.parametrize(
    ("event", "price"),
    [
        (LaplaceNoise(2, 1), HALF),
        (LaplaceNoise(2, 1, "1/1024"), HALF),
        (DiscreteLaplaceNoise(4, 2), HALF),
        (TruncatedGeometricNoise(4, 9, 0, 2), HALF),
        (TruncatedGeometricNoise(4, 2, 0, 9), HALF),
        (ExponentialSelection("0.5"), HALF),
        (PermuteAndFlipSelection("0.5"), HALF),
        (Response("0.5", 7), HALF),
        (SparseVector("0.5", 3), HALF),
        (Promise(PureDP("0.5")), HALF),
        (Promise(ApproxDP("0.5", 0)), HALF),
        (OwnCurve([("0.1", "0.01"), ("0.5", 0), (1, 0)]), HALF),
        (Parallel([LaplaceNoise(2, 1), LaplaceNoise(4, 1)]), HALF),
        (Parallel([LaplaceNoise(4, 1), LaplaceNoise(8, 1)], neighbours="replace"), HALF),
        (GaussianNoise.of(1, 1), None),
        (BinomialNoise(9, 1), None),
        (OwnCurve([("0.5", "0.01")]), None),
        (KeySelection(LaplaceNoise(2, 1), "1e-9"), None),
        (Sampled(GaussianNoise.of(1, 1), "0.5"), None),
        (Parallel([LaplaceNoise(2, 1), GaussianNoise.of(1, 1)]), None),
    ],
)
def test_prices_are_exact(event, price):
    assert price_pure(event) == price


@pytest.mark.parametrize(
    ("measure", "price"),
    [
        (PureDP(2), 2),
        (ApproxDP(2, 0), 2),
        (ApproxDP(2, "0.1"), None),
        (ZCDP(0), 0),
        (ZCDP(1), None),
        (GaussianDP(0), 0),
        (GaussianDP(1), None),
        (RenyiDP({2: 0}), 0),
        (RenyiDP({2: 1}), None),
    ],
)
def test_promises(measure, price):
    assert pure_promise(measure) == price


@pytest.mark.parametrize("e", ["0.001", "1", "30", "699", "701", "5000"])
@pytest.mark.parametrize("q", ["1e-9", "0.01", "0.7", "1"])
def test_sampling_amplifies_and_rounds_up(e, q):
    price = amplified(Fraction(e), Fraction(q))
    with mp.workdps(60):
        exact = mp.log(1 + mpf(q) * (mp.exp(mpf(e)) - 1))
        assert mpf(price.numerator) / price.denominator >= exact * (1 - mpf(10) ** -50)
    assert price <= Fraction(e)
    assert float(price) == pytest.approx(float(exact), rel=1e-11)
    assert price_pure(Sampled(Promise(PureDP(e)), q)) == price


@pytest.mark.parametrize("e", [0.0, 0.4, 0.999, 1.0, 2.0])
def test_curves_are_hockey_sticks(e):
    grown, top = math.exp(e), math.exp(1.0)
    p, q = top / (1 + top), 1 / (1 + top)
    exact = max(0.0, p - grown * q) + max(0.0, q - grown * p)
    assert compose(Promise(PureDP(1))).delta(e) == pytest.approx(exact, rel=1e-9, abs=1e-15)
    # Laplace: the likelihood ratio of [0, x] is above e^ε on (−∞, z], z where p = e^ε q, clipped to [0, 1]
    z = min(1.0, max(0.0, (1 - e) / 2))
    below, shifted = 1 - math.exp(-z) / 2, math.exp(z - 1) / 2
    exact = 0.0 if e >= 1 else below - grown * shifted
    assert compose(LaplaceNoise(1, 1)).delta(e) == pytest.approx(exact, rel=1e-9, abs=1e-15)


@pytest.mark.parametrize(
    "rate", [Fraction(1), Fraction(1, 10), Fraction(1, 10**300), Fraction(1, 10**400)]
)
@pytest.mark.parametrize("e", [700, 1000, 5000])
def test_amplified_at_any_rate(e, rate):
    with mp.workdps(3000):
        truth = mp.log1p(mp.mpf(rate.numerator) / rate.denominator * mp.expm1(e))
        price = amplified(Fraction(e), rate)
        assert (
            truth
            <= mp.mpf(price.numerator) / price.denominator
            <= truth * (1 + mp.mpf("2e-12")) + mp.mpf("1e-323")
        )
