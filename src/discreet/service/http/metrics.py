"""Counters for whoever watches the machine: requests by status class, jobs by state; nothing about data or people."""

from __future__ import annotations

import threading
from collections import Counter


class Metrics:
    """Counts of one worker since it started, in the text form that Prometheus reads.

    >>> from discreet.service.http.metrics import Metrics
    >>> metrics = Metrics()
    >>> metrics.count(200)
    >>> print(metrics.text())
    # HELP discreet_responses_total Responses of this worker by class of status.
    # TYPE discreet_responses_total counter
    discreet_responses_total{status="2xx"} 1
    <BLANKLINE>
    """

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._lock = threading.Lock()

    def count(self, status: int) -> None:
        """Count a response."""
        with self._lock:
            self._counts[f"{status // 100}xx"] += 1

    def text(self) -> str:
        """Write the counters."""
        with self._lock:
            counts = sorted(self._counts.items())
        lines = [
            f'discreet_responses_total{{status="{status}"}} {count}' for status, count in counts
        ]
        head = (
            "# HELP discreet_responses_total Responses of this worker by class of status.",
            "# TYPE discreet_responses_total counter",
        )
        return "\n".join((*head, *lines)) + "\n"
