"""Audit of any function: `verify` raises if the claim is refuted, `audit` reports the evidence.

One trial runs on both inputs, searches for an event on some runs, and judges it on the others. So
a false alarm has at most the stated probability, however long the search was. If the first tenth of
the runs shows at most 64 different outputs, a tenth is used to search on, else half. A tenth is at
least 1000 runs, and at most half.

`Criteria` are the standard of a trial: the claim's ceiling, the confidence, the number of runs, and
the ε and δ at which bounds are reported.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import numpy as np

from ..arithmetic.rational import whole
from ..errors import ClaimRefuted, InvalidArgument
from ..frozen import frozen
from ..privacy.measures import ApproxDP, Measure, PureDP
from .events.outputs import Outputs, all_equal, tabulate
from .events.search import OutputEvent, search
from .events.sketch import Sketch, draw
from .evidence.bounds import read_probability
from .evidence.ceiling import (
    Ceiling,
    PromiseFamily,
    at_delta,
    at_epsilon,
    ceiling,
    family,
    gaussian_within,
)
from .evidence.claim import claimed_epsilon, read_claim
from .evidence.runs_needed import least_runs
from .reports.report import Finding, Report
from .targets.inputs import Unit, check_inputs, shown
from .targets.runs import Progress, Run, Vector, collect, read_vector

if TYPE_CHECKING:
    from .playback.report import PlaybackReport

# With so few different outputs, a tenth of the runs is enough to search on.
_FEW_OUTPUTS = 64


class Refuted(ClaimRefuted):
    """Refuted claim; `report` is the evidence."""

    def __init__(self, report: Report | PlaybackReport) -> None:
        super().__init__(str(report))
        self.report = report

    def __reduce__(self) -> tuple[object, ...]:
        return Refuted, (self.report,)


@frozen
class Criteria:
    """Claim, and the standard by which it is judged.

    `epsilon` and `delta` are where bounds are reported: on δ at this ε, and on ε at this δ.
    `samples` are the runs on each input.
    """

    claim: Measure
    confidence: float
    samples: int
    assume: str | None
    epsilon: float
    delta: float
    ceiling: Ceiling

    @property
    def alpha(self) -> float:
        """The probability of a false alarm."""
        return 1 - self.confidence

    def own(self) -> PromiseFamily:
        """Return the ceilings of the claim's own number."""
        if self.assume:
            return at_delta(self.delta, assume=self.assume)
        return family(self.claim)

    def too_few(self) -> str:
        """Return a refusal if even a complete leak could not refute the claim with these runs."""
        # Half of the runs may be needed to search, the other half to judge.
        needed = 2 * least_runs(self.ceiling, self.alpha)
        if self.samples >= needed:
            return ""
        return (
            f"too few runs: {self.samples} on each input cannot refute {self.claim}; "
            f"at least {needed} are needed"
        )


def judge_for(
    claim: Measure,
    confidence: float,
    samples: int | None,
    *,
    mode: str,
    assume: str | None = None,
    delta: float | None = None,
) -> Criteria:
    """Read the arguments of an audit; `mode` says whether many runs can be asked for at once."""
    sure = read_probability(confidence, "confidence")
    usual = 10_000 if mode == "no" else 200_000
    runs = usual if samples is None else whole(samples, "samples", least=100)
    _check_assumption(read_claim(claim), assume)
    at = _delta_of(claim, delta)
    epsilon = claimed_epsilon(claim, at)
    return Criteria(claim, sure, runs, assume, epsilon, at, ceiling(claim, assume=assume))


def _delta_of(claim: Measure, delta: float | None) -> float:
    """Return the δ at which ε is reported: the claim's own, if it has one."""
    if not isinstance(claim, PureDP | ApproxDP):
        return 1e-5 if delta is None else read_probability(delta, "delta")
    if delta is not None:
        raise InvalidArgument(f"the claim {claim} has its own δ; leave `delta` out")
    return float(claim.delta) if isinstance(claim, ApproxDP) else 0.0


