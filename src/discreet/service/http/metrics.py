"""Metrics in the text format of Prometheus: responses by status class; nothing about data or users."""

from __future__ import annotations

import threading
from collections import Counter


class Metrics:
    """Counters of one worker process since it started, in the text format of Prometheus.

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
        # Sorted under the lock: another thread may add a status class meanwhile.
        with self._lock:
            counts = sorted(self._counts.items())
        lines = [
            "# HELP discreet_responses_total Responses of this worker by class of status.",
            "# TYPE discreet_responses_total counter",
        ]
        for status, count in counts:
            lines.append(f'discreet_responses_total{{status="{status}"}} {count}')
        return "\n".join(lines) + "\n"
