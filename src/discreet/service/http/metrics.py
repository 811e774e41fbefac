"""Metrics in the text format of Prometheus, added up over the workers; nothing about data or users.

Each worker writes its own counts into the service's store, as they are now: writing them twice is
harmless. It does so about once a second, and then reads the sums. `/metrics` shows the sums that
were last read, so it waits for nothing.

Guarantee: a charged request is counted at the tick that shows it, so no count tells how long it took.
Law: tests/service/test_metrics.py::test_what_ended_is_counted_at_its_tick
"""

from __future__ import annotations

import threading
from collections import Counter

from ..stores.store import ServiceStore

_HELP = {
    "discreet_responses_total": "Responses by class of status.",
    "discreet_jobs_total": "Charged requests that have ended, by verb and state.",
    "discreet_charges_total": "Charged requests that asked the store, by verb.",
    "discreet_refusals_total": "Refused and failed charged requests, by kind of error.",
    "discreet_workers_started_total": "Worker processes that were started.",
    "discreet_jobs_waiting": "Charged requests that wait for a thread.",
}
_UPSERT = (
    "INSERT INTO discreet_counts VALUES (?, ?, ?) "
    "ON CONFLICT (worker, sample) DO UPDATE SET value = excluded.value"
)
_TOTALS = "SELECT sample, SUM(value) FROM discreet_counts GROUP BY sample"
_WAITING = "SELECT COUNT(*) FROM discreet_jobs WHERE state = 'waiting'"


class Metrics:
    """Counters of one worker process, and the sums over all workers as last read.

    >>> from discreet.service.http.metrics import Metrics
    >>> metrics = Metrics()
    >>> metrics.count(200)
    >>> print(metrics.text())
    # HELP discreet_responses_total Responses by class of status.
    # TYPE discreet_responses_total counter
    discreet_responses_total{status="2xx"} 1
    # HELP discreet_workers_started_total Worker processes that were started.
    # TYPE discreet_workers_started_total counter
    discreet_workers_started_total 1
    <BLANKLINE>
    """

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter({"discreet_workers_started_total": 1})
        self._totals: dict[str, int] = {}
        self._written: dict[str, int] = {}
        self._lock = threading.Lock()

    def count(self, status: int) -> None:
        """Count a response."""
        self._add(f'discreet_responses_total{{status="{status // 100}xx"}}')

    def count_job(self, verb: str, state: str, *, charged: bool, refusal: str) -> None:
        """Count a charged request that has ended; `refusal` is the kind of its error, "" if none."""
        self._add(f'discreet_jobs_total{{verb="{verb}",state="{state}"}}')
        if charged:
            self._add(f'discreet_charges_total{{verb="{verb}"}}')
        if refusal:
            self._add(f'discreet_refusals_total{{kind="{refusal}"}}')

    def _add(self, sample: str) -> None:
        with self._lock:
            self._counts[sample] += 1

    def share(self, store: ServiceStore, worker: str) -> None:
        """Write this worker's counts to the store, and read the sums over all workers."""
        with self._lock:
            counts = dict(self._counts)
        for sample, value in counts.items():
            if self._written.get(sample) != value:
                store.ask(_UPSERT, worker, sample, value)
        totals = {str(sample): int(str(value)) for sample, value in store.ask(_TOTALS)}
        totals["discreet_jobs_waiting"] = int(str(store.ask(_WAITING)[0][0]))
        self._written = counts
        self._totals = totals

    def text(self) -> str:
        """Write the sums; before they were read for the first time, this worker's own counts."""
        with self._lock:
            shown = self._totals or dict(self._counts)
        lines = []
        for family, words in _HELP.items():
            samples = [sample for sample in sorted(shown) if sample.partition("{")[0] == family]
            if samples:
                kind = "counter" if family.endswith("_total") else "gauge"
                lines += [f"# HELP {family} {words}", f"# TYPE {family} {kind}"]
            lines += [f"{sample} {shown[sample]}" for sample in samples]
        return "\n".join(lines) + "\n"
