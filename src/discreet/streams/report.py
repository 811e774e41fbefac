"""Standing report: an open stream in a ledger, which closes its days by the calendar.

A day is due `late` days after its end in the stream's time zone, whether data came or not. `close`
closes every day that is due, in order. Which days close, how many, and the size of what is stored
do not depend on the data.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from datetime import UTC, timedelta, tzinfo
from typing import Any

from ..arithmetic.rational import whole
from ..engines.base import Engine
from ..errors import InvalidArgument, LedgerConflict
from ..ledger import Ledger
from ..ledger.stream_entries import StreamLines, body_terms
from ..noise.bits import Bits
from .closing import Closer, read_totals, stored_notes
from .plan import StreamPlan
from .published import PublishedDays, days_due
from .seal import Seal
from .views import StreamTable

_KEPT_DAYS = 7
"""Days after the end of a stream for which its key file keeps what closings need."""


class StreamReport(PublishedDays):
    """A standing report, as `curator.stream(…)` opens it.

    Guarantee: each day has one published value, for ever; all views of it agree.
    Refuses: closing without the key file, a stopped stream, a ledger behind its key file. A day
    that is not due stays open.
    Law: tests/streams/test_stream.py::TestAStream
    """

    def __init__(
        self,
        ledger: Ledger,
        engine: Engine,
        lines: StreamLines,
        plan: StreamPlan,
        *,
        late: int,
        fine: int,
        zone: tzinfo = UTC,
        seal: Seal | None = None,
        bits: Bits | None = None,
        held: Callable[[], AbstractContextManager[object]] = nullcontext,
    ) -> None:
        """Keep `lines`, the stream's charge and state in the ledger, and how its days close.

        `late`, `fine` and `zone` are those of `PublishedDays`. `held` surrounds each read of the
        store, so that it ends at a tick of the timing grid. Without a `seal` no day can close.
        """
        super().__init__(lines.name, plan, late=late, fine=fine, zone=zone)
        self._ledger = ledger
        self._engine = engine
        self._lines = lines
        self._seal = seal
        self._bits = bits
        self._held = held
        self._closed = 0

    @property
    def number(self) -> int:
        """The number of the charge in the ledger."""
        return self._lines.charge.number

    @property
    def terms(self) -> dict[str, Any]:
        """The terms as the ledger has them, with strategy and noise."""
        return body_terms(self._lines.body)

    @property
    def stopped(self) -> bool:
        """True if the stream was stopped."""
        current = self._ledger.stream(self.name)
        return current is not None and current.stop is not None

    @property
    def closed(self) -> int:
        """The number of days that are closed."""
        self._closed = self._ledger.closed_periods(self._lines, self._closed)
        return self._closed

    def close(self, most: int | None = None) -> StreamTable:
        """Close every day that is due, and return them; an empty table if none was.

        With `most` so many days are closed at most, the oldest first.

        Refuses: a stream without its key file (InvalidArgument), one that was stopped
        (LedgerConflict), a ledger behind its key file (LedgerCorrupt). A store that fails raises
        EngineFailure with one constant message; the day stays due.
        """
        closer = self._closer()
        self.clear_key_file()
        if self.stopped:
            raise LedgerConflict(f"the stream {self.name} was stopped; what it published stays")
        # Read before the ledger: a period that is closed meanwhile is then in the ledger too.
        last = closer.seal.last(closer.stream)
        first = self.closed
        closer.check_order(last, first)
        # A clock that was set back has fewer days due than are closed.
        due = max(first, self.due)
        if most is not None:
            due = min(due, first + whole(most, "most", least=0))
        for period in range(first, due):
            closer.close(self._engine, self.plan.start + timedelta(days=period), period)
        return self._table("day", [(day, day + 1) for day in range(first, due)])

    def close_all(self) -> None:
        """Close all days, whatever the clock says: of a rehearsal, whose rows are made up."""
        closer = self._closer()
        for period in range(self.plan.periods):
            closer.close(self._engine, self.plan.start + timedelta(days=period), period)

    def clear_key_file(self) -> None:
        """Remove from the key file what only later days would need, if none can close any more."""
        periods = self.plan.periods
        kept = periods + _KEPT_DAYS
        # Days later, so that no other process is still closing the last day.
        past = days_due(self.plan.start, kept, self.late, self.zone) == kept
        if self.stopped or (past and self.closed == periods):
            closer = self._closer()
            closer.seal.clear(closer.stream)

    def draw_all(self) -> None:
        """Draw all noise of a stream under a pure ε and store it encrypted, at its opening."""
        self._closer().draw_all()

    def stop(self, *, why: str) -> None:
        """Stop the stream for good. What was published stays; nothing is paid back."""
        self._ledger.stop_stream(self.name, why=why)

    def _closer(self) -> Closer:
        """Return the value that closes days; refuse a report without its key file."""
        if self._seal is None:
            raise InvalidArgument(
                f"closing {self.name} needs its key file: seal=dp.Seal.load('{self.name}.key')"
            )
        question = self.plan.question
        noise = self.plan.noise
        return Closer(
            self._ledger,
            self._lines,
            question,
            noise,
            self.fine,
            seal=self._seal,
            bits=self._bits,
            held=self._held,
        )

    def totals(self, days: Sequence[int]) -> dict[int, list[int]]:
        """Return the stored running totals after so many days, each of them closed."""
        stored = stored_notes(self._ledger, self._lines, [day - 1 for day in days])
        size = len(self.plan.question.cells)
        found = {}
        for (kind, period), body in stored.items():
            if kind == "period":
                found[period + 1] = read_totals(body, size).tolist()
        return found
