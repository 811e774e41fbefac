"""verify, audit and audit_all: verdicts, bounds, and what is refused rather than passed."""

import math
import pickle

import numpy as np
import pytest

from discreet.audit import Refuted, audit, audit_all, neighbours, verify
from discreet.errors import ClaimRefuted, InvalidArgument
from discreet.privacy.measures import ZCDP, ApproxDP, GaussianDP, PureDP, RenyiDP

SURE = 1 - 1e-11
"""Confidence of the tests on sound mechanisms: each false alarm has a probability of 1e-11 at most."""


def respond(epsilon):
    truth = 1 / (1 + math.exp(-epsilon))

    def run(x, size):
        return np.where(np.random.default_rng().random(size) < truth, x, 1 - x)

    return run


def one(x):
    return x if np.random.default_rng().random() < 0.9 else 1 - x


@pytest.mark.statistical
class TestVerdicts:
    """False-alarm rate of each sound case 1e-11; a broken one is missed with probability below 1e-9."""

    def test_refuted_with_evidence(self):
        with pytest.raises(ClaimRefuted, match="REFUTED") as caught:
            verify(respond(2), PureDP(1), inputs=(0, 1), samples=20_000)
        report = caught.value.report
        assert report.refuted
        assert 1.7 < report.epsilon < 2.1
        assert report.delta > 0.1
        assert pickle.loads(pickle.dumps(caught.value)).report.epsilon == report.epsilon

    def test_not_refuted(self):
        report = verify(respond(1), PureDP(1), inputs=(0, 1), samples=20_000, confidence=SURE)
        assert report.verdict == "not refuted"
        assert 0.5 < report.epsilon <= 1

    def test_one_run_at_a_time(self):
        assert audit(one, PureDP(1), inputs=(0, 1), samples=2000).refuted

    def test_array_runs(self):
        noise = np.random.default_rng()
        report = audit(
            lambda x: x + noise.integers(-2, 3, len(x)),
            PureDP(1),
            inputs=(0, 10),
            samples=2000,
            vector="array",
        )
        assert report.refuted

    @pytest.mark.parametrize(
        "claim", [ApproxDP(1, 1e-2), GaussianDP(1), ZCDP(0.5), RenyiDP({2: 1, 4: 2})], ids=repr
    )
    def test_every_measure(self, claim):
        broken = audit(respond(3), claim, inputs=(0, 1), samples=10_000)
        assert broken.refuted
        assert broken.own > {"ε": 1, "μ": 1, "ρ": 0.5, "× ε(α)": 1}[broken.symbol]
        assert not audit(
            respond(0.5), claim, inputs=(0, 1), samples=10_000, confidence=SURE
        ).refuted

    def test_all_neighbours_of_an_example(self):
        def count(data, size):
            return sum(
                v is not None and not math.isnan(v) for v in data
            ) + np.random.default_rng().geometric(0.6, size)

        pairs = list(neighbours([1.0, 2.0], "add-remove"))
        reports = audit_all(
            count, PureDP(1), pairs, samples=2000, neighbours="add-remove", confidence=0.99
        )
        assert len(reports) == len(pairs)
        assert any(r.refuted for r in reports)
        assert reports[0].confidence == pytest.approx(1 - 0.01 / len(pairs))

    def test_tight_for_randomized_response(self):
        """The median of 9 lower bounds at n = 1e5 is at least 0.98: its standard error is below 0.003, and a fixed
        seed makes this test certain."""
        rng = np.random.default_rng(5)

        def run(x, size):
            return np.where(rng.random(size) < math.e / (1 + math.e), x, 1 - x)

        bounds = [audit(run, PureDP(1), inputs=(0, 1), samples=100_000).epsilon for _ in range(9)]
        assert np.median(bounds) >= 0.98

    def test_gaussian_by_assumption(self):
        def run(x, size):
            return np.round(np.random.default_rng().normal(x, 0.25, size), 3)

        plain = audit(run, ApproxDP(20, 1e-5), inputs=(0.0, 1.0), samples=4000)
        assert plain.verdict == "not tested"
        assert "too few runs" in plain.reason
        report = audit(run, ApproxDP(17, 1e-5), inputs=(0.0, 1.0), samples=5000, assume="gaussian")
        assert report.refuted
        assert "on your word" in str(report)
        assert not audit(
            run, GaussianDP(4), inputs=(0.0, 1.0), samples=5000, assume="gaussian", confidence=SURE
        ).refuted


class TestNeverAFalsePassed:
    """Bad input gets a clear word."""

    def test_constant_output(self):
        report = audit(lambda x: 7, PureDP(1), inputs=(0, 1), samples=200)
        assert report.verdict == "not tested"
        assert "every output was the same" in report.reason
        with pytest.raises(InvalidArgument, match="nothing was tested"):
            verify(lambda x: 7, PureDP(1), inputs=(0, 1), samples=200)

    def test_always_raising(self):
        report = audit(lambda x: 1 // 0, PureDP(1), inputs=(0, 1), samples=200)
        assert "raised ZeroDivisionError" in report.reason

    def test_nan_for_ever(self):
        assert not audit(lambda x: math.nan, PureDP(1), inputs=(0, 1), samples=200).tested

    def test_a_different_constant_is_a_leak(self):
        assert audit(lambda x: x, PureDP(1), inputs=(0, 1), samples=200).refuted

    def test_too_few_runs(self):
        with pytest.raises(
            InvalidArgument, match="too few runs: 100 on each input cannot refute ε = 5"
        ):
            verify(one, PureDP(5), inputs=(0, 1), samples=100)
        with pytest.raises(InvalidArgument, match="samples must be a whole number of at least 100"):
            audit(one, PureDP(1), inputs=(0, 1), samples=10)

    @pytest.mark.parametrize(
        ("how", "words"),
        [
            ({"claim": 1}, "a claim is a measure"),
            (
                {"inputs": ([1], [1, 2, 3]), "neighbours": "add-remove"},
                "not 'add-remove' neighbours",
            ),
            ({"confidence": 1.0}, "confidence must lie"),
            ({"assume": "laplace"}, "assume must be"),
            ({"assume": "gaussian"}, "no Gaussian noise keeps ε = 1"),
            ({"delta": 1e-6}, "has its own δ"),
            ({"claim": ZCDP(1), "delta": 2}, "delta must lie"),
            ({"vector": "quick"}, "vector must be"),
        ],
    )
    def test_refuses(self, how, words):
        arguments = {"claim": PureDP(1), "inputs": (0, 1)} | how
        claim, inputs = arguments.pop("claim"), arguments.pop("inputs")
        with pytest.raises(InvalidArgument, match=words):
            audit(one, claim, inputs, **arguments)

    def test_no_pairs(self):
        with pytest.raises(InvalidArgument, match="no pairs"):
            audit_all(one, PureDP(1), [])

    def test_says_what_was_not_tested(self):
        report = audit(one, PureDP(3), inputs=(0, 1), samples=1000)
        assert any("no relation was named" in what for what in report.not_tested)
        checked = audit(len, PureDP(3), inputs=([1], [1, 2]), samples=100, neighbours="add-remove")
        assert not any("no relation" in what for what in checked.not_tested)

    def test_defaults(self):
        assert audit(respond(3), PureDP(1), inputs=(0, 1)).samples == 200_000
        assert audit(one, PureDP(1), inputs=(0, 1)).samples == 10_000
        assert isinstance(Refuted(audit(one, PureDP(1), inputs=(0, 1), samples=200)), ClaimRefuted)
