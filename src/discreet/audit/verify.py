"""Point the auditor at any function: `verify` raises if the claim is caught out, `audit` reports what it found.

The runs are split. On the first part the event is searched; on the rest it is judged, so that a false alarm has at most
the stated probability however long the search was. If the first tenth shows few different outputs, a tenth is enough to
search on; else half is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ..errors import ClaimRefuted, InvalidArgument
from ..privacy.measures import Measure
from .criteria import judge_for
from .evidence.bounds import level
from .reports.report import Report
from .targets.inputs import Unit, check_inputs
from .targets.runs import Progress, Vector, read_vector
from .trial import trial


class Refuted(ClaimRefuted):
    """A claim caught out; `report` is the evidence."""

    def __init__(self, report: Report) -> None:
        super().__init__(str(report))
        self.report = report

    def __reduce__(self) -> tuple[object, ...]:
        return Refuted, (self.report,)


def verify(
    run: Callable[..., object],
    claim: Measure,
    inputs: tuple[object, object],
    *,
    samples: int | None = None,
    confidence: float = 0.999,
    neighbours: str | None = None,
    unit: Unit | None = None,
    vector: Vector = "auto",
    assume: str | None = None,
    delta: float | None = None,
    progress: Progress | None = None,
) -> Report:
    """Try to refute a claim; raise `ClaimRefuted` with the evidence if that succeeds, else return the report.

    `run(input)` is any callable; if it takes `size=`, or with vector="array" an array of inputs, it is asked for many
    runs at once. See `audit` for the other arguments. If the claim holds, it raises with probability ≤ 1 − confidence.

    >>> import discreet as dp
    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> def respond(x, size):
    ...     return np.where(rng.random(size) < 0.75, x, 1 - x)
    >>> dp.verify(respond, dp.PureDP(1.2), inputs=(0, 1)).verdict
    'not refuted'
    >>> dp.verify(respond, dp.PureDP(1), inputs=(0, 1))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    discreet.audit.verify.Refuted: REFUTED
      claim       ε = 1
    ...

    Refuses what would pass without being tested: too few runs to refute anything, outputs that never vary.
    """
    judge = judge_for(
        claim, confidence, samples, assume=assume, delta=delta, mode=read_vector(run, vector)
    )
    if judge.too_few():
        raise InvalidArgument(judge.too_few())
    pair = check_inputs(inputs, neighbours, unit)
    report = trial(run, judge, pair, neighbours=neighbours, vector=vector, progress=progress)
    if not report.tested:
        raise InvalidArgument(f"nothing was tested: {report.reason}")
    if report.refuted:
        raise Refuted(report)
    return report


def audit(
    run: Callable[..., object],
    claim: Measure,
    inputs: tuple[object, object],
    *,
    samples: int | None = None,
    confidence: float = 0.999,
    neighbours: str | None = None,
    unit: Unit | None = None,
    vector: Vector = "auto",
    assume: str | None = None,
    delta: float | None = None,
    progress: Progress | None = None,
) -> Report:
    """Report the best lower bounds on ε and δ, the event that shows them, and what was not tested.

    `samples` counts runs on each input (default 10 000, or 200 000 if many runs can be asked for at once). `neighbours`
    names the relation of the claim and is checked on data sets; `unit` says whose row a row is. assume="gaussian" takes
    your word that the noise is Gaussian and extrapolates to events too rare to see; `delta` is where ε is reported for
    claims that have no δ of their own (default 1e-5).

    >>> import discreet as dp
    >>> from discreet.audit import audit
    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> report = audit(lambda x, size: x + rng.laplace(size=size), dp.PureDP(1), inputs=(0.0, 1.0))
    >>> report.refuted, report.event.startswith("lowest set bit of value")
    (True, True)
    """
    judge = judge_for(
        claim, confidence, samples, assume=assume, delta=delta, mode=read_vector(run, vector)
    )
    pair = check_inputs(inputs, neighbours, unit)
    return trial(run, judge, pair, neighbours=neighbours, vector=vector, progress=progress)


def audit_all(
    run: Callable[..., object],
    claim: Measure,
    pairs: Iterable[tuple[object, ...]],
    *,
    samples: int | None = None,
    confidence: float = 0.999,
    neighbours: str | None = None,
    unit: Unit | None = None,
    vector: Vector = "auto",
    progress: Progress | None = None,
) -> tuple[Report, ...]:
    """Audit many pairs of inputs, such as those of `neighbours(example, relation)`, with one confidence for them all.

    Each is judged at (1 − confidence) divided by their number; reports come back in order.
    """
    listed = [(pair[0], pair[1]) for pair in pairs]
    if not listed:
        raise InvalidArgument("no pairs of inputs were given")
    each = 1 - (1 - level(confidence, "confidence")) / len(listed)
    judge = judge_for(claim, each, samples, mode=read_vector(run, vector))
    checked = [check_inputs(pair, neighbours, unit) for pair in listed]
    return tuple(
        trial(run, judge, p, neighbours=neighbours, vector=vector, progress=progress)
        for p in checked
    )
