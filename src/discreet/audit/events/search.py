"""Search for the event that refutes a claim: thresholds on every view of outputs, in four forms.

A view turns an output into one number. Some views are learned on the first half of the training
runs; thresholds are chosen on the second half, among some 3,600 ranks. The runs that judge the
event are never seen here. Four forms of an event: either input may be the likelier one, and the
event or its complement may be the rare one (for large ε the complement has more power).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import TypeAlias

import numpy as np

from ...arithmetic.arrays import Floats
from ...arithmetic.special import ndtri
from ...frozen import frozen, replace
from ...privacy.measures import ApproxDP, Measure, PureDP
from ..evidence.ceiling import Ceiling, PromiseFamily, ceiling, family, gaussian
from ..evidence.counts import Evidence, slope_for
from .likelihood import logistic, naive, ratio
from .outputs import OutputColumn, Outputs, all_equal
from .views import OutputView, views

Score: TypeAlias = Callable[[Floats, int, Floats, int], Floats]

# An event is judged for breaking the claim if it seemed to by more standard errors than this.
_MIN_EXCESS = 3.0
# Standard errors by which a training frequency is distrusted: chosen rare events are clear.
_DISTRUST = 3.0
# A later view must be better by this fraction, so that plain views win over learned ones.
_MIN_IMPROVEMENT = 1e-3


@frozen
class OutputEvent:
    """Set of outputs, fixed before it is judged: a view at least (or below) a threshold."""

    view: OutputView
    threshold: float
    below: bool
    """The event is the complement: the view is below the threshold, or does not apply."""
    second: bool
    """The event is likelier on the second input."""
    slope: float = 1.0
    """The weight of a false hit, chosen on training runs."""

    @property
    def identity(self) -> tuple[object, ...]:
        """The facts by which two events are the same."""
        return self.view.name, self.threshold, self.below, self.second

    def evidence(self, left: Outputs, right: Outputs) -> Evidence:
        """Count the event on both inputs."""
        x = self._hits(left)
        y = self._hits(right)
        if self.second:
            return Evidence(y, right.size, x, left.size, self.slope)
        return Evidence(x, left.size, y, right.size, self.slope)

    def _hits(self, outputs: Outputs) -> int:
        # NaN is not at least the threshold: it belongs to the complement.
        inside = int(np.count_nonzero(self.view.of(outputs) >= self.threshold))
        return outputs.size - inside if self.below else inside

    def __str__(self) -> str:
        if self.view.word is None:
            sign = "<" if self.below else "≥"
            return f"{self.view.name} {sign} {self.threshold:.6g}"
        name = self.view.name.removeprefix("likelihood ratio of ")
        relation = "is none of" if self.below else "is one of"
        return f"{name} {relation}: {self.view.word(self.threshold)}"


@frozen
class _Candidate:
    """Event considered in the search, its score, and its frequencies on both inputs."""

    score: float
    event: OutputEvent
    rates: tuple[float, float]


def search(
    first: tuple[Outputs, Outputs],
    second: tuple[Outputs, Outputs],
    claim: Measure,
    *,
    runs: int,
    alpha: float = 0.001,
    assume: str | None = None,
) -> list[OutputEvent]:
    """Choose at most two events: the best bound on the claim's own number, and the clearest breach.

    `first` and `second` are the training runs on both inputs: `first` teaches the views, `second`
    chooses the thresholds. `runs` other runs on each input will judge at level α. No event is
    returned if no view varies.
    """
    scores = (_own_score(claim, assume), _excess_score(ceiling(claim, assume=assume)))
    best: list[_Candidate | None] = [None, None]
    for view in _all_views(first, *second):
        for i, candidate in enumerate(_best_thresholds(view, *second, scores)):
            if _improves(candidate, best[i]):
                best[i] = candidate
    own, excess = best
    # Equal events are judged once: each judged event costs a fraction of α.
    chosen: dict[tuple[object, ...], _Candidate] = {}
    if own is not None:
        chosen[own.event.identity] = own
    if excess is not None and excess.score > _MIN_EXCESS:
        chosen[excess.event.identity] = excess
    promises = PromiseFamily("μ", gaussian, 75.0) if assume else family(claim)
    trained = second[0].size
    events = []
    for candidate in chosen.values():
        each = alpha / len(chosen)
        slope = slope_for(*candidate.rates, runs, promises, trained=trained, alpha=each)
        events.append(replace(candidate.event, slope=slope))
    return events


def _improves(candidate: _Candidate, rival: _Candidate | None) -> bool:
    if rival is None:
        return True
    return candidate.score > rival.score + _MIN_IMPROVEMENT * abs(rival.score)


def _all_views(
    first: tuple[Outputs, Outputs], left: Outputs, right: Outputs
) -> Iterable[OutputView]:
    """Return plain views, then learned ones, without views that never vary."""
    plain = []
    for view in views(_joined(*first)):
        if not (_constant(view, left, right) and _constant(view, *first)):
            plain.append(view)
    for view in plain:
        if not view.nominal:
            yield view
    for view in plain:
        yield ratio(view, *first)
    if len(first[0].columns) > 1:
        yield naive(*first)
    if len(first[0].numbers) > 1:
        yield logistic(*first)


def _joined(left: Outputs, right: Outputs) -> Outputs:
    """Return the runs of both inputs together."""
    both = {}
    for name, column in left.columns.items():
        values = np.concatenate([column.values, right.values(name)])
        both[name] = OutputColumn(values, column.words)
    return Outputs(both, left.size + right.size)


def _constant(view: OutputView, left: Outputs, right: Outputs) -> bool:
    """Return whether a view has the same number for all outputs, or none for any."""
    return all_equal(view.of(left), view.of(right))


def _best_thresholds(
    view: OutputView, left: Outputs, right: Outputs, scores: tuple[Score, ...]
) -> Iterable[_Candidate]:
    """Return for each of the scores the best threshold of one view, in the best of four forms."""
    xs = _sorted_numbers(view, left)
    ys = _sorted_numbers(view, right)
    thresholds = _thresholds(np.concatenate([xs, ys]))
    if left.size == len(xs) and right.size == len(ys):
        # Without NaN, everything is at least the smallest.
        thresholds = thresholds[1:]
    if not len(thresholds):
        return
    x = len(xs) - np.searchsorted(xs, thresholds, "left").astype(np.float64)
    y = len(ys) - np.searchsorted(ys, thresholds, "left").astype(np.float64)
    n = left.size
    m = right.size
    # Counts of the form, whether it is the complement, whether the second input is likelier.
    forms = [
        ((x, n, y, m), False, False),
        ((y, m, x, n), False, True),
        ((n - x, n, m - y, m), True, False),
        ((m - y, m, n - x, n), True, True),
    ]
    for score in scores:
        rated = [score(*counts) for counts, _, _ in forms]
        best = int(np.argmax(rated))
        form, index = np.unravel_index(best, (len(forms), len(thresholds)))
        (hits, hit_runs, false_hits, false_runs), below, second = forms[form]
        rates = float(hits[index] / hit_runs), float(false_hits[index] / false_runs)
        event = OutputEvent(view, float(thresholds[index]), below, second)
        yield _Candidate(float(rated[form][index]), event, rates)


def _sorted_numbers(view: OutputView, outputs: Outputs) -> Floats:
    """Return the numbers of a view in order, without NaN."""
    values = view.of(outputs).astype(np.float64)
    return np.sort(values[~np.isnan(values)])


def _thresholds(pooled: Floats) -> Floats:
    """Choose thresholds: a few thousand ranks, and every rank near the ends."""
    ordered = np.sort(pooled)
    last = len(ordered) - 1
    ends = np.arange(300)
    ranks = np.concatenate([np.linspace(0, last, 3001), ends, last - ends])
    inside = ranks[(ranks >= 0) & (ranks <= last)].astype(np.int64)
    return np.unique(ordered[np.unique(inside)])


def _wilson(hits: Floats, runs: int, z: float) -> Floats:
    """Move frequencies by z standard errors (Wilson 1927): to choose by, not to judge by."""
    middle = hits + z * z / 2
    spread = np.sqrt(hits * (runs - hits) / runs + z * z / 4)
    return np.clip((middle + z * spread) / (runs + z * z), 1e-300, 1.0)


def _own_score(claim: Measure, assume: str | None) -> Score:
    """Rate counts by the bound they give on ε at the claim's δ, or on μ for the other measures."""
    pure = assume is None and isinstance(claim, PureDP | ApproxDP)
    delta = float(claim.delta) if isinstance(claim, ApproxDP) else 0.0

    def own(hits: Floats, runs: int, false_hits: Floats, false_runs: int) -> Floats:
        p = _wilson(hits, runs, -_DISTRUST)
        q = _wilson(false_hits, false_runs, _DISTRUST)
        if pure:
            return np.log(np.maximum(p - delta, 1e-300)) - np.log(q)
        return np.asarray(ndtri(p) - ndtri(np.minimum(q, 1 - 1e-16)))

    return own


def _excess_score(most: Ceiling) -> Score:
    """Rate counts by how many standard errors they lie above the ceiling.

    The ceiling is interpolated from a table, since thousands of counts are rated.
    """
    odds = np.linspace(-math.log(1e12), math.log(1e12), 1601)
    rates = 1 / (1 + np.exp(-odds))
    top = most(rates)
    slope = np.gradient(top, rates)

    def excess(hits: Floats, runs: int, false_hits: Floats, false_runs: int) -> Floats:
        p = (hits + 0.5) / (runs + 1)
        q = (false_hits + 0.5) / (false_runs + 1)
        at = np.log(q / (1 - q))
        of_p = p * (1 - p) / runs
        of_q = np.interp(at, odds, slope) ** 2 * q * (1 - q) / false_runs
        distance = p - np.interp(at, odds, top)
        return np.asarray(distance / np.sqrt(of_p + of_q))

    return excess
