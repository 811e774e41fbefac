"""The accounting vectors: numbers of 20 digits by independent means, as equalities where exact, as brackets always."""

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from discreet.privacy import (
    ZCDP,
    ApproxDP,
    GaussianDP,
    GaussianNoise,
    LaplaceNoise,
    Parallel,
    Promise,
    PureDP,
    Repeated,
    Response,
    Sampled,
    compose,
    group_privacy,
    least_scale,
)
from discreet.privacy.amplify import amplify_delta
from discreet.privacy.events import DiscreteLaplaceNoise
from discreet.privacy.pricing.advanced import advanced_epsilon
from discreet.privacy.pricing.divergence import sampled_gaussian_renyi
from discreet.privacy.pricing.gaussian import delta as gaussian_delta
from discreet.privacy.pricing.moments import tail
from discreet.privacy.pricing.pure import price_pure

VECTORS = json.loads((Path(__file__).parent / "vectors.json").read_text(encoding="utf-8"))[
    "vectors"
]


def vectors(prefix):
    chosen = [v for v in VECTORS if v["id"].split("-")[0] == prefix]
    assert chosen
    return pytest.mark.parametrize("vector", chosen, ids=lambda v: v["id"])


def just_above(value, truth, tolerance=1e-12):
    """Never below the truth, and within the tolerance above it."""
    exact = Fraction(truth)
    assert exact <= Fraction(value) <= exact * (1 + Fraction(tolerance))


@vectors("AG")
def test_analytic_gaussian(vector):
    budget = ApproxDP(vector["inputs"]["epsilon"], vector["inputs"]["delta"])
    just_above(least_scale(lambda s: GaussianNoise.of(s, 1), budget, start=1), vector["value"])


@vectors("GD")
def test_gaussian_delta(vector):
    curve = compose(GaussianNoise.of(vector["inputs"]["sigma"], 1))
    just_above(curve.delta(vector["inputs"]["epsilon"]), vector["value"])
    assert Fraction(curve.lower.delta(vector["inputs"]["epsilon"])) <= Fraction(vector["value"])


@vectors("GC")
def test_many_gaussians(vector):
    given = vector["inputs"]
    curve = compose(Repeated(GaussianNoise.of(given["sigma"], 1), given["k"]))
    just_above(curve.epsilon(given["delta"]), vector["value"])
    assert Fraction(curve.lower.epsilon(given["delta"])) <= Fraction(vector["value"])
    numerical = next(row for row in curve.why(given["delta"]).rows if row.method == "numerical")
    just_above(numerical.epsilon, vector["value"], 1e-3)


@vectors("CG")
def test_classic_gaussian_misses_its_delta(vector):
    curve = compose(GaussianNoise.of(vector["inputs"]["sigma"], 1))
    # σ is given in 18 digits, and δ moves by a multiple of its last one
    assert curve.delta(vector["inputs"]["epsilon"]) == pytest.approx(
        float(vector["value"]), rel=2e-12
    )


@vectors("LD")
def test_laplace_delta(vector):
    curve = compose(LaplaceNoise(vector["inputs"]["scale"], vector["inputs"]["sensitivity"]))
    just_above(curve.delta(vector["inputs"]["epsilon"]), vector["value"], 2e-12)
    assert Fraction(curve.lower.delta(vector["inputs"]["epsilon"])) <= Fraction(vector["value"])


@vectors("LR")
def test_laplace_renyi(vector):
    just_above(
        compose(LaplaceNoise(vector["inputs"]["scale"], 1)).renyi(vector["inputs"]["alpha"]),
        vector["value"],
    )


@vectors("RRR")
def test_response_renyi(vector):
    just_above(
        compose(Response(vector["inputs"]["epsilon"])).renyi(vector["inputs"]["alpha"]),
        vector["value"],
    )
    promised = compose(Promise(PureDP(vector["inputs"]["epsilon"])))
    just_above(promised.renyi(vector["inputs"]["alpha"]), vector["value"])


