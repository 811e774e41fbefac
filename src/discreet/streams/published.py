"""Published days of a stream and their views: by day, week, month, quarter, year, total or range.

The library reads them from a ledger (`StreamReport`), a client from a service (`RemoteStream`).
All views are computed from the stored running totals, so they cost nothing and add up.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta, tzinfo

from ..errors import InvalidArgument
from ..ledger import clock
from ..show.markup import element
from .calendar import read_day, read_kind, sums_of
from .plan import StreamPlan
from .views import StreamTable

_SHOWN_DAYS = 10
"""Days that a notebook shows."""
_LEAVES = "people who counted on {days} days no longer count"


def days_due(start: date, periods: int, late: int, zone: tzinfo) -> int:
    """Return the number of days of a stream that should be closed by now, closed ones included."""
    today = clock.now().astimezone(zone).date()
    ended = (today - start).days - late
    return min(max(ended, 0), periods)


def state_line(name: str, start: str, closed: str, *, stopped: bool) -> str:
    """Return a stream in one line; `closed` says how many of its days are closed."""
    if stopped:
        return f"<stream {name} from {start}: stopped>"
    return f"<stream {name} from {start}: {closed} days closed>"


class PublishedDays(ABC):
    """A stream with its plan and its closed days.

    A day closes `late` days after it has ended in the time zone `zone`. Stored totals are in
    1/`fine` of a step.

    Law: tests/streams/test_stream.py::TestAStream
    """

    def __init__(
        self, name: str, plan: StreamPlan, *, late: int, fine: int, zone: tzinfo = UTC
    ) -> None:
        self.name = name
        self.plan = plan
        self.late = late
        self.zone = zone
        self.fine = fine

    @property
    @abstractmethod
    def number(self) -> int:
        """The number of the charge in the ledger."""

    @property
    @abstractmethod
    def stopped(self) -> bool:
        """True if the stream was stopped."""

    @property
    @abstractmethod
    def closed(self) -> int:
        """The number of days that are closed."""

    @abstractmethod
    def totals(self, days: Sequence[int]) -> Mapping[int, Sequence[int]]:
        """Return for each number of closed days in `days` the running totals after them."""

    @property
    def due(self) -> int:
        """The number of days that should be closed by now, closed ones included."""
        return days_due(self.plan.start, self.plan.periods, self.late, self.zone)

    def closes_at(self, day: date | str) -> datetime:
        """Return the moment from which a day may be closed."""
        start = read_day(day, "day") + timedelta(days=1 + self.late)
        return datetime.combine(start, time(), self.zone)

    def by(self, kind: str, last: int | None = None) -> StreamTable:
        """Return the published sums by day, week, month, quarter, year, or running total.

        The last sum may have fewer days than its name says: the column `to` is its last day. With
        `last` only the last so many sums are shown.
        """
        sums = sums_of(read_kind(kind), self.plan.start, self.closed)
        return self._table(kind, sums if last is None else sums[-last:])

    def total(self) -> StreamTable:
        """Return the sum of all closed days."""
        closed = self.closed
        return self._table("total", [(0, closed)] if closed else [])

    def between(self, first: date | str, last: date | str) -> StreamTable:
        """Return the sum of the days from one to another, both included.

        Refuses: days outside of the stream, and days that are not closed (InvalidArgument).
        """
        closed = self.closed
        start = (read_day(first, "first") - self.plan.start).days
        end = (read_day(last, "last") - self.plan.start).days + 1
        if not 0 <= start < end <= closed:
            until = self.plan.start + timedelta(days=closed - 1)
            raise InvalidArgument(
                f"{self.name} has closed days from {self.plan.start} to {until}; "
                f"{first} to {last} are not all among them"
            )
        return self._table("range", [(start, end)])

    def __repr__(self) -> str:
        closed = f"{self.closed} of {self.plan.periods}"
        return state_line(self.name, str(self.plan.start), closed, stopped=self.stopped)

    def _repr_html_(self) -> str:
        """Return a table for notebooks: the last days, or the state where none has closed."""
        if not self.closed:
            return element("code", repr(self))
        return self.by("day", _SHOWN_DAYS)._repr_html_()

    def _table(self, kind: str, sums: Sequence[tuple[int, int]]) -> StreamTable:
        """Return the table of some sums, each a range of day numbers."""
        question = self.plan.question
        note = ""
        if question.tracked:
            note = _LEAVES.format(days=question.counted.days)
        # A sum is the difference of two running totals; before the first day all are 0.
        ends = sorted({end for pair in sums for end in pair} - {0})
        return StreamTable(
            self.name,
            kind,
            self.plan.start,
            question,
            self.plan.noise,
            self.fine,
            tuple(sums),
            self.totals(ends),
            note,
        )
