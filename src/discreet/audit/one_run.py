"""Audit with one run and many canaries (Steinke, Nasr, Jagielski 2023).

Each canary is included by a fair coin, the mechanism runs once, and the auditor guesses which
canaries were included. Under (ε, δ) no auditor guesses better than against randomized response. So
many correct guesses give a lower bound on ε.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from ..arithmetic.arrays import Flags
from ..arithmetic.rational import whole
from ..errors import InvalidArgument
from ..frozen import frozen
from ..privacy.measures import ApproxDP, Measure, PureDP
from .evidence.bounds import at_least, at_most, read_probability
from .evidence.claim import claimed_epsilon, read_claim

# ε is bounded in steps of a hundredth, up to 50.
_STEPS_PER_UNIT = 100
_MAX_STEPS = 50 * _STEPS_PER_UNIT


def guesses_doubt(
    correct: int, guesses: int, canaries: int, epsilon: float, delta: float = 0.0
) -> float:
    """Bound the probability of so many correct guesses under (ε, δ)-DP: a p-value, rounded up.

    P[correct ≥ v] ≤ P[W ≥ v] + m δ max_i (2/i) P[v > W ≥ v − i], W ~ Binomial(guesses, e^ε/(1 +
    e^ε)), for v = `correct` and m = `canaries`: no adversary guesses an included canary better than
    against randomized response (Steinke, Nasr, Jagielski 2023, Theorem 5.2).

    >>> from discreet.audit import guesses_doubt
    >>> round(guesses_doubt(8, 10, 10, 0.0), 6)
    0.054688

    Law: `tests/audit/test_one_run.py::TestDoubt`
    """
    m = whole(canaries, "canaries", least=1)
    r = whole(guesses, "guesses", least=1, most=m)
    v = whole(correct, "correct", most=r)
    truth = np.array([1 / (1 + math.exp(-min(epsilon, 700.0)))])
    tail = float(at_least(np.array([float(v)]), r, truth)[0])
    if delta == 0 or v == 0:
        return min(1.0, tail)
    steps = np.arange(1, v + 1)
    # P[v > W ≥ v − i], with the upper bound of one tail and the lower bound of the other.
    # Misses are binomial too.
    below = float(at_most(np.array([v - 1.0]), r, truth)[0])
    further = 1 - at_least((v - steps).astype(np.float64), r, truth)
    between = np.clip(below - further + 1e-12, 0.0, 1.0)
    spread = float(np.max(2 / steps * between))
    return min(1.0, tail + m * delta * spread)


@frozen
class OneRun:
    """Result of the guesses of one run: how many were correct, and the bound on ε that follows.

    `at_epsilon` is the ε that the claim promises at `at_delta`.
    """

    claim: Measure
    correct: int
    guesses: int
    canaries: int
    confidence: float
    at_delta: float
    at_epsilon: float
    epsilon: float
    """The lower bound on ε at `at_delta`."""

    @property
    def refuted(self) -> bool:
        """Whether the claim is false, with the stated confidence."""
        doubt = guesses_doubt(
            self.correct, self.guesses, self.canaries, self.at_epsilon, self.at_delta
        )
        return doubt <= 1 - self.confidence

    def __str__(self) -> str:
        head = "REFUTED" if self.refuted else "not refuted"
        seen = f"{self.correct} of {self.guesses} guesses right, {self.canaries} canaries, one run"
        bound = f"ε ≥ {self.epsilon:.4g} at δ = {self.at_delta:g}"
        return f"{head}: {self.claim}; {bound} ({seen})"


def one_run(
    run: Callable[[Flags], ArrayLike],
    claim: Measure,
    *,
    canaries: int,
    guesses: int | None = None,
    confidence: float = 0.999,
    delta: float = 1e-5,
) -> OneRun:
    """Audit an expensive mechanism with one run.

    `run(included)` gets a truth value for each canary and returns a score for each. The highest
    scores are guessed in, the lowest out, half of `guesses` each (default: a fifth of the
    canaries). `delta` is the δ at which ε is bounded, for claims without a δ of their own. Each
    canary must be one unit of the claim under add/remove, included by its own coin.

    >>> import discreet as dp
    >>> from discreet.audit import one_run
    >>> leak = one_run(lambda included: included * 1.0, dp.PureDP(1), canaries=200)
    >>> leak.refuted, leak.correct
    (True, 40)

    Guarantee: a claim that holds is refuted with probability at most 1 − confidence.
    Refuses: `InvalidArgument` for scores that are not one number for each canary, and for fewer
    than two guesses.
    Law: `tests/audit/test_one_run.py::TestOneRun`
    """
    m = whole(canaries, "canaries", least=2)
    r = max(2, m // 5) if guesses is None else whole(guesses, "guesses", least=2, most=m)
    included = np.random.default_rng().random(m) < 0.5
    # A copy, so that the mechanism cannot change the truth the guesses are compared with.
    scores = np.asarray(run(included.copy()), dtype=np.float64)
    if scores.shape != (m,) or np.isnan(scores).any():
        raise InvalidArgument(
            f"run must return one score for each of the {m} canaries, none of them NaN"
        )
    # Shuffled first, so that ties do not follow the order of the canaries.
    shuffled = np.random.default_rng().permutation(m)
    order = shuffled[np.argsort(scores[shuffled], kind="stable")]
    lowest = order[: r // 2]
    highest = order[m - (r - r // 2) :]
    correct = int(np.sum(~included[lowest]) + np.sum(included[highest]))
    at = _delta_of(read_claim(claim), delta)
    alpha = 1 - read_probability(confidence, "confidence")
    claimed = claimed_epsilon(claim, at)
    bound = _least(correct, r, m, at, alpha)
    return OneRun(claim, correct, r, m, confidence, at, claimed, bound)


def _delta_of(claim: Measure, delta: float) -> float:
    """Return the claim's own δ, rounded up to the next float, if it has one; else the given one."""
    if isinstance(claim, PureDP):
        return 0.0
    if isinstance(claim, ApproxDP):
        # Upward: at a δ that is rounded below the claim's own, the claim promises nothing.
        return math.nextafter(float(claim.delta), 1.0)
    return read_probability(delta, "delta")


def _least(correct: int, guesses: int, canaries: int, delta: float, alpha: float) -> float:
    """Climb a fixed ladder of ε until one survives.

    A ladder is sound also where the p-value is not monotone in ε.
    """
    step = 0
    while step < _MAX_STEPS:
        epsilon = (step + 1) / _STEPS_PER_UNIT
        if guesses_doubt(correct, guesses, canaries, epsilon, delta) > alpha:
            break
        step += 1
    return step / _STEPS_PER_UNIT