def _check_assumption(claim: Measure, assume: str | None) -> None:
    """Refuse an unknown assumption, and one under which the claim cannot hold."""
    if assume not in (None, "gaussian"):
        raise InvalidArgument(f"assume must be None or 'gaussian', got {assume!r}")
    if assume and gaussian_within(claim) == 0:
        raise InvalidArgument(
            f"no Gaussian noise keeps {claim}: it has no pure ε; state the claim with a δ"
        )


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
    """Try to refute a claim: raise `ClaimRefuted` with the evidence, or return the report.

    `run(input)` is any callable. If it takes `size=`, or with vector="array" an array of inputs, it
    is asked for many runs at once. See `audit` for the other arguments.

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

    Guarantee: if the claim holds, it raises with probability at most 1 − confidence.
    Refuses: `InvalidArgument` for audits that would pass without a test: too few runs to refute
    anything, and outputs that never vary.
    Law: `tests/audit/test_verify.py::TestVerdicts`
    Law: `tests/audit/test_verify.py::TestNeverAFalsePassed`
    """
    mode = read_vector(run, vector)
    judge = judge_for(claim, confidence, samples, assume=assume, delta=delta, mode=mode)
    if judge.too_few():
        raise InvalidArgument(judge.too_few())
    pair = check_inputs(inputs, neighbours, unit)
    report = _trial(run, judge, pair, neighbours=neighbours, vector=vector, progress=progress)
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
    """Report the best lower bounds on ε and δ, the event that shows them, and untested aspects.

    | argument | meaning |
    |---|---|
    | `samples` | runs on each input; default 10 000, or 200 000 if many can be asked for at once |
    | `confidence` | 1 minus the probability that a claim that holds is refuted |
    | `neighbours` | relation of the claim, checked on data sets |
    | `unit` | says whose row a row is |
    | `vector` | "size" or "array": many runs a call, by `size=` or an array of equal inputs; |
    | | "no": one run a call; "auto": "size" if `run` takes it, else "no" |
    | `progress` | function that is called with the number of runs just made |
    | `assume` | "gaussian": trusts that the noise is Gaussian and extrapolates to rare events |
    | `delta` | δ of the reported ε, for claims without a δ of their own (default 1e-5) |

    >>> import discreet as dp
    >>> from discreet.audit import audit
    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> report = audit(lambda x, size: x + rng.laplace(size=size), dp.PureDP(1), inputs=(0.0, 1.0))
    >>> report.refuted, report.event.startswith("lowest set bit of value")
    (True, True)

    Guarantee: all bounds hold together with probability at least `confidence`.
    Law: `tests/audit/test_evidence.py::TestFalseAlarms`
    """
    mode = read_vector(run, vector)
    judge = judge_for(claim, confidence, samples, assume=assume, delta=delta, mode=mode)
    pair = check_inputs(inputs, neighbours, unit)
    return _trial(run, judge, pair, neighbours=neighbours, vector=vector, progress=progress)


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
    """Audit many pairs of inputs with one confidence for them all; reports come back in order.

    The pairs may be those of `neighbours(example, relation)`. Each pair is judged at
    (1 − confidence) divided by their number (Bonferroni).
    """
    listed = [(pair[0], pair[1]) for pair in pairs]
    if not listed:
        raise InvalidArgument("no pairs of inputs were given")
    each = 1 - (1 - read_probability(confidence, "confidence")) / len(listed)
    judge = judge_for(claim, each, samples, mode=read_vector(run, vector))
    # All pairs are checked before the first run.
    checked = [check_inputs(pair, neighbours, unit) for pair in listed]
    reports = []
    for pair in checked:
        report = _trial(run, judge, pair, neighbours=neighbours, vector=vector, progress=progress)
        reports.append(report)
    return tuple(reports)


