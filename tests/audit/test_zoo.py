"""The zoo: every broken mechanism is refuted, no sound one is; and the losses that the literature states."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from discreet.audit import audit, exact, verify
from discreet.errors import ClaimRefuted
from discreet.privacy.measures import PureDP
from discreet.testing.zoo import BROKEN, SOUND, find
from discreet.testing.zoo.noise import geometric, polar
from support.profile import DEEP

VECTORS = {
    v["id"]: v
    for v in json.loads(
        (Path(__file__).parents[1] / "vectors" / "vectors.json").read_text(encoding="utf-8")
    )["vectors"]
}
NAMED = {
    "textbook_laplace",
    "polar_gaussian",
    "sparse_vector_3",
    "sparse_vector_4",
    "sparse_vector_5",
    "sparse_vector_6",
    "half_noisy_max",
    "classic_gaussian",
    "parallel_under_replace",
    "clipped_to_true_n",
    "nan_pass_through",
    "integer_wrap",
    "forked_generator",
    "off_by_one_threshold",
    "data_dependent_bounds",
}


def look(specimen, **how):
    return audit(
        specimen.run,
        specimen.claim,
        specimen.inputs,
        samples=specimen.samples,
        neighbours=specimen.neighbours,
        assume=specimen.assume,
        **how,
    )


def test_the_inventory():
    names = [s.name for s in BROKEN + SOUND]
    assert len(set(names)) == len(names)
    assert {s.name for s in BROKEN} >= NAMED
    assert all(s.broken for s in BROKEN)
    assert not any(s.broken for s in SOUND)
    assert all(2 * s.samples <= 10**6 for s in BROKEN)
    assert all(s.why for s in BROKEN + SOUND)


@pytest.mark.statistical
@pytest.mark.parametrize("specimen", BROKEN, ids=lambda s: s.name)
def test_broken_ones_are_refuted(specimen):
    """Each is missed with probability below 1e-9: the margins are above eight standard errors."""
    report = look(specimen)
    assert report.refuted, report
    assert report.event


@pytest.mark.statistical
@pytest.mark.parametrize("specimen", SOUND, ids=lambda s: s.name)
def test_sound_ones_are_not(specimen):
    """False-alarm rate: 1e-11 for each of the audits, 1e-9 in all."""
    for _ in range(2 if DEEP else 1):
        report = look(specimen, confidence=1 - 1e-11)
        assert report.verdict == "not refuted", report


def test_verify_raises_for_one():
    specimen = find("integer_wrap")
    with pytest.raises(ClaimRefuted, match="REFUTED"):
        verify(specimen.run, specimen.claim, specimen.inputs, samples=specimen.samples)


class TestLiterature:
    """The losses that the vectors state, by quadrature and closed forms."""

    def test_noisy_max(self):
        vector = VECTORS["NM-1"]
        scale, value = float(vector["inputs"]["scale"]), float(vector["value"])
        gap = 1 / scale
        assert 1 - (2 + gap) * math.exp(-gap) / 4 == pytest.approx(value, rel=1e-12)
        first, second = [value, 1 - value], [1 - value, value]
        assert not exact(first, second, PureDP(2 / scale)).refuted

    def test_half_the_noise(self):
        """P[choose the first] = (2 + g) e^−g/4 behind by g: at g = 3 and 1 the ratio is e^1.49."""
        behind = {g: (2 + g) * math.exp(-g) / 4 for g in (3, 1)}
        seen = exact([behind[3], 1 - behind[3]], [behind[1], 1 - behind[1]], PureDP(1))
        assert seen.epsilon == pytest.approx(math.log((3 * math.exp(-1)) / (5 * math.exp(-3))))
        assert seen.refuted

    def test_sparse_vector_4(self):
        """Lee and Clifton: many negative answers, then c positive ones, all moved: (1 + 6c) ε/4."""
        vector = VECTORS["SVT4-1"]
        epsilon, c = float(vector["inputs"]["epsilon"]), vector["inputs"]["c"]
        z = np.linspace(0.0, 60.0, 600_001)

        def log_density(shift):
            """Above 0 all the logarithms are straight lines; the many negative answers leave no mass below it."""
            threshold = -(epsilon / 4) * (z + shift)
            positive = -c * (3 * epsilon / 4) * (z + 2 * shift)
            return threshold + positive

        loss = np.log(
            np.trapezoid(np.exp(log_density(0.0)), z) / np.trapezoid(np.exp(log_density(1.0)), z)
        )
        assert loss == pytest.approx(float(vector["value"]), rel=1e-9)

    def test_sparse_vector_3(self):
        """Roth's notes: m negative answers and a released answer of 0 force the threshold below 0: m ε/2."""
        vector = VECTORS["SVT3-1"]
        epsilon, m = float(vector["inputs"]["epsilon"]), vector["inputs"]["m"]
        z = np.linspace(-40.0, 0.0, 400_001)

        def below(shift):
            threshold = np.exp(epsilon * z / 2) * epsilon / 4
            return np.trapezoid(threshold * (np.exp(epsilon * (z - shift) / 2) / 2) ** m, z)

        assert np.log(below(0.0) / below(1.0)) == pytest.approx(float(vector["value"]), rel=1e-9)


@pytest.mark.statistical
def test_the_noise_of_the_zoo():
    """Moments within eight standard errors: false-alarm rate below 1e-14."""
    whole = geometric(2.0, 100_000)
    a = math.exp(-0.5)
    variance = 2 * a / (1 - a) ** 2
    assert abs(whole.mean()) < 8 * math.sqrt(variance / 100_000)
    pairs = polar(1.0, 100_000)
    assert abs(np.mean(pairs**2) - 1) < 8 * math.sqrt(2 / 200_000)
