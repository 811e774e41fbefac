"""The project's own mechanisms under its own auditor (large n: `make audit`)."""

import math

import numpy as np
import pytest

from audit.own_mechanisms import CASES
from discreet.audit import audit, exact, replay
from discreet.mechanisms.additive.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.additive.discrete_laplace import Geometric
from discreet.mechanisms.additive.laplace import Laplace
from discreet.mechanisms.additive.truncated import TruncatedGeometric
from discreet.mechanisms.response.randomized import RandomizedResponse
from discreet.mechanisms.selection.exponential import Exponential
from discreet.mechanisms.selection.noisy_max import NoisyMax
from discreet.mechanisms.selection.permute_and_flip import PermuteAndFlip
from discreet.mechanisms.sensitivity import histogram
from discreet.privacy.measures import ZCDP, PureDP
from support.profile import draws


@pytest.mark.statistical
@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_not_refuted(case):
    """False-alarm rate: 1e-11 for each of the audits."""
    report = audit(
        case.run, case.claim, case.inputs, samples=draws(case.samples), confidence=1 - 1e-11
    )
    assert report.verdict == "not refuted", report


@pytest.mark.statistical
def test_the_auditor_would_see_less_noise():
    """Half the noise of Laplace is caught; missed with probability below 1e-9."""
    half = Laplace(scale="1/2", sensitivity=1)
    report = audit(
        lambda x, size: half.release(np.full(size, x)), PureDP(1), inputs=(0.0, 1.0), samples=20_000
    )
    assert report.refuted


class TestExactLaws:
    """The stated laws keep the stated promises, exactly."""

    def test_geometric(self):
        mechanism = Geometric.spending(PureDP(0.5), sensitivity=1)
        reach = np.arange(-150, 152)
        first, second = (
            dict(zip(reach, mechanism.pmf(reach, value), strict=True)) for value in (0, 1)
        )
        seen = exact(first, second, PureDP(0.5))
        assert not seen.refuted
        assert seen.epsilon == pytest.approx(0.5, rel=1e-6)

    def test_truncated(self):
        mechanism = TruncatedGeometric.spending(PureDP(0.5), sensitivity=1, low=0, high=10)
        laws = [{k: mechanism.pmf(k, value=v) for k in range(11)} for v in (3, 4)]
        seen = exact(*laws, PureDP(0.5))
        assert not seen.refuted
        assert seen.epsilon == pytest.approx(0.5)

    def test_discrete_gaussian(self):
        mechanism = DiscreteGaussian.spending(ZCDP(0.5), sensitivity=1)
        law = {k: float(mechanism.pmf(k)) for k in range(-25, 26)}
        seen = exact(law, {k + 1: p for k, p in law.items()}, ZCDP(0.5))
        assert not seen.refuted
        assert seen.own == pytest.approx(0.5, rel=1e-2)


class TestExactChoices:
    """A choice among few has a law that can be written down: on all small neighbours it keeps ε, exactly."""

    STEPS = [[a, b, c] for a in (-1, 0, 1) for b in (-1, 0, 1) for c in (-1, 0, 1)]

    @pytest.mark.parametrize(
        "kind", [Exponential, PermuteAndFlip, NoisyMax], ids=lambda k: k.__name__
    )
    def test_selections(self, kind):
        mechanism = kind.spending(PureDP(1), sensitivity=1)
        worst = 0.0
        for start in ([0, 0, 0], [0, 3, 3], [2, 0, 5], [0, 0, 9]):
            law = mechanism.probabilities(start)
            for step in self.STEPS:
                seen = exact(law, mechanism.probabilities(np.add(start, step).tolist()), PureDP(1))
                assert not seen.refuted, (start, step)
                worst = max(worst, seen.epsilon)
        assert worst > 0.7

    @pytest.mark.parametrize("options", [2, 3, 10])
    def test_randomized_response(self, options):
        mechanism = RandomizedResponse.spending(PureDP(1), options=options)
        laws = [
            [float(mechanism.p if i == told else mechanism.q) for i in range(options)]
            for told in range(2)
        ]
        seen = exact(*laws, PureDP(1))
        assert not seen.refuted
        assert seen.epsilon == pytest.approx(1, rel=1e-6)


class TestReplay:
    """A program on real mechanisms: the histogram's sensitivity depends on the relation."""

    def program(self, relation):
        mechanism = Geometric.spending(PureDP(1), sensitivity=histogram(relation))

        def run(data, recorder):
            counts = np.array([data.count("a"), data.count("b")])
            return recorder.release(mechanism, counts).tolist()

        return run

    def test_add_remove(self):
        seen = replay(self.program("add-remove"), (["a"], ["a", "b"]), neighbours="add-remove")
        assert not seen.refuted

    def test_replace_with_the_wrong_relation(self):
        assert replay(self.program("add-remove"), (["a"], ["b"]), neighbours="replace").refuted
        assert not replay(self.program("replace"), (["a"], ["b"]), neighbours="replace").refuted

    def test_the_tape_holds_the_noise(self):
        noisy = replay(
            lambda d, r: r.release(Laplace(scale=1000, sensitivity=1), len(d)), ([1], [1, 2])
        )
        assert not noisy.refuted
        assert math.isclose(noisy.moves[0].moved, 1)
