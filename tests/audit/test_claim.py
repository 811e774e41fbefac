"""What a claim says in (ε, δ), against the vectors of the accountant, which were computed by others."""

import json
import math
from pathlib import Path

import pytest

from discreet.audit.evidence.claim import (
    bisect,
    claimed_epsilon,
    gaussian_delta,
    gaussian_epsilon,
    read_claim,
)
from discreet.errors import InvalidArgument
from discreet.privacy.measures import ZCDP, ApproxDP, GaussianDP, RenyiDP

VECTORS = {
    v["id"]: v
    for v in json.loads(
        (Path(__file__).parents[1] / "vectors" / "vectors.json").read_text(encoding="utf-8")
    )["vectors"]
}


@pytest.mark.parametrize("name", ["GD-1", "GD-2", "GD-4"])
def test_gaussian_delta_vectors(name):
    inputs = VECTORS[name]["inputs"]
    found = gaussian_delta(1 / float(inputs["sigma"]), float(inputs["epsilon"]))
    assert found == pytest.approx(float(VECTORS[name]["value"]), rel=1e-12)


@pytest.mark.parametrize("name", ["AG-1", "AG-4", "AG-6"])
def test_gaussian_epsilon_inverts_the_analytic_sigma(name):
    inputs, sigma = VECTORS[name]["inputs"], float(VECTORS[name]["value"])
    assert gaussian_epsilon(1 / sigma, float(inputs["delta"])) == pytest.approx(
        float(inputs["epsilon"]), rel=1e-9
    )


@pytest.mark.parametrize("name", ["ZC-1b", "ZC-3b"])
def test_zcdp_vectors(name):
    inputs = VECTORS[name]["inputs"]
    found = claimed_epsilon(ZCDP(inputs["rho"]), float(inputs["delta"]))
    assert found == pytest.approx(float(VECTORS[name]["value"]), rel=1e-12)


def test_renyi_orders_are_a_weaker_zcdp():
    some = RenyiDP({2: 1, 4: 2, 6: 3})
    assert claimed_epsilon(some, 1e-6) >= claimed_epsilon(ZCDP(0.5), 1e-6)


def test_the_ends_of_the_curves():
    assert claimed_epsilon(ApproxDP(1, 1e-3), 1e-3) == 1
    assert claimed_epsilon(ApproxDP(1, 1e-3), 1e-4) == math.inf
    assert claimed_epsilon(ZCDP(1), 0) == math.inf
    assert claimed_epsilon(ZCDP(0), 0) == 0
    assert claimed_epsilon(GaussianDP(1), 0) == math.inf
    assert claimed_epsilon(GaussianDP(0), 0) == 0
    assert gaussian_epsilon(1, 0.9) == 0
    assert gaussian_delta(0, 1) == 0


def test_bisect_gives_the_end_that_fails():
    assert not bisect(lambda x: x < 1, 0, 3) < 1


def test_refuses_what_is_no_measure():
    with pytest.raises(InvalidArgument, match="a claim is a measure"):
        read_claim("1")
