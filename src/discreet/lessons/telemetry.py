"""Telemetry demo of local differential privacy: a phone randomizes its answer and sends only the report.

The page shows the estimate with its confidence intervals. It is open to all and touches no data set. One worker
keeps the reports in memory, without their senders, until it stops. It refuses reports of other parameters, and
reports that no device could have sent.
"""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

from starlette.responses import Response
from starlette.routing import BaseRoute, Mount
from starlette.staticfiles import StaticFiles

from .. import local
from ..errors import BudgetExceeded, InvalidArgument
from ..local.choice import Choice
from ..local.estimates.estimate import Estimate
from ..local.reports.collector import Collector
from ..local.reports.parameters import device_parameters
from ..privacy.measures import PureDP
from ..service.http.authentication import address_of
from ..service.http.csrf import check_origin
from ..service.http.rate_limit import TokenBuckets, TooMany
from ..service.pages.charts.chart import WIDTH, ChartFrame, along, circle, label, path, picture
from ..service.pages.page_request import PageRequest, for_all, table_routes
from ..service.state import State
from ..show.markup import Html
from ..show.scale import ChartScale
from .lesson import Fact

METRIC = "how people came here"
OPTIONS = ("on foot", "by bicycle", "by bus or train", "by car")
EPSILON = 2
FORGED = 10
"""Forged reports whose influence on the estimate the page states."""

DEVICE = Path(local.__file__).parent / "device"
MAX_LINES = 500
PER_MINUTE = 120
MAX_REPORTS = 200_000
"""Reports that one worker keeps, so that nobody fills its memory."""


class ReportCollector:
    """Collector of one worker with its current estimate; may be used from several threads."""

    def __init__(self) -> None:
        self.mechanism = Choice(list(OPTIONS), PureDP(EPSILON))
        self._collector = Collector(self.mechanism, metric=METRIC, most=MAX_REPORTS)
        self._lock = threading.Lock()
        self._limit = TokenBuckets(PER_MINUTE)
        self._estimate: Estimate | None = None

    def take(self, address: str, lines: list[str]) -> None:
        """Add the reports of an address, all or none.

        Refuses: too many requests, no or too many reports at a time, reports of other parameters,
        and more reports than are kept.
        """
        seconds = self._limit.wait(address)
        if seconds > 0:
            raise TooMany(seconds)
        if not 1 <= len(lines) <= MAX_LINES:
            raise InvalidArgument(f"send 1 to {MAX_LINES} reports at a time, one JSON line each")
        with self._lock:
            # A collector of their own refuses a bad report before any of them is added.
            checked = Collector(self.mechanism, metric=METRIC)
            for line in lines:
                checked.add(line)
            left = self._collector.most - len(self._collector)
            if len(lines) > left:
                raise BudgetExceeded(
                    f"this page takes {left} more reports; send fewer", asked=len(lines), left=left
                )
            for line in lines:
                self._collector.add(line)
            self._estimate = None

    def look(self) -> tuple[int, Estimate | None, float]:
        """Return the number of reports, their estimate, and how far forged ones can have moved it.

        FORGED of the reports count as forged, or all if there are fewer.
        """
        with self._lock:
            count = len(self._collector)
            if count == 0:
                return 0, self._estimate, 0.0
            # Kept until the next report: every visitor of the page sees the same estimate.
            if self._estimate is None:
                self._estimate = self._collector.estimate()
            influence = self._collector.influence(forged=min(FORGED, count))
            return count, self._estimate, influence


def telemetry_routes(state: State) -> list[BaseRoute]:
    """Return the routes of the page, of its reports, and of the scripts that run on a device."""
    collector = ReportCollector()

    def show(visit: PageRequest) -> Response:
        return _show_page(visit, collector)

    def show_part(visit: PageRequest) -> Response:
        return _show_part(visit, collector)

    def take(visit: PageRequest) -> Response:
        return _take(visit, collector)

    return [
        *table_routes(
            state,
            for_all,
            ("GET", "/telemetry", show),
            ("GET", "/telemetry/shown", show_part),
            ("POST", "/telemetry/reports", take),
        ),
        Mount("/device", StaticFiles(directory=DEVICE), name="device"),
    ]


def _show_page(visit: PageRequest, collector: ReportCollector) -> Response:
    """Show the whole page with the parameters that the device needs."""
    parameters = device_parameters(collector.mechanism, metric=METRIC)
    return visit.show(
        "telemetry.html",
        here="Telemetry",
        csrf_word="" if visit.session is None else visit.session.csrf,
        options=OPTIONS,
        epsilon=EPSILON,
        envelope=json.dumps(parameters, ensure_ascii=False),
        **_shown(collector),
    )


def _show_part(visit: PageRequest, collector: ReportCollector) -> Response:
    return visit.part("piece_telemetry.html", **_shown(collector))


def _take(visit: PageRequest, collector: ReportCollector) -> Response:
    """Add the reports of a device; nothing about the sender is kept or logged."""
    # Visitors without a session have no CSRF token, so the origin is checked for all.
    check_origin(visit.state.config, visit.request)
    lines = visit.form.get("reports", "").split("\n")
    reports = [line for line in lines if line]
    collector.take(address_of(visit.request), reports)
    return _show_part(visit, collector)


def _shown(collector: ReportCollector) -> dict[str, Any]:
    """Return the values of the template that change with every report."""
    count, estimate, influence = collector.look()
    count_text = f"{count:,}".replace(",", "\u202f")
    influence_text = f"{100 * influence:.2g} %" if count else "–"
    forged = min(FORGED, count)
    facts = (
        Fact(count_text, "reports so far; none of them says what anybody answered"),
        Fact(f"ε = {EPSILON}", "what one report costs whoever sends it, whatever the server does"),
        Fact(
            influence_text,
            f"how far {forged} forged reports can have moved an estimate, at most",
        ),
    )
    rows = []
    if estimate is not None:
        for at, name in enumerate(estimate.names):
            value, interval = _row(estimate, at)
            rows.append((name, value, interval))
    return {"picture": _picture(estimate), "facts": facts, "rows": rows}


def _row(estimate: Estimate, at: int) -> tuple[str, str]:
    interval = f"{100 * estimate.low[at]:.1f} … {100 * estimate.high[at]:.1f} %"
    return f"{100 * estimate.values[at]:.1f} %", interval


def _picture(estimate: Estimate | None) -> Html:
    """Draw for each option a bar over its confidence interval, and a dot at the estimate."""
    options = len(OPTIONS)
    x = ChartScale(0, 100, 120, WIDTH - 16)
    y = ChartScale(0, options, 20, 20 + 38 * options)
    frame = ChartFrame(x, y)
    parts = [along(frame.x, frame.y.end + 4, "per cent")]
    for at, name in enumerate(OPTIONS):
        middle = at + 0.5
        parts.append(label(frame, (0, middle), name, anchor="end", dx=-10, dy=4))
        if estimate is None:
            continue
        low = 100 * float(estimate.low[at])
        high = 100 * float(estimate.high[at])
        # An estimate may lie outside of 0 to 100 per cent; its dot stays in the picture.
        value = min(max(100 * float(estimate.values[at]), 0.0), 100.0)
        parts.append(path(frame, [(low, middle), (high, middle)], "bar"))
        parts.append(circle(frame, (value, middle), "dot", 5))
    description = (
        "For each way of travelling a dot at the estimated share, "
        "and a bar over the interval that holds the true one."
    )
    height = int(frame.y.end) + 44
    return picture("What the reports say together", description, parts, height=height)
