"""The server's side: take reports of one metric, refuse all others, and say what forged ones can do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...arithmetic.rational import whole
from ...errors import BudgetExceeded, InvalidArgument
from ..choice import Choice
from ..estimates.estimate import Estimate
from ..histogram import Histogram
from ..number import Number
from ..search.oracle import candidates_law
from ..search.words import WordRound
from .catalogue import LocalMechanism, needs_candidates
from .parameters import device_parameters
from .report import unpack

_LONGEST = 1 << 16  # bits of a report that is a whole number


class Collector:
    """Collect the reports of one metric, one JSON line each, and estimate from what was taken.

    A line is taken only if it names this metric and the hash of these parameters, and if a device with these parameters
    could have sent it. So a forged report can do no more than the worst report of a device: `influence` bounds how far
    any number of them moves an estimate (for RAPPOR about, if they are spread over cohorts; see there). Nothing is kept
    of who sent it; how often one sender may report is for whoever receives the lines to limit.

    >>> from discreet.local import Collector
    >>> from discreet.local import Choice
    >>> from discreet.local.reports.report import LocalReport, pack
    >>> from discreet.privacy import PureDP
    >>> browser = Choice(["chrome", "firefox"], PureDP(2))
    >>> collected = Collector(browser, metric="browser")
    >>> for name in ["chrome"] * 30 + ["firefox"] * 10:
    ...     collected.add(pack(LocalReport("browser", collected.params, browser.randomize(name))))
    >>> collected.estimate().n, round(collected.influence(forged=4), 2)
    (40, 0.13)

    Refuses lines of other parameters, metrics or versions, reports no device could have sent, and more than `most`
    reports; no refusal carries a report.
    """

    __slots__ = ("_reports", "mechanism", "metric", "most", "params")

    def __init__(self, mechanism: LocalMechanism, *, metric: str, most: int = 10_000_000) -> None:
        self.mechanism, self.metric = mechanism, metric
        if not isinstance(mechanism, LocalMechanism):
            raise InvalidArgument("a collector needs a mechanism of discreet.local")
        self.params = device_parameters(mechanism, metric=metric)["params"]
        self.most = whole(most, "most", least=1)
        self._reports: list[Any] = []

    def add(self, line: str | bytes) -> None:
        """Take one line, or refuse it."""
        report = unpack(line, params=self.params, metric=self.metric).report
        _check(self.mechanism, report)
        if len(self._reports) >= self.most:
            raise BudgetExceeded(
                f"this collector takes {self.most} reports and has them", asked=1, left=0
            )
        self._reports.append(report)

    def __len__(self) -> int:
        return len(self._reports)

    def estimate(self, candidates: Sequence[str] | None = None, *, level: float = 0.95) -> Estimate:
        """Estimate from all reports taken; sketches and RAPPOR need the public `candidates`."""
        mechanism: Any = self.mechanism
        if needs_candidates(self.mechanism):
            if candidates is None:
                raise InvalidArgument("give the candidates, a public list of values that may occur")
            return mechanism.estimate(self._reports, candidates, level=level)  # type: ignore[no-any-return]
        if isinstance(mechanism, WordRound):
            return mechanism.estimate(mechanism.family.read(self._reports), level=level)
        return mechanism.estimate(self._reports, level=level)  # type: ignore[no-any-return]

    def narrow(self) -> WordRound:
        """Return the next round of a search for words, by all reports taken.

        Refuses what is no round of words, and the last one.
        """
        if not isinstance(self.mechanism, WordRound):
            raise InvalidArgument("only words are found round by round; ask for the estimate")
        return self.mechanism.narrow(self.mechanism.family.read(self._reports))

    def influence(self, *, forged: int = 1) -> float:
        """Bound how far `forged` of the reports taken can have moved an estimate, whatever they say.

        RAPPOR has no such bound; see `Rappor.influence` for what is returned then.
        """
        return influence_of(self.mechanism, n=max(1, len(self)), forged=forged)


def influence_of(mechanism: LocalMechanism, *, n: int, forged: int) -> float:
    """Bound how far `forged` of n reports can move any one estimate of a mechanism; for RAPPOR, about."""
    if isinstance(mechanism, Histogram):
        bins = range(mechanism.tree.bins)
        return max(mechanism.influence(n=n, forged=forged, first=i, last=i + 1) for i in bins)
    if isinstance(mechanism, WordRound):
        return candidates_law(mechanism.family).influence(n=n, forged=forged)
    return mechanism.influence(n=n, forged=forged)


def _check(mechanism: LocalMechanism, report: Any) -> None:  # noqa: ANN401 - what came over the wire
    """Refuse a report that no device with these parameters could have sent."""
    if isinstance(mechanism, Choice | Number | Histogram | WordRound):
        if type(report) is not int or report < 0 or report.bit_length() > _LONGEST:
            raise InvalidArgument("a report must be a whole number")
        valid = _valid(mechanism, report)
        if not np.all(valid):
            raise InvalidArgument("this report could not come from a device with these parameters")
        return
    mechanism.read([report])


def _valid(mechanism: Choice | Number | Histogram | WordRound, report: int) -> Any:  # noqa: ANN401
    if isinstance(mechanism, Choice | WordRound):
        return mechanism.family.valid([report])
    return mechanism.valid(np.array([min(report, 1 << 62)]))
