"""Standing report: a stream that is open, its closing by the calendar, and its free views.

A day is due `late` days after its end (UTC), whether data came or not. `close` closes every day
that is due, in order. Nothing about it depends on a person: not which days close, not their number,
not the size of what is stored.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta

from ..engines.base import Engine
from ..errors import InvalidArgument, LedgerConflict
from ..ledger import Ledger, clock
from ..ledger.stream_entries import StreamLines
from ..noise.bits import Bits
from .calendar import read_day, read_kind, sums_of
from .closing import Closer, notes_by_period
from .plan import StreamPlan
from .seal import Seal
from .views import StreamTable

_LEAVES = "people who counted on {days} days no longer count"


class StreamReport:
    """A standing report, as `curator.stream(…)` opens it.

    Guarantee: each day has one published value, for ever; all views of it agree.
    Refuses: closing without the key file, closing early, a stopped stream, a ledger behind its key
    file.
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
        seal: Seal | None = None,
        bits: Bits | None = None,
    ) -> None:
        self._ledger = ledger
        self._engine = engine
        self._lines = lines
        self.plan = plan
        self._late = late
        self._fine = fine
        self._seal = seal
        self._bits = bits

    @property
    def name(self) -> str:
        """The name of the stream."""
        return self._lines.name

    @property
    def number(self) -> int:
        """The number of the charge in the ledger."""
        return self._lines.charge.number

    @property
    def stopped(self) -> bool:
        """Whether the stream was stopped."""
        current = self._ledger.stream(self.name)
        return current is not None and current.stop is not None

    @property
    def closed(self) -> int:
        """The number of days that are closed."""
        return len(self._totals())

    @property
    def due(self) -> int:
        """The number of days that are due by the clock, closed ones included."""
        today = clock.now().astimezone(UTC).date()
        ended = (today - self.plan.start).days - self._late
        return min(max(ended, 0), self.plan.periods)

    def closes_at(self, day: date | str) -> datetime:
        """Return the moment from which a day is due."""
        start = read_day(day, "day") + timedelta(days=1 + self._late)
        return datetime.combine(start, time(), UTC)

    def close(self) -> StreamTable:
        """Close every day that is due, and return them; an empty table if none was.

        Refuses: a stream without its key file (InvalidArgument), one that was stopped
        (LedgerConflict), a ledger behind its key file (LedgerCorrupt). A store that fails raises
        EngineFailure with one constant message; the day stays due.
        """
        closer = self._closer()
        if self.stopped:
            raise LedgerConflict(f"the stream {self.name} was stopped; what it published stays")
        due = self.due
        # Read before the ledger: a period that is closed meanwhile is then in the ledger too.
        last = closer.seal.last(closer.stream)
        known = notes_by_period(self._ledger.notes(self._lines, range(due + 1)))
        closed = sum(1 for notes in known.values() if notes.totals)
        closer.check_order(last, closed)
        first = closed
        for period in range(closed, due):
            day = self.plan.start + timedelta(days=period)
            closer.close(self._engine, day, period, known)
            # Read back: another closer may have been first with the seal or the period.
            known |= notes_by_period(self._ledger.notes(self._lines, range(period, period + 1)))
        totals = [known[period].totals for period in range(max(first, due))]
        sums = [(day, day + 1) for day in range(first, due)]
        return self._table("day", sums, totals)

    def draw_all(self) -> None:
        """Draw and seal all noise of a stream under pure ε; done by its opening."""
        self._closer().draw_all()

    def by(self, kind: str) -> StreamTable:
        """Return the published sums by day, week, month, quarter, year, or running total.

        The last one may be of fewer days than its name says: `to` is the last day in it.
        """
        totals = self._totals()
        sums = sums_of(read_kind(kind), self.plan.start, len(totals))
        return self._table(kind, sums, totals)

    def total(self) -> StreamTable:
        """Return the sum of all closed days."""
        totals = self._totals()
        sums = [(0, len(totals))] if totals else []
        return self._table("total", sums, totals)

    def between(self, first: date | str, last: date | str) -> StreamTable:
        """Return the sum of the days from one to another, both included.

        Refuses: days outside of the stream, and days that are not closed (InvalidArgument).
        """
        totals = self._totals()
        start = (read_day(first, "first") - self.plan.start).days
        end = (read_day(last, "last") - self.plan.start).days + 1
        if not 0 <= start < end <= len(totals):
            until = self.plan.start + timedelta(days=len(totals) - 1)
            raise InvalidArgument(
                f"{self.name} has closed days from {self.plan.start} to {until}; "
                f"{first} to {last} are not all among them"
            )
        return self._table("range", [(start, end)], totals)

    def stop(self, *, why: str) -> None:
        """Stop the stream for good. What was published stays; nothing is paid back."""
        if not isinstance(why, str) or not why.strip():
            raise InvalidArgument(
                "say why the stream is stopped: why='…'; it is kept in the ledger"
            )
        self._ledger.note(self._lines, "stop", None, "{}", why=why)

    def __repr__(self) -> str:
        state = "stopped" if self.stopped else f"{self.closed} of {self.plan.periods} days closed"
        return f"<stream {self.name} from {self.plan.start}: {state}>"

    def _closer(self) -> Closer:
        if self._seal is None:
            raise InvalidArgument(
                f"closing {self.name} needs its key file: seal=dp.Seal.load('{self.name}.key')"
            )
        question = self.plan.question
        noise = self.plan.noise
        return Closer(
            self._ledger, self._lines, question, noise, self._fine, seal=self._seal, bits=self._bits
        )

    def _totals(self) -> list[list[int]]:
        """Return the stored running totals of all closed days."""
        notes = notes_by_period(self._ledger.notes(self._lines, range(self.plan.periods)))
        return [notes[day].totals for day in sorted(notes) if notes[day].totals]

    def _table(
        self, kind: str, sums: Sequence[tuple[int, int]], totals: list[list[int]]
    ) -> StreamTable:
        question = self.plan.question
        note = ""
        if question.tracked:
            note = _LEAVES.format(days=question.counted.days)
        return StreamTable(
            self.name,
            kind,
            self.plan.start,
            question,
            self.plan.noise,
            self._fine,
            tuple(sums),
            totals,
            note,
        )
