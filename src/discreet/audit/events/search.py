"""Look for the event that gives a mechanism away: every threshold on every view, in four forms.

Views are learned on the first half of the training runs and thresholds chosen on the second; the runs that judge the
event are never seen here. Four forms of an event: either input may be the likelier one, and the event or its complement
may be the rare one (for large ε the complement tells more).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import TypeAlias

import numpy as np

from ...arithmetic.special import ndtri
from ...frozen import frozen
from ...privacy.measures import ApproxDP, Measure, PureDP
from ..evidence.bounds import Floats
from ..evidence.ceiling import Ceiling, PromiseFamily, ceiling, family, gaussian
from ..evidence.counts import Evidence, slope_for
from .likelihood import logistic, naive, ratio
from .outputs import OutputColumn, Outputs
from .views import OutputView, views

Score: TypeAlias = Callable[[Floats, int, Floats, int], Floats]

_WORTH = 3.0
"""An event is judged for breaking the claim if it seemed to, by more than so many standard errors, while searching."""
_Z = 3.0
"""How many standard errors a training frequency is distrusted by: rare events must be clearly seen to be chosen."""


@frozen
class OutputEvent:
    """A set of outputs, fixed before it is judged: a view at least (or below) a threshold, likelier on one input."""

    view: OutputView
    threshold: float
    below: bool
    """The event is the complement: the view is below the threshold, or does not apply."""
    second: bool
    """The event is likelier on the second input."""
    slope: float

    def evidence(self, left: Outputs, right: Outputs) -> Evidence:
        """Count the event on both inputs."""
        x, y = self._hits(left), self._hits(right)
        if self.second:
            return Evidence(y, right.size, x, left.size, self.slope)
        return Evidence(x, left.size, y, right.size, self.slope)

    def _hits(self, outputs: Outputs) -> int:
        inside = int(np.count_nonzero(self.view.of(outputs) >= self.threshold))
        return outputs.size - inside if self.below else inside

    def __str__(self) -> str:
        name = self.view.name
        if self.view.word is None:
            return f"{name} {'<' if self.below else '≥'} {self.threshold:.6g}"
        listed = self.view.word(self.threshold)
        return f"{name.removeprefix('likelihood ratio of ')} {'is none of' if self.below else 'is one of'}: {listed}"


@frozen
class _Found:
    score: float
    view: OutputView
    threshold: float
    below: bool
    second: bool
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
    """Choose one or two events: the best for the claim's own number, and the one that exceeds the claim by most.

    `first` teaches the views, `second` chooses the thresholds; `runs` others will judge at level α.
    """
    own, over = _own_score(claim, assume), _over_score(ceiling(claim, assume=assume))
    kind = PromiseFamily("μ", gaussian, 75.0) if assume else family(claim)
    best: list[_Found | None] = [None, None]
    for view in _all_views(first, *second):
        for i, candidate in enumerate(_best_threshold(view, *second, (own, over))):
            rival = best[i]
            if rival is None or candidate.score > rival.score + 1e-3 * abs(rival.score):
                best[i] = candidate
    found = [f for i, f in enumerate(best) if f is not None and (i == 0 or f.score > _WORTH)]
    chosen = {(f.view.name, f.threshold, f.below, f.second): f for f in found}
    return [
        _fixed(f, kind, runs, trained=second[0].size, alpha=alpha / len(chosen))
        for f in chosen.values()
    ]


def _fixed(
    found: _Found, kind: PromiseFamily, runs: int, *, trained: int, alpha: float
) -> OutputEvent:
    slope = slope_for(*found.rates, runs, kind, trained=trained, alpha=alpha)
    return OutputEvent(found.view, found.threshold, found.below, found.second, slope)


def _all_views(
    first: tuple[Outputs, Outputs], left: Outputs, right: Outputs
) -> Iterable[OutputView]:
    """Return plain views, then learned ones, leaving out what never varies."""
    plain = [
        v
        for v in views(_joined(*first))
        if not (_constant(v, left, right) and _constant(v, *first))
    ]
    yield from (v for v in plain if not v.nominal)
    yield from (ratio(v, *first) for v in plain)
    if len(first[0].columns) > 1:
        yield naive(*first)
    if len(first[0].numbers) > 1:
        yield logistic(*first)


def _joined(left: Outputs, right: Outputs) -> Outputs:
    both = {
        n: OutputColumn(np.concatenate([c.values, right.columns[n].values]), c.words)
        for n, c in left.columns.items()
    }
    return Outputs(both, left.size + right.size)


def _constant(view: OutputView, left: Outputs, right: Outputs) -> bool:
    values = np.concatenate([view.of(left), view.of(right)])
    return bool(np.all(values == values[0])) or bool(np.all(np.isnan(values)))


def _best_threshold(
    view: OutputView, left: Outputs, right: Outputs, scores: tuple[Score, ...]
) -> Iterable[_Found]:
    """Score every threshold of one view in four forms, once for each of the scores."""
    xs, ys = (np.sort(_known(view.of(o).astype(np.float64))) for o in (left, right))
    cuts = _cuts(np.concatenate([xs, ys]))
    if left.size == len(xs) and right.size == len(ys):
        cuts = cuts[1:]  # everything is above the smallest
    if not len(cuts):
        return
    x = len(xs) - np.searchsorted(xs, cuts, "left").astype(np.float64)
    y = len(ys) - np.searchsorted(ys, cuts, "left").astype(np.float64)
    n, m = left.size, right.size
    forms = [((x, n, y, m), False, False), ((y, m, x, n), False, True)]
    forms += [((n - x, n, m - y, m), True, False), ((m - y, m, n - x, n), True, True)]
    for score in scores:
        rated = [score(*counts) for counts, _, _ in forms]
        form, cut = np.unravel_index(int(np.argmax(rated)), (len(forms), len(cuts)))
        (a, k, b, j), below, second = forms[form]
        rates = float(a[cut] / k), float(b[cut] / j)
        yield _Found(float(rated[form][cut]), view, float(cuts[cut]), below, second, rates)


def _known(values: Floats) -> Floats:
    return values[~np.isnan(values)]


def _cuts(pooled: Floats) -> Floats:
    """Choose thresholds: a few thousand ranks, and every rank near the ends."""
    pooled = np.sort(pooled)
    ranks = np.concatenate(
        [np.linspace(0, len(pooled) - 1, 3001), np.arange(300), len(pooled) - 1 - np.arange(300)]
    )
    ranks = np.unique(ranks[(ranks >= 0) & (ranks < len(pooled))].astype(np.int64))
    return np.unique(pooled[ranks])


def _wilson(hits: Floats, runs: int, z: float) -> Floats:
    """Move frequencies by z standard errors (Wilson 1927): good enough to choose by, not to judge by."""
    middle = hits + z * z / 2
    return np.clip(
        (middle + z * np.sqrt(hits * (runs - hits) / runs + z * z / 4)) / (runs + z * z),
        1e-300,
        1.0,
    )


def _own_score(claim: Measure, assume: str | None) -> Score:
    """Rate counts by the bound they give on ε at the claim's δ, or on μ for the other measures."""
    pure = assume is None and isinstance(claim, PureDP | ApproxDP)
    delta = float(claim.delta) if isinstance(claim, ApproxDP) else 0.0

    def own(hits: Floats, runs: int, false_hits: Floats, false_runs: int) -> Floats:
        p, q = _wilson(hits, runs, -_Z), _wilson(false_hits, false_runs, _Z)
        if pure:
            return np.log(np.maximum(p - delta, 1e-300)) - np.log(q)
        return np.asarray(ndtri(p) - ndtri(np.minimum(q, 1 - 1e-16)))

    return own


def _over_score(most: Ceiling) -> Score:
    """Rate counts by how many standard errors they lie above the ceiling, which is read from a table."""
    odds = np.linspace(-math.log(1e12), math.log(1e12), 1601)
    rates = 1 / (1 + np.exp(-odds))
    top = most(rates)
    steep = np.gradient(top, rates)

    def over(hits: Floats, runs: int, false_hits: Floats, false_runs: int) -> Floats:
        p, q = (hits + 0.5) / (runs + 1), (false_hits + 0.5) / (false_runs + 1)
        at = np.log(q / (1 - q))
        spread = p * (1 - p) / runs + np.interp(at, odds, steep) ** 2 * q * (1 - q) / false_runs
        return np.asarray((p - np.interp(at, odds, top)) / np.sqrt(spread))

    return over
