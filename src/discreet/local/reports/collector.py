"""Collector on the server: takes reports of one metric and bounds the effect of forged ones."""

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

# Bits that a report may have if it is a whole number; larger ones are refused unread.
_MAX_REPORT_BITS = 1 << 16


class Collector:
    """Collect the reports of one metric, one JSON line each, and estimate from them.

    A line is taken only if it names this metric and the hash of these parameters, and if a device
    with these parameters could have sent it. So a forged report can do no more than the worst
    report of a device, and `influence` bounds how far any number of them moves an estimate. For
    RAPPOR that is only an estimate, for reports spread over cohorts (`Rappor.influence`). The
    sender is not kept. A rate limit for each sender is left to the server that receives the lines.

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

    Refuses: `InvalidArgument` for lines of other parameters, metrics or versions, and reports no
    device could have sent; `BudgetExceeded` for more than `most` reports. No refusal carries a
    report.
    Law: `tests/local/test_collect.py::test_a_collector_takes_what_a_device_sends_and_refuses_the_rest`
    """

    __slots__ = ("_reports", "mechanism", "metric", "most", "params")

    def __init__(self, mechanism: LocalMechanism, *, metric: str, most: int = 10_000_000) -> None:
        self.mechanism = mechanism
        self.metric = metric
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
            # Sketches hold only hashes of values, so they cannot list the values themselves.
            if candidates is None:
                raise InvalidArgument("give the candidates, a public list of values that may occur")
            return mechanism.estimate(self._reports, candidates, level=level)  # type: ignore[no-any-return]
        if isinstance(mechanism, WordRound):
            return mechanism.estimate(mechanism.family.read(self._reports), level=level)
        return mechanism.estimate(self._reports, level=level)  # type: ignore[no-any-return]

    def narrow(self) -> WordRound:
        """Return the next round of a search for words, by all reports taken.

        Refuses: `InvalidArgument` for other mechanisms, and for the last round.
        """
        if not isinstance(self.mechanism, WordRound):
            raise InvalidArgument("only words are found round by round; ask for the estimate")
        return self.mechanism.narrow(self.mechanism.family.read(self._reports))

    def influence(self, *, forged: int = 1) -> float:
        """Bound how far `forged` of the reports taken can have moved an estimate.

        RAPPOR has no such bound; `Rappor.influence` says what is returned then.
        """
        return influence_of(self.mechanism, n=max(1, len(self)), forged=forged)


def influence_of(mechanism: LocalMechanism, *, n: int, forged: int) -> float:
    """Bound how far `forged` of n reports can move any one estimate.

    BitFlip's bound holds but for one case in 10⁹, since honest reports are random there too. That
    of RAPPOR is an estimate.
    """
    if isinstance(mechanism, Histogram):
        greatest = 0.0
        for i in range(mechanism.tree.bins):
            moved = mechanism.influence(n=n, forged=forged, first=i, last=i + 1)
            greatest = max(greatest, moved)
        return greatest
    if isinstance(mechanism, WordRound):
        return candidates_law(mechanism.family).influence(n=n, forged=forged)
    return mechanism.influence(n=n, forged=forged)


def _check(mechanism: LocalMechanism, report: Any) -> None:  # noqa: ANN401 - of the wire
    """Refuse a report that no device with these parameters could have sent."""
    if isinstance(mechanism, Choice | Number | Histogram | WordRound):
        # `type`, not `isinstance`: JSON's true is an int to Python.
        if type(report) is not int or report < 0 or report.bit_length() > _MAX_REPORT_BITS:
            raise InvalidArgument("a report must be a whole number")
        if not np.all(_valid(mechanism, report)):
            raise InvalidArgument("this report could not come from a device with these parameters")
        return
    mechanism.read([report])


def _valid(mechanism: Choice | Number | Histogram | WordRound, report: int) -> Any:  # noqa: ANN401
    """Return whether a device could have sent the report."""
    if isinstance(mechanism, Choice | WordRound):
        return mechanism.family.valid([report])
    # Larger numbers do not fit into 64 bits, and no mechanism has so many outputs.
    fitting = min(report, 1 << 62)
    return mechanism.valid(np.array([fitting]))