@vectors("ZC")
def test_zcdp(vector):
    rho, delta = vector["inputs"]["rho"], vector["inputs"]["delta"]
    promise = ZCDP(rho).epsilon(delta)
    if vector["quantity"] == "zcdp_to_eps_cks":
        just_above(promise, vector["value"])
    elif vector["quantity"] == "gaussian_exact_eps_same_rho":
        just_above(GaussianDP.of_square(2 * Fraction(rho)).epsilon(delta), vector["value"])
    else:
        assert promise < float(vector["value"])


@vectors("SG")
def test_sampled_gaussian_delta(vector):
    given = vector["inputs"]
    direction = "remove" if vector["id"].endswith("r") else "add"
    sampled = amplify_delta(
        lambda e: gaussian_delta(1 / float(given["sigma"]), e), given["q"], direction
    )
    assert sampled(float(given["epsilon"])) == pytest.approx(float(vector["value"]), rel=1e-12)
    curve = compose(Sampled(GaussianNoise.of(given["sigma"], 1), given["q"]))
    assert curve.delta(given["epsilon"]) >= float(vector["value"])
    assert curve.delta(given["epsilon"]) == pytest.approx(7.2900376957612265485e-05, rel=2e-12)


@vectors("SR")
def test_sampled_gaussian_renyi(vector):
    given = vector["inputs"]
    event = Sampled(GaussianNoise.of(given["sigma"], 1), given["q"])
    just_above(compose(event).renyi(given["alpha"]), vector["value"])
    raw = sampled_gaussian_renyi(
        1 / float(given["sigma"]), float(given["q"]), np.array([float(given["alpha"])])
    )
    assert raw[0] == pytest.approx(float(vector["value"]), rel=1e-12)


@vectors("KO")
def test_optimal_composition(vector):
    given = vector["inputs"]
    for event in (Promise(PureDP(given["eps0"])), Response(given["eps0"])):
        curve = compose(Repeated(event, given["k"]))
        just_above(curve.delta(given["epsilon"]), vector["value"])
        assert Fraction(curve.lower.delta(given["epsilon"])) <= Fraction(vector["value"])


@vectors("AC")
def test_advanced_composition(vector):
    given = vector["inputs"]
    value = advanced_epsilon([(float(given["eps0"]), given["k"])], float(given["delta_prime"]))
    assert value == pytest.approx(float(vector["value"]), rel=1e-13)
    rows = (
        compose(Repeated(Promise(PureDP(given["eps0"])), given["k"])).why(given["delta_prime"]).rows
    )
    just_above(
        next(row.epsilon for row in rows if row.method == "advanced"), vector["value"], 2e-12
    )


@vectors("LC")
def test_two_laplaces(vector):
    given = vector["inputs"]
    curve = compose(Repeated(LaplaceNoise(given["scale"], 1), given["k"]))
    assert Fraction(curve.lower.delta(given["epsilon"])) <= Fraction(vector["value"])
    just_above(curve.delta(given["epsilon"]), vector["value"], 2e-3)


@vectors("GP")
def test_group_delta(vector):
    given = vector["inputs"]
    grown = group_privacy(ApproxDP(given["epsilon"], "1e-9"), given["K"])
    just_above(grown.delta * 10**9, vector["value"])


@vectors("GT")
def test_small_delta(vector):
    curve = compose(GaussianNoise.of(vector["inputs"]["sigma"], 1))
    just_above(curve.epsilon(vector["inputs"]["delta"]), vector["value"])


@vectors("PC")
def test_parallel_under_replace(vector):
    cell = DiscreteLaplaceNoise(1 / Fraction(vector["inputs"]["epsilon"]), 1)
    cells = [cell] * vector["inputs"]["cells"]
    assert price_pure(Parallel(cells, neighbours="replace")) == Fraction(vector["value"])
    assert price_pure(Parallel(cells)) == Fraction(vector["value"]) / 2


def test_the_tail_is_looser_than_the_curve():
    noise = GaussianNoise.of(1, 1)
    assert round(tail(noise, 1.0), 4) == 0.3085
    assert round(compose(noise).delta(1), 4) == 0.1269