def _trial(
    run: Run,
    judge: Criteria,
    inputs: tuple[object, object],
    *,
    neighbours: str | None = None,
    vector: Vector = "auto",
    progress: Progress | None = None,
) -> Report:
    """Run on both inputs, search for events, judge them on other runs, and report."""
    n = judge.samples
    raw = collect(run, inputs, n, vector=vector, progress=progress)
    left, right = tabulate(*raw)
    trained = _training(left, right)
    half = trained // 2
    # Views are learned on the first part, thresholds chosen on the second, events judged on the
    # third: no run serves twice.
    first = (left.part(0, half), right.part(0, half))
    second = (left.part(half, trained), right.part(half, trained))
    rest = (left.part(trained, n), right.part(trained, n))
    judged = n - trained
    # Outputs may be infinite or NaN, and both are searched: no warning is needed.
    with np.errstate(invalid="ignore", over="ignore"):
        events = search(
            first, second, judge.claim, runs=judged, alpha=judge.alpha, assume=judge.assume
        )
        findings = tuple(_finding(e, rest, judge, judge.alpha / len(events)) for e in events)
        sketch = _sketch(events, findings, rest)
    points = np.linspace(0, 1, 201)
    heights = judge.ceiling(points)
    return Report(
        claim=judge.claim,
        confidence=judge.confidence,
        samples=n,
        judged=judged,
        inputs=(shown(inputs[0]), shown(inputs[1])),
        at_epsilon=judge.epsilon,
        at_delta=judge.delta,
        symbol=judge.own().symbol,
        findings=findings,
        reason=_nothing_tested(judge, left, right),
        not_tested=_not_tested(neighbours, judged),
        sketch=sketch,
        curve=tuple(zip(points.tolist(), heights.tolist(), strict=True)),
        assume=judge.assume,
    )


def _sketch(
    events: list[OutputEvent], findings: tuple[Finding, ...], rest: tuple[Outputs, Outputs]
) -> Sketch | None:
    """Draw the view of the event with the strongest finding."""
    if not events:
        return None
    weights = [finding.weight for finding in findings]
    event = events[weights.index(max(weights))]
    return draw(event.view, event.threshold, *rest, below=event.below)


def _training(left: Outputs, right: Outputs) -> int:
    """Return the number of runs to search on: a tenth if they show few outputs, else half.

    Few outputs need no long search.
    """
    n = left.size
    tenth = max(n // 10, min(n // 2, 1000))
    # A sample of the first tenth: distinct rows are counted in Python.
    some = slice(0, tenth, max(1, tenth // 2000))
    seen: set[tuple[object, ...]] = set()
    for outputs in (left, right):
        columns = [column.values[some].tolist() for column in outputs.columns.values()]
        seen.update(zip(*columns, strict=True))
    return tenth if len(seen) <= _FEW_OUTPUTS else n // 2


def _finding(
    event: OutputEvent, rest: tuple[Outputs, Outputs], judge: Criteria, alpha: float
) -> Finding:
    """Judge one event on runs that the search never saw."""
    evidence = event.evidence(*rest)
    epsilon = evidence.least(at_delta(judge.delta, assume=judge.assume), alpha)
    delta = evidence.least(at_epsilon(judge.epsilon, assume=judge.assume), alpha)
    own = epsilon
    if judge.own().symbol != "ε":
        own = evidence.least(judge.own(), alpha)
    return Finding(
        event=str(event),
        likelier="second" if event.second else "first",
        evidence=evidence,
        refuted=evidence.refutes(judge.ceiling, alpha),
        epsilon=epsilon,
        delta=delta,
        own=own,
    )


def _nothing_tested(judge: Criteria, left: Outputs, right: Outputs) -> str:
    """Return the reason why nothing could be tested; empty if something was."""
    for name in left.columns:
        if not all_equal(left.values(name), right.values(name)):
            return judge.too_few()
    # The outputs never vary; an exception that always occurs is shown, since it may be the cause.
    texts = [c.words[int(c.values[0])] for c in left.columns.values() if c.words]
    exception = f", {texts[0]}" if texts and texts[0].startswith("raised") else ""
    return (
        f"every output was the same{exception}; the noise was never seen: "
        "check that the inputs and the function fit"
    )


def _not_tested(neighbours: str | None, judged: int) -> tuple[str, ...]:
    """List the aspects that an audit never tests."""
    rare = f"events rarer than about {10 / judged:.1g}: they are hardly seen in {judged:,} runs"
    listed = [
        "inputs other than these two",
        rare,
        "time, memory, logs and other side channels",
        "whether the runs are independent of each other: the auditor relies on it",
    ]
    if neighbours is None:
        listed.append("whether the inputs are neighbours: no relation was named")
    return tuple(listed)
