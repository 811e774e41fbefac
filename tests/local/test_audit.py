"""The auditor knows nothing of the family: it passes ours and refutes broken twins."""

import math
from fractions import Fraction

import numpy as np
import pytest

from discreet.audit import verify
from discreet.errors import ClaimRefuted
from discreet.local import Choice, Histogram, Number
from discreet.local.family import extra_option
from discreet.privacy.measures import PureDP

SAMPLES = 40_000
SURE = 1 - 1e-9


def runs(mechanism, key=lambda r: r):
    return lambda x, size: key(np.asarray(mechanism.randomize(np.full(size, x))))


def numbered(rows):
    return rows.astype(np.int64) @ (256 ** np.arange(rows.shape[1]))


@pytest.mark.statistical
@pytest.mark.parametrize("member", ["direct", "subset", "hadamard", "geometry"])
def test_every_member_passes(member):
    """A false alarm has a chance of at most 1e-9."""
    choice = Choice(6, PureDP(1), member=member)
    key = numbered if member == "subset" else lambda r: r
    report = verify(runs(choice, key), PureDP(1), (0, 3), samples=SAMPLES, confidence=SURE)
    assert report.verdict == "not refuted"


@pytest.mark.statistical
@pytest.mark.parametrize("option", [0, 3])
def test_a_set_apart_passes(option):
    """Whoever holds none of the candidates is the dearest neighbour. A false alarm has a chance of at most 1e-9."""
    family = extra_option(8, Fraction(1), 2)
    report = verify(
        lambda x, size: family.draw(np.full(size, x)),
        PureDP(1),
        (option, 7),
        samples=SAMPLES,
        confidence=SURE,
    )
    assert report.verdict == "not refuted"


@pytest.mark.statistical
@pytest.mark.parametrize(("kind", "ends"), [(Number, (0, 1)), (Histogram, (0, 1, 8))])
def test_numbers_pass(kind, ends):
    """A false alarm has a chance of at most 1e-9."""
    report = verify(
        runs(kind(*ends, PureDP(1))), PureDP(1), (0, 1), samples=SAMPLES, confidence=SURE
    )
    assert report.verdict == "not refuted"


@pytest.mark.statistical
def test_a_wrong_epsilon_is_refuted():
    """The twin spends ε = 1.3 where 1 is claimed; it stays undetected with a chance far below 1e-9."""
    twin = Choice(6, PureDP("1.3"), member="geometry")
    with pytest.raises(ClaimRefuted):
        verify(runs(twin), PureDP(1), (0, 3), samples=SAMPLES, confidence=SURE)


@pytest.mark.statistical
def test_a_float_coin_is_refuted():
    """A coin read off a coarse float (4 bits, as half-precision code on a device may have) never misses its option."""
    choice = Choice(4, PureDP(4), member="direct")
    rng = np.random.default_rng(1)

    def coarse(x, size):
        kept = np.ceil(rng.random(size) * 16) / 16 <= math.ceil(choice.law.p * 16) / 16
        return np.where(kept, x, (x + rng.integers(1, 4, size)) % 4)

    with pytest.raises(ClaimRefuted):
        verify(coarse, PureDP(4), (0, 3), samples=SAMPLES, confidence=SURE)
    report = verify(runs(choice), PureDP(4), (0, 3), samples=SAMPLES, confidence=SURE)
    assert report.verdict == "not refuted"
