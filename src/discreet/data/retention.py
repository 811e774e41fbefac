"""Retention: how long the rows of a table count, by the calendar.

A row before the first day that is kept counts nowhere, even if it is still stored. So such rows may
be deleted from the file at any later time, and no answer shows when. The first day that is kept
follows from the present date alone:

    keeps          first kept day, on 2027-08-19
    90 days        2027-05-21
    26 weeks       2027-02-15, the Monday 26 weeks before this week's
    24 months      2025-08-01
    5 years        2022-01-01

Law: tests/data/test_blocks.py::TestRetention
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, date, datetime

from ..errors import InvalidArgument
from ..frozen import frozen
from .blocks import SECONDS_PER_DAY, BlockPeriod, block_number, day_number, first_day
from .columns.column import Column, Temporal, Timestamp

_LENGTH = re.compile(r"([1-9][0-9]{0,4}) (day|week|month|quarter|year)s?")
_EXAMPLE = 'write keeps=("day", "24 months")'


def utc_today() -> date:
    """Return today's date in UTC."""
    return datetime.now(UTC).date()


@frozen
class Retention:
    """Time for which rows count: the present calendar period and `count` before it, by a column."""

    column: str
    count: int
    per: BlockPeriod
    seconds: bool
    """Whether the column counts seconds (Timestamp), not days."""

    def first_day(self, today: date) -> date:
        """Return the first day that counts.

        >>> from datetime import date
        >>> from discreet.data.retention import Retention
        >>> Retention("day", 24, "month", seconds=False).first_day(date(2027, 8, 19))
        datetime.date(2025, 8, 1)
        """
        present = block_number(day_number(today), self.per)
        return first_day(present - self.count, self.per)

    def first_step(self, today: date) -> int:
        """Return the first time that counts, in days or seconds since 1970."""
        days = day_number(self.first_day(today))
        return days * SECONDS_PER_DAY if self.seconds else days

    def __str__(self) -> str:
        return f"{self.count} {self.per}s"


def read_keeps(keeps: object, columns: Mapping[str, Column]) -> Retention | None:
    """Read how long the rows of a table are kept.

    Refuses: anything but a column of time and a number of calendar periods; InvalidArgument.
    """
    if keeps is None or isinstance(keeps, Retention):
        return keeps
    match keeps:
        case (str(name), str(length)) | [str(name), str(length)]:
            column = columns.get(name)
            written = _LENGTH.fullmatch(length)
        case _:
            raise InvalidArgument(f"keeps is a column and a length, got {keeps!r}; {_EXAMPLE}")
    if not isinstance(column, Temporal):
        times = [other for other, kind in columns.items() if isinstance(kind, Temporal)]
        known = f"there is {', '.join(times)}" if times else "no such column is declared"
        raise InvalidArgument(
            f"rows are kept by a column that is declared as a Date or a Timestamp, got {name!r}; {known}"
        )
    if written is None:
        raise InvalidArgument(
            f"{length!r} is no number of days, weeks, months, quarters or years; {_EXAMPLE}"
        )
    count, per = written.groups()
    return Retention(name, int(count), per, isinstance(column, Timestamp))  # type: ignore[arg-type]
