"""Stream closer: a thread that closes the days of standing reports by the calendar.

It looks at each full minute, whether data came or not, and closes the days that are due. With
`catch_up` it closes one overdue day of each stream every so many seconds instead. The totals
that a day needs of its source are held back to a tick of the timing grid. A source, ledger or key
file that fails leaves the day due: the next minute tries again. The audit log has the name of the
stream and nothing of the failure. Several worker processes may close the same day: the first exact
totals (sealed) and the first published values in the ledger count, and all of them give these.

Guarantee: when a day closes follows from the clock, never from data.
Law: tests/service/test_streams.py::TestTheClock
"""

from __future__ import annotations

import threading
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotInTime
from contextlib import suppress
from queue import Empty, Queue

from ...curator.verbs.stream import find_stream
from ...engines.base import failure
from ...errors import DiscreetError, InvalidArgument, TooSlow
from ...ledger import clock
from ...streams.report import StreamReport
from ...streams.views import StreamTable
from ..http.audit_log import Log, place_of
from ..stores.datasets import DataSets

_MINUTE = 60.0
# Nothing is charged, so no entry has this name.
_WHO = "service"
_LATE = TooSlow("closing takes longer than this; it goes on, ask for the days a little later")


class StreamCloser:
    """Closes streams in one thread of a worker process, at full minutes and when a steward asks."""

    def __init__(self, datasets: DataSets, log: Log, catch_up: float = 0.0) -> None:
        self._datasets = datasets
        self._log = log
        # Seconds from one look to the next, each of which closes one day of a stream; 0 for all
        # days that are due, at full minutes.
        self._catch_up = catch_up
        self._asked: Queue[tuple[str, str, Future[StreamTable]] | None] = Queue()
        self._thread = threading.Thread(target=self._work, daemon=True)
        # Read once: the terms of a stream never change.
        self._reports: dict[tuple[str, str], StreamReport] = {}
        self._failed: set[tuple[str, str]] = set()

    def start(self) -> None:
        """Start the thread, if any data set has streams."""
        if self._datasets.with_streams:
            self._thread.start()

    def stop(self) -> None:
        """End the thread after its present round, and wait for that up to a minute.

        A round closes all days that are due; with `catch_up` one of each stream. A day that is not
        closed then stays due.
        """
        if self._thread.is_alive():
            self._asked.put(None)
            self._thread.join(_MINUTE)

    def close(self, dataset: str, name: str, seconds: float) -> StreamTable:
        """Close the days of one stream that are due and return them; wait at most `seconds`.

        Refuses: all that `StreamReport.close` refuses, and a data set without a key file. TooSlow
        says that closing goes on.
        """
        if dataset not in self._datasets.with_streams:
            raise InvalidArgument(
                f'no key file is configured for {dataset}: its steward writes seal = "{dataset}.key" '
                f"under [datasets.{dataset}]"
            )
        done: Future[StreamTable] = Future()
        self._asked.put((dataset, name, done))
        try:
            return done.result(seconds)
        except NotInTime:
            raise _LATE from None

    def close_due(self) -> None:
        """Close all days that are due, in all data sets with a key file.

        With `catch_up` close one day of each stream.
        """
        for dataset in self._datasets.with_streams:
            try:
                names = self._datasets.ledger(dataset).streams()
            except DiscreetError:
                self._note(dataset, "")
                continue
            for name in names:
                self._close_due(dataset, name)

    def _close_due(self, dataset: str, name: str) -> None:
        """Close the days of one stream that are due, or one of them with `catch_up`.

        A failure is logged once and leaves them due.
        """
        try:
            report = self._report(dataset, name)
            if report.due > report.closed and not report.stopped:
                self._close(dataset, name, 1 if self._catch_up else None)
            else:
                report.clear_key_file()
            self._failed.discard((dataset, name))
        except Exception:  # noqa: BLE001 this thread goes on to the next stream
            self._reports.pop((dataset, name), None)
            self._note(dataset, name)

    def _report(self, dataset: str, name: str) -> StreamReport:
        """Return the stream of a name, read from the ledger once."""
        key = (dataset, name)
        if key not in self._reports:
            curator = self._datasets.curator(dataset, _WHO)
            self._reports[key] = find_stream(curator.context, name)
        return self._reports[key]

    def _close(self, dataset: str, name: str, most: int | None = None) -> StreamTable:
        with self._datasets.reading_anew(dataset) as curator:
            return find_stream(curator.context, name).close(most)

    def _note(self, dataset: str, name: str) -> None:
        """Write a failure to the log once, not at each minute until it is mended."""
        if (dataset, name) not in self._failed:
            self._failed.add((dataset, name))
            self._log.write(f"stream {name} stays due", dataset=dataset, status=503)

    def _work(self) -> None:
        """Loop of the thread: close streams as stewards ask, and due days at each full minute."""
        wait = 0.0
        while True:
            with suppress(Empty):
                asked = self._asked.get(timeout=wait)
                if asked is None:
                    return
                self._answer(*asked)
                continue
            self.close_due()
            wait = self._catch_up or _MINUTE - clock.now().timestamp() % _MINUTE

    def _answer(self, dataset: str, name: str, done: Future[StreamTable]) -> None:
        """Close a stream for a steward, who waits for the result or the refusal in `done`."""
        try:
            done.set_result(self._close(dataset, name))
        except DiscreetError as refusal:
            done.set_exception(refusal)
        except Exception as broken:  # noqa: BLE001 its message may tell about data
            self._log.write(f"error {place_of(broken)}", dataset=dataset, status=500)
            done.set_exception(failure())
