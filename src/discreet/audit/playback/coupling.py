"""Coupling (rank 2) and the black box (rank 3), for functions whose noise has no known law.

Coupling runs D and D' with the same draws. Noise that is added cancels out, so the move is exact;
the scale is estimated from many tapes. A suspect value is proved by the black box, or not at all.
"""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np

from ...frozen import frozen, replace
from ...privacy.measures import ApproxDP, Measure
from ..evidence.claim import claimed_epsilon
from ..verify import audit
from .compare import visible
from .tape import Tape
from .trial import Inputs, Program, Trial, run

_TAPES = 100
_FEWEST_TAPES = 10
# An estimate so far above the claim is worth a proof; estimates from 100 tapes vary by a tenth.
_SUSPICIOUS = 1.3
# The black box judges several pairs: each at a confidence that makes a false alarm negligible.
CONFIDENCE = 1 - 1e-6


@frozen
class Coupled:
    """Estimate of ε by coupling; `reason` says why there is none."""

    epsilon: float
    reason: str = ""


def couple(function: Program, pair: Inputs, seconds: float) -> Coupled:
    """Estimate ε from at most 100 pairs of runs: of each pair both inputs get the same draws.

    Added noise cancels in the difference of a pair, which is the move; the spread over the pairs is
    the scale. The estimate is the sum of move divided by scale over all numbers of the answer. It
    stops after `seconds`, but not before ten pairs.

    Law: `tests/audit/playback/test_coupling.py::test_hand_made_noise`
    """
    first = Tape(seed=1)
    first.inside = 1
    answer = run(function, pair[0], first)
    again = Tape(seed=1)
    again.inside = 1
    if repr(run(function, pair[0], again)) != repr(answer):
        return Coupled(
            0.0, "noise is drawn where the audit cannot see it (compiled code, a process)"
        )
    if not first.calls:
        return Coupled(0.0, "no randomness was seen")
    # Slow functions get fewer tapes: an estimate proves nothing anyway.
    deadline = time.monotonic() + seconds
    outputs = []
    for seed in range(_TAPES):
        if seed >= _FEWEST_TAPES and time.monotonic() > deadline:
            break
        outputs.append(tuple(_outcome(function, data, seed) for data in pair))
    return Coupled(_estimate(outputs))


def _outcome(function: Program, data: object, seed: int) -> tuple[str, list[float]]:
    """Run a function on the draws of one seed; return its answer as its shape and its numbers."""
    tape = Tape(seed=seed)
    tape.inside = 1
    numbers: list[float] = []
    shape = _strip(run(function, data, tape), numbers)
    return repr(shape), numbers


def _strip(value: Any, numbers: list[float]) -> Any:  # noqa: ANN401 - a plain answer
    """Take the numbers out of an answer; return what is left."""
    if isinstance(value, dict):
        return {key: _strip(part, numbers) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_strip(part, numbers) for part in value]
    if isinstance(value, int | float | np.number) and not isinstance(value, bool):
        numbers.append(float(value))
        return "number"
    return value


def _estimate(outputs: list[tuple[tuple[str, list[float]], ...]]) -> float:
    """Return the sum over all numbers of move divided by spread; infinite if the shapes differ."""
    shapes = [first[0] == second[0] for first, second in outputs]
    if not all(shapes):
        return math.inf
    if len({first[0] for first, _ in outputs}) > 1:
        # Answers of several shapes, alike on both inputs: numbers cannot be put side by side.
        return 0.0
    before = np.array([first[1] for first, _ in outputs])
    after = np.array([second[1] for _, second in outputs])
    with np.errstate(invalid="ignore", divide="ignore"):
        moves = np.mean(np.abs(after - before), axis=0)
        # The mean distance from the median is the scale of Laplace noise.
        spreads = np.mean(np.abs(before - np.median(before, axis=0)), axis=0)
        ratios = np.where(moves == 0, 0.0, moves / spreads)
    total = float(np.sum(ratios))
    if math.isnan(total):
        return math.inf
    return total


def suspicious(trial: Trial, claim: Measure) -> bool:
    """Return whether the estimated ε of a trial is above 1.3 times the claimed one.

    The claimed ε is the claim's own; of ρ, μ and Rényi claims it is that at δ = 10^−5.
    """
    if isinstance(claim, ApproxDP):
        # Not by `claimed_epsilon`: a δ that is rounded down to a float would promise nothing.
        most = float(claim.epsilon)
    else:
        # Claims of a whole curve are read at a usual δ.
        most = claimed_epsilon(claim, 1e-5)
    return trial.estimate > _SUSPICIOUS * most


def with_estimate(function: Program, trial: Trial, claim: Measure, seconds: float) -> Trial:
    """Couple the runs of a pair that replay could not decide."""
    coupled = couple(function, trial.pair, seconds)
    if coupled.reason:
        return replace(trial, verdict="unknown", notes=(*trial.notes, coupled.reason))
    text = f"coupling estimates ε ≈ {coupled.epsilon:.3g}"
    trial = replace(trial, estimate=coupled.epsilon, notes=(*trial.notes, text))
    if suspicious(trial, claim):
        return replace(trial, verdict="suspect", rank=2)
    return replace(trial, verdict="not refuted", rank=2)


def with_black_box(
    function: Program, trial: Trial, claim: Measure, samples: int, seconds: float
) -> Trial:
    """Judge a pair by `audit`: as many runs with true randomness as fit into `seconds`.

    At most `samples` runs are made on each input; fewer than 100 leave the pair untested.

    Guarantee: a sound function is refuted with probability at most 1e-6.
    """
    # The fastest of three runs tells how many fit into the time: a busy machine slows single ones.
    run_once = _plain_run(function)
    each = math.inf
    for _ in range(3):
        begin = time.monotonic()
        run_once(trial.pair[0])
        each = min(each, time.monotonic() - begin)
    runs = min(samples, int(seconds / (2 * each + 1e-9)))
    if runs < 100:
        return _untested(
            trial, f"{runs} runs fit into {seconds:g} seconds; the black box needs 100"
        )
    # The black box compares exceptions and shapes as well.
    report = audit(run_once, claim, trial.pair, samples=runs, confidence=CONFIDENCE)
    if not report.tested:
        return _untested(trial, report.reason)
    if not report.refuted:
        note = f"black box: not refuted by {runs} runs on each input"
        return replace(trial, verdict="not refuted", rank=3, notes=(*trial.notes, note))
    rank = 3
    if trial.rank == 2:
        rank = 2
    note = f"black box: ε ≥ {report.epsilon:.3g}, event: {report.event}"
    return replace(trial, verdict="refuted", rank=rank, notes=(*trial.notes, note))


def _untested(trial: Trial, reason: str) -> Trial:
    return replace(trial, verdict="not tested", rank=0, notes=(*trial.notes, reason))


def _plain_run(function: Program) -> Program:
    def run_once(data: object) -> object:
        return visible(function(data))

    return run_once
