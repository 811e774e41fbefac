"""Known laws: the loss is computed, not estimated."""

import json
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from discreet.audit import exact
from discreet.errors import InvalidArgument
from discreet.privacy.measures import ZCDP, ApproxDP, GaussianDP, PureDP, RenyiDP

VECTORS = {
    v["id"]: v
    for v in json.loads(
        (Path(__file__).parents[1] / "vectors" / "vectors.json").read_text(encoding="utf-8")
    )["vectors"]
}
THREE = {"yes": Fraction(3, 4), "no": Fraction(1, 4)}
ONE = {"yes": Fraction(1, 4), "no": Fraction(3, 4)}


def geometric(epsilon, centre, reach=120):
    a = math.exp(-epsilon)
    return {k: (1 - a) / (1 + a) * a ** abs(k - centre) for k in range(-reach, reach + 1)}


def test_randomized_response():
    seen = exact(THREE, ONE, PureDP(1))
    assert seen.epsilon == pytest.approx(math.log(3))
    assert seen.delta == pytest.approx(0.75 - math.e / 4)
    assert seen.refuted
    assert seen.outcome in {"yes", "no"}
    assert not exact(THREE, ONE, PureDP("1.0986122886682")).refuted


def test_geometric_noise_is_tight():
    seen = exact(geometric(0.5, 0), geometric(0.5, 1), PureDP(0.5))
    assert not seen.refuted
    assert seen.missing < 1e-6
    assert exact(geometric(0.5, 0), geometric(0.5, 2), PureDP(0.5)).refuted


def test_approximate_on_one_piece():
    seen = exact([0.7, 0.3, 0.0], [0.3, 0.65, 0.05], ApproxDP(0.5, 0.05))
    brute = max(
        max(0, 0.7 - math.exp(0.5) * 0.3) + max(0, 0.3 - math.exp(0.5) * 0.65),
        max(0, 0.65 - math.exp(0.5) * 0.3) + 0.05,
    )
    assert seen.delta == pytest.approx(brute)
    assert seen.refuted
    pieces = [(0.7, 0.3), (0.65, 0.3)]
    needed = max(math.log((0.7 - 0.05) / 0.3), math.log((0.05 + 0.65 - 0.05) / 0.3))
    assert len(pieces) == 2
    assert seen.epsilon == pytest.approx(needed)


def test_an_impossible_outcome_is_infinite():
    seen = exact([1.0, 0.0], [0.5, 0.5], PureDP(10))
    assert seen.epsilon == math.inf
    assert seen.refuted
    assert exact([1.0, 0.0], [0.5, 0.5], ZCDP(10)).refuted
    assert exact([1.0, 0.0], [0.5, 0.5], GaussianDP(10)).refuted
    assert not exact([1.0, 0.0], [1.0, 0.0], GaussianDP(0)).refuted


def test_renyi_vector():
    p = math.e / (1 + math.e)
    order, value = 2, float(VECTORS["RRR-1"]["value"])
    assert exact([p, 1 - p], [1 - p, p], RenyiDP({order: value})).own == pytest.approx(
        1.0, rel=1e-12
    )
    assert exact([p, 1 - p], [1 - p, p], RenyiDP({order: value * 0.99})).refuted
    assert not exact([p, 1 - p], [1 - p, p], ZCDP(0.5)).refuted
    assert exact([p, 1 - p], [1 - p, p], ZCDP(0.4)).refuted


def test_a_fine_gaussian_has_its_own_mu():
    from scipy.special import ndtr

    edges = np.linspace(-9, 10, 3001)
    laws = [np.diff(ndtr(edges - shift)) for shift in (0.0, 1.0)]
    seen = exact(laws[0], laws[1], GaussianDP(1), delta=1e-3)
    assert seen.own == pytest.approx(1.0, abs=1e-4)
    assert not seen.refuted
    assert exact(laws[0], laws[1], GaussianDP(0.99)).refuted
    assert seen.epsilon == pytest.approx(4.0, abs=2)


def test_a_cut_tail_is_not_an_impossible_outcome():
    law = geometric(1.0, 0, reach=20)
    seen = exact(law, {k + 1: p for k, p in law.items()}, PureDP(1))
    assert not seen.refuted
    assert seen.epsilon == pytest.approx(1.0, abs=1e-6)


def test_missing_mass_is_given_to_the_accused():
    p = [0.5, 0.5 - 5e-7]
    assert exact(p, [0.5, 0.5], PureDP(0)).epsilon < 1e-6


def test_no_delta_at_all():
    assert exact([1.0, 0.0], [0.5, 0.5], ZCDP(1), delta=0.0).delta == 0.5
    assert exact([0.6, 0.4], [0.5, 0.5], ZCDP(1), delta=0.0).delta == 0


@pytest.mark.parametrize("bad", [[0.5, 0.4], [1.5, -0.5], "ab", 3])
def test_refuses(bad):
    with pytest.raises(InvalidArgument):
        exact(bad, [0.5, 0.5], PureDP(1))
