"""Numbers computed by independent means in 50 digits, against the mechanisms that print them."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path

import pytest

from discreet.mechanisms.additive.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.additive.discrete_laplace import Geometric, TruncatedGeometric
from discreet.mechanisms.additive.gaussian import Gaussian, classic_gaussian
from discreet.mechanisms.additive.laplace import Laplace
from discreet.mechanisms.bounds import exponential_utility, laplace_linf
from discreet.privacy.compose import compose
from discreet.privacy.measures import ApproxDP, PureDP

VECTORS = {
    v["id"]: v for v in json.loads((Path(__file__).parent / "vectors.json").read_text())["vectors"]
}


def value(name):
    return float(VECTORS[name]["value"])


def close(name, rel=1e-12):
    return pytest.approx(value(name), rel=rel, abs=0)


@pytest.mark.parametrize("name", [name for name in VECTORS if name.startswith("AG-")])
def test_analytic_gaussian(name):
    inputs = VECTORS[name]["inputs"]
    budget = ApproxDP(inputs["epsilon"], inputs["delta"])
    scale = Gaussian.spending(budget, sensitivity=inputs["l2_sensitivity"]).scale
    exact = Fraction(VECTORS[name]["value"])
    assert exact <= scale <= exact * (1 + Fraction(1, 10**12))


@pytest.mark.parametrize("name", [name for name in VECTORS if name.startswith("GD-")])
def test_gaussian_delta(name):
    inputs = VECTORS[name]["inputs"]
    made = Gaussian(inputs["sigma"], inputs["l2_sensitivity"])
    found = compose([made.event]).delta(epsilon=inputs["epsilon"])
    assert value(name) <= found <= value(name) * (1 + 1e-10)


def test_classic_gaussian_is_wasteful_at_one_and_broken_at_ten():
    classic = classic_gaussian(1, "1e-5", sensitivity=1)
    assert float(classic.scale) == pytest.approx(
        float(VECTORS["CG-1"]["inputs"]["sigma"]), rel=1e-11
    )
    assert compose([classic.event]).delta(epsilon=1) == close("CG-1", 1e-9)
    broken = Gaussian(VECTORS["CG-2"]["inputs"]["sigma"], sensitivity=1)
    assert compose([broken.event]).delta(epsilon=10) == close("CG-2", 1e-9)
    assert value("CG-2") > 2 * float(VECTORS["CG-2"]["inputs"]["claimed_delta"])


def test_laplace_delta():
    made = Laplace(1, sensitivity=1)
    found = compose([made.event]).delta(epsilon="0.5")
    assert value("LD-1") <= found <= value("LD-1") * (1 + 1e-10)


def test_geometric():
    assert Geometric.spending(PureDP("0.5"), sensitivity=1).pmf(0) == close("GE-1")


@pytest.mark.parametrize("high", [1, 2, 10, 1000])
def test_truncated_geometric(high):
    made = TruncatedGeometric.spending(PureDP("0.5"), sensitivity=1, low=0, high=high)
    assert made.pmf(0, value=0) == close("GE-3")


def test_discrete_gaussian():
    made = DiscreteGaussian(1, sensitivity=1)
    assert made.pmf(0) == close("DG-1a")
    assert made.variance == close("DG-1b")
    assert value("DG-1b") <= made.variance < 1


def test_printed_gaussian_bound():
    inputs = VECTORS["LI-1"]["inputs"]
    made = Gaussian(1, sensitivity=1)
    bound = math.sqrt(math.log(inputs["K"] / float(inputs["beta"])))
    assert 1 - (1 - 2 * made.cdf(-bound)) ** inputs["K"] == close("LI-1", 1e-9)
    assert made.error(inputs["beta"], cells=inputs["K"]) > bound


def test_four_nationalities():
    inputs = VECTORS["EX-1"]["inputs"]
    assert exponential_utility(inputs["outputs"], inputs["t"], inputs["epsilon"], 1) == close(
        "EX-1"
    )


def test_names():
    inputs = VECTORS["EX-2"]["inputs"]
    bound = laplace_linf(inputs["K"], inputs["beta"], epsilon=1, sensitivity=1)
    assert bound == close("EX-2")
    exact = Laplace.spending(PureDP(1), sensitivity=1).error(inputs["beta"], cells=inputs["K"])
    assert 0.99 * bound < exact < bound
