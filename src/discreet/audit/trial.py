"""One trial: run on both inputs, search for an event on some runs, judge it on the others."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .criteria import Criteria
from .events.outputs import Outputs, tabulate
from .events.search import OutputEvent, search
from .events.sketch import Sketch, draw
from .evidence.ceiling import at_delta, at_epsilon
from .reports.report import Finding, Report
from .targets.inputs import shown
from .targets.runs import Progress, Vector, collect

_FEW = 64
"""With so few different outputs, a tenth of the runs is enough to search on."""


def trial(
    run: Callable[..., object],
    judge: Criteria,
    inputs: tuple[object, object],
    *,
    neighbours: str | None = None,
    vector: Vector = "auto",
    progress: Progress | None = None,
) -> Report:
    """Run, search, judge, report."""
    left, right = tabulate(*collect(run, inputs, judge.samples, vector=vector, progress=progress))
    trained, n = _training(left, right), judge.samples
    first, second, rest = (
        (left.part(*span), right.part(*span))
        for span in ((0, trained // 2), (trained // 2, trained), (trained, n))
    )
    with np.errstate(
        invalid="ignore", over="ignore"
    ):  # outputs may be infinite or NaN: that is what we look at
        events = search(
            first, second, judge.claim, runs=n - trained, alpha=judge.alpha, assume=judge.assume
        )
        findings = tuple(
            _finding(event, rest, judge, judge.alpha / len(events)) for event in events
        )
        sketch = _sketch(events, findings, rest)
    points = np.linspace(0, 1, 201)
    return Report(
        claim=judge.claim,
        confidence=judge.confidence,
        samples=n,
        judged=n - trained,
        inputs=(shown(inputs[0]), shown(inputs[1])),
        at_epsilon=judge.epsilon,
        at_delta=judge.delta,
        symbol=judge.own().symbol,
        findings=findings,
        reason=_nothing_tested(judge, left, right),
        not_tested=_not_tested(neighbours, n - trained),
        sketch=sketch,
        curve=tuple(zip(points.tolist(), judge.ceiling(points).tolist(), strict=True)),
        assume=judge.assume,
    )


def _sketch(
    events: list[OutputEvent], findings: tuple[Finding, ...], rest: tuple[Outputs, Outputs]
) -> Sketch | None:
    """Draw the view of the event that says most."""
    if not events:
        return None
    event = max(zip(findings, events, strict=True), key=lambda both: both[0].weight)[1]
    return draw(event.view, event.threshold, *rest, below=event.below)


def _training(left: Outputs, right: Outputs) -> int:
    """Decide on how many runs to search: a tenth if they show few outputs (they are searched anyway), else half."""
    n = left.size
    look = max(n // 10, min(n // 2, 1000))
    some = slice(0, look, max(1, look // 2000))
    seen = {
        row
        for o in (left, right)
        for row in zip(*(c.values[some].tolist() for c in o.columns.values()), strict=True)
    }
    return look if len(seen) <= _FEW else n // 2


def _finding(
    event: OutputEvent, rest: tuple[Outputs, Outputs], judge: Criteria, alpha: float
) -> Finding:
    seen = event.evidence(*rest)
    epsilon = seen.least(at_delta(judge.delta, assume=judge.assume), alpha)
    return Finding(
        event=str(event),
        likelier="second" if event.second else "first",
        evidence=seen,
        refuted=seen.refutes(judge.ceiling, alpha),
        epsilon=epsilon,
        delta=seen.least(at_epsilon(judge.epsilon, assume=judge.assume), alpha),
        own=epsilon if judge.own().symbol == "ε" else seen.least(judge.own(), alpha),
    )


def _nothing_tested(judge: Criteria, left: Outputs, right: Outputs) -> str:
    columns = [(c.values, right.columns[name].values, c.words) for name, c in left.columns.items()]
    if all(_same(x, y) for x, y, _ in columns):
        words = next((c[int(x[0])] for x, _, c in columns if c), "")
        what = f", {words}" if words.startswith("raised") else ""
        return f"every output was the same{what}; the noise was never seen: check that the inputs and the function fit"
    return judge.too_few()


def _same(x: object, y: object) -> bool:
    both = np.concatenate([np.asarray(x), np.asarray(y)])
    return bool(np.all(both == both[0]) or np.all(np.isnan(both)))


def _not_tested(neighbours: str | None, judged: int) -> tuple[str, ...]:
    rare = f"events rarer than about {10 / judged:.1g}: they are hardly seen in {judged:,} runs"
    listed = ["inputs other than these two", rare, "time, memory, logs and other side channels"]
    listed.append("whether the runs are independent of each other: the auditor relies on it")
    if neighbours is None:
        listed.append("whether the inputs are neighbours: no relation was named")
    return tuple(listed)
