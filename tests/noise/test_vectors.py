"""The published vectors GE-*, DG-*, EM-1 and PF-1, from the bounds the samplers decide by."""

import json
from fractions import Fraction
from itertools import combinations
from pathlib import Path

import pytest

from discreet.noise.gaussian import GaussianLaw
from discreet.noise.laplace import LaplaceLaw
from discreet.noise.law import thresholds
from discreet.noise.score_gaps import scores_of

VECTORS = {
    one["id"]: one
    for one in json.loads((Path(__file__).parents[1] / "vectors/vectors.json").read_text())[
        "vectors"
    ]
}
P = 160


def pmf(law, count=400):
    """Probabilities in the order 0, −1, 1 …, from the thresholds' lower bounds (off by less than 2^-150)."""
    ends = [
        Fraction(low, 2**P) for (low, _), _ in zip(thresholds(law, P), range(count), strict=False)
    ]
    return [b - a for a, b in zip([0, *ends], ends, strict=False)]


def close(found, vector):
    return abs(Fraction(found) / Fraction(vector) - 1) <= Fraction(1, 10**12)


def test_ge_1_and_3():
    law = pmf(LaplaceLaw(Fraction(2), 0))
    assert close(law[0], VECTORS["GE-1"]["value"])
    assert close(
        law[0] + sum(law[1::2]), VECTORS["GE-3"]["value"]
    )  # 0 and all below it, clamped to 0


def test_dg_1():
    law = pmf(GaussianLaw(Fraction(1), 0))
    assert close(law[0], VECTORS["DG-1a"]["value"])
    variance = sum(((j + 1) // 2) ** 2 * p for j, p in enumerate(law))
    assert close(variance, VECTORS["DG-1b"]["value"])


def chances(vector):
    inputs = vector["inputs"]
    scores = scores_of(inputs["scores"], Fraction(inputs["epsilon"]) / (2 * inputs["sensitivity"]))
    return [Fraction(scores.bounds(index, P)[0], 2**P) for index in range(len(inputs["scores"]))]


def test_em_1():
    weights = chances(VECTORS["EM-1"])
    for weight, value in zip(weights, VECTORS["EM-1"]["value"], strict=True):
        assert close(weight / sum(weights), value)


def test_pf_1():
    """A uniform draw among all heads is permute-and-flip."""
    coins = chances(VECTORS["PF-1"])
    everyone = range(len(coins))
    found = [Fraction(0)] * len(coins)
    for size in everyone:
        for heads in combinations(everyone, size + 1):
            chance = Fraction(1)
            for index in everyone:
                chance *= coins[index] if index in heads else 1 - coins[index]
            for index in heads:
                found[index] += chance / len(heads)
    for one, value in zip(found, VECTORS["PF-1"]["value"], strict=True):
        assert close(one, value)


@pytest.mark.parametrize("name", ["GE-1", "GE-3", "DG-1a", "DG-1b", "EM-1", "PF-1"])
def test_vectors_are_here(name):
    assert name in VECTORS
