"""Telemetry: a phone randomizes its own answer, sends the report, and the estimate with its intervals moves.

Open to all, touches no data set. The reports are kept by this worker in memory, without who sent them, and are gone
when it stops. Reports of other parameters, and reports no device could have sent, are refused.
"""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

from starlette.responses import Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from ... import local
from ...errors import InvalidArgument
from ...local.choice import Choice
from ...local.estimates.estimate import Estimate
from ...local.reports.collector import Collector
from ...local.reports.parameters import device_parameters
from ...privacy.measures import PureDP
from ...show.markup import Html
from ...show.scale import ChartScale
from ..http.authentication import address_of
from ..http.csrf import check_origin
from ..http.rate_limit import TokenBuckets, TooMany
from ..state import State
from .charts.chart import WIDTH, ChartFrame, along, circle, label, path, picture
from .lessons.lesson import Fact
from .page_request import PageRequest, for_all

METRIC = "how people came here"
OPTIONS = ("on foot", "by bicycle", "by bus or train", "by car")
EPSILON = 2
FORGED = 10
DEVICE = Path(local.__file__).parent / "device"
MOST_LINES = 500
PER_MINUTE = 120
MOST_REPORTS = 200_000


class Desk:
    """What one worker has collected; safe to use from several threads."""

    def __init__(self) -> None:
        self.mechanism = Choice(list(OPTIONS), PureDP(EPSILON))
        self._collector = Collector(self.mechanism, metric=METRIC, most=MOST_REPORTS)
        self._lock = threading.Lock()
        self._doors = TokenBuckets(PER_MINUTE)
        self._found: Estimate | None = None

    def take(self, address: str, lines: list[str]) -> None:
        """Take lines from an address, all or none; refuses too many, and those that are not of these parameters."""
        seconds = self._doors.wait(address)
        if seconds > 0:
            raise TooMany(seconds)
        if not 1 <= len(lines) <= MOST_LINES:
            raise InvalidArgument(f"send 1 to {MOST_LINES} reports at a time, one JSON line each")
        with self._lock:
            checked = Collector(self.mechanism, metric=METRIC)
            for line in lines:
                checked.add(line)
            for line in lines:
                self._collector.add(line)
            self._found = None

    def look(self) -> tuple[int, Estimate | None, float]:
        """Return how many reports there are, what they say, and how far ten forged ones could move it."""
        with self._lock:
            count = len(self._collector)
            if count and self._found is None:
                self._found = self._collector.estimate()
            return (
                count,
                self._found,
                self._collector.influence(forged=min(FORGED, count)) if count else 0.0,
            )


def telemetry_routes(state: State) -> list[BaseRoute]:
    """Return the routes of the page, of its reports, and of the scripts that run on a device."""
    desk = Desk()

    return [
        Route("/telemetry", for_all(state, lambda visit: _whole(visit, desk)), methods=["GET"]),
        Route(
            "/telemetry/shown", for_all(state, lambda visit: _part(visit, desk)), methods=["GET"]
        ),
        Route(
            "/telemetry/reports", for_all(state, lambda visit: _take(visit, desk)), methods=["POST"]
        ),
        Mount("/device", StaticFiles(directory=DEVICE), name="device"),
    ]


def _whole(visit: PageRequest, desk: Desk) -> Response:
    envelope = json.dumps(device_parameters(desk.mechanism, metric=METRIC), ensure_ascii=False)
    words: dict[str, Any] = {
        "options": OPTIONS,
        "epsilon": EPSILON,
        "envelope": envelope,
        **_show(desk),
    }
    return visit.show("telemetry.html", here="Telemetry", csrf_word=_secret(visit), **words)


def _part(visit: PageRequest, desk: Desk) -> Response:
    return visit.part("piece_telemetry.html", **_show(desk))


def _take(visit: PageRequest, desk: Desk) -> Response:
    """Take the reports of a device; nothing about the sender is kept or logged."""
    check_origin(visit.state.config, visit.request)
    desk.take(
        address_of(visit.request),
        [line for line in visit.form.get("reports", "").split("\n") if line],
    )
    return _part(visit, desk)


def _secret(visit: PageRequest) -> str:
    return "" if visit.session is None else visit.session.csrf


def _show(desk: Desk) -> dict[str, Any]:
    count, found, reach = desk.look()
    facts = (
        Fact(
            f"{count:,}".replace(",", "\u202f"),
            "reports so far; none of them says what anybody answered",
        ),
        Fact(f"ε = {EPSILON}", "what one report costs whoever sends it, whatever the server does"),
        Fact(
            f"{100 * reach:.2g} %" if count else "–",
            f"how far {min(FORGED, count)} forged reports can have moved an estimate, at most",
        ),
    )
    rows = (
        [] if found is None else [(name, *_row(found, at)) for at, name in enumerate(found.names)]
    )
    return {"picture": _picture(found), "facts": facts, "rows": rows}


def _row(found: Estimate, at: int) -> tuple[str, str]:
    between = f"{100 * found.low[at]:.1f} … {100 * found.high[at]:.1f} %"
    return f"{100 * found.values[at]:.1f} %", between


def _picture(found: Estimate | None) -> Html:
    """Draw a bar from end to end of each interval, and a dot at the estimate, where it can be drawn."""
    frame = ChartFrame(
        ChartScale(0, 100, 120, WIDTH - 16), ChartScale(0, len(OPTIONS), 20, 20 + 38 * len(OPTIONS))
    )
    parts = [along(frame.x, frame.y.end + 4, "per cent")]
    for at, name in enumerate(OPTIONS):
        parts.append(label(frame, (0, at + 0.5), name, anchor="end", dx=-10, dy=4))
        if found is not None:
            low, high = 100 * float(found.low[at]), 100 * float(found.high[at])
            value = min(max(100 * float(found.values[at]), 0.0), 100.0)
            bar = path(frame, [(low, at + 0.5), (high, at + 0.5)], "bar")
            parts += [bar, circle(frame, (value, at + 0.5), "dot", 5)]
    words = "For each way of travelling a dot at the estimated share, and a bar over the interval that holds the true one."
    return picture("What the reports say together", words, parts, height=int(frame.y.end) + 44)
