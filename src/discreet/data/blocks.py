"""Blocks of time: days, weeks, months, quarters or years of one table's column, numbered in order.

In a ledger with blocks the budget bounds what one person loses over all time. For that, a person
counts in a limited number of blocks. With `stays` these are so many blocks in a row, from the first
one with a row of that person. With `most` they are the first so many blocks with such a row. Rows
of the person in other blocks are left out of every answer (`discreet.engines.counted`).

No list of blocks is stored: new data fall into new blocks. Block boundaries are the midnights of
the column as its schema reads it: of a Date its days, of a Timestamp the days of UTC. UTC has no
daylight saving, so all days have 24 hours.

An interval of blocks is written by its first and last day, `2027-01-04/2027-01-31`. An end that
is open, because rows to come may lie there, is written `..`.

Law: tests/data/test_blocks.py::TestBlocksOfTime
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, timedelta
from math import inf
from typing import Literal, TypeAlias, get_args

from ..arithmetic.rational import one_of, whole
from ..errors import InvalidArgument, LedgerCorrupt
from ..frozen import fill, frozen
from .columns.temporal import EPOCH
from .unit import read_name

BlockPeriod: TypeAlias = Literal["day", "week", "month", "quarter", "year"]
Interval: TypeAlias = tuple[float, float]
"""First and last of some numbered blocks or times, both included; an open end is infinite."""
OPEN: Interval = (-inf, inf)
SECONDS_PER_DAY = 86_400
MAX_BLOCKS = 100_000
"""Most blocks that a person may count in; more is as good as no limit."""
_OPEN_END = ".."
_LAST_DAY = (date.max - EPOCH.date()).days
"""The last block of the calendar has no block after it: its end is written as an open one."""
_MONTHS = {"month": 1, "quarter": 3, "year": 12}


@frozen(init=False, repr=False)
class Blocks:
    """Blocks of one table by the calendar, and the most of them that one person counts in.

    >>> import discreet as dp
    >>> weeks = dp.Blocks("visits", "day", "week", stays=26)
    >>> print(weeks)
    weeks of visits.day; a person counts in 26 in a row, from the first
    >>> weeks.around("2027-01-06", "2027-01-20")
    '2027-01-04/2027-01-24'

    Refuses: another period, both or neither of `stays` and `most`, less than one block;
    InvalidArgument.
    """

    table: str
    column: str
    per: BlockPeriod
    stays: int | None
    most: int | None

    def __init__(
        self,
        table: str,
        column: str,
        per: BlockPeriod,
        *,
        stays: int | None = None,
        most: int | None = None,
    ) -> None:
        one_of(per, "the period of blocks", *get_args(BlockPeriod))
        limits = {}
        for name, limit in (("stays", stays), ("most", most)):
            if limit is not None:
                limits[name] = whole(limit, name, least=1, most=MAX_BLOCKS)
        if len(limits) != 1:
            raise InvalidArgument(
                "blocks need one limit: stays=26 counts a person in 26 blocks in a row, from the "
                "first, and most=26 in the first 26 that hold a row; say one of them"
            )
        table_name = read_name(table, "the table of the blocks")
        column_name = read_name(column, "the column of the blocks")
        stays_blocks = limits.get("stays")
        fill(self, table=table_name, column=column_name, per=per, stays=stays_blocks)
        fill(self, most=limits.get("most"))

    def holds(self, table: str) -> bool:
        """Return whether these are blocks of a table; case never matters, as in SQL."""
        return self.table.casefold() == table.casefold()

    def number(self, day: int) -> int:
        """Return the number of the block of a day, in days since 1970.

        >>> import discreet as dp
        >>> dp.Blocks("visits", "day", "month", stays=3).number(31)
        1
        """
        return block_number(day, self.per)

    def last_counted(self, numbers: Iterable[int]) -> int:
        """Return the number of the last block in which a person counts.

        `numbers` are those of the blocks with rows of that person, at least one, in any order.

        >>> import discreet as dp
        >>> dp.Blocks("visits", "day", "week", stays=4).last_counted([7, 9, 30])
        10
        >>> dp.Blocks("visits", "day", "week", most=2).last_counted([7, 9, 30])
        9
        """
        in_order = sorted(set(numbers))
        if self.stays is not None:
            return in_order[0] + self.stays - 1
        return in_order[: self.most][-1]

    def first_day(self, number: int) -> date:
        """Return the first day of a block.

        >>> import discreet as dp
        >>> dp.Blocks("visits", "day", "quarter", stays=1).first_day(1)
        datetime.date(1970, 4, 1)
        """
        return first_day(number, self.per)

    def label(self, interval: Interval) -> str | None:
        """Write an interval of blocks by its first and last day; None for all blocks."""
        if interval == OPEN:
            return None
        first, last = interval
        begin = _OPEN_END if first == -inf else self.first_day(int(first)).isoformat()
        end = _OPEN_END
        if last < self.number(_LAST_DAY):
            end = (self.first_day(int(last) + 1) - timedelta(days=1)).isoformat()
        return f"{begin}/{end}"

    def around(self, first: str | None = None, last: str | None = None) -> str | None:
        """Write the smallest interval of blocks that holds two days; a day left out is an open end.

        Refuses: text that is no ISO day, and a first day after the last.
        """
        begin = -inf if first is None else self.number(day_number(_read_day(first)))
        end = inf if last is None else self.number(day_number(_read_day(last)))
        if begin > end:
            raise InvalidArgument(f"the first day must not be after the last, got {first}, {last}")
        return self.label((begin, end))

    def read(self, part: object) -> Interval:
        """Read an interval of whole blocks, as `label` writes it; `part` is its text.

        >>> import discreet as dp
        >>> dp.Blocks("visits", "day", "week", stays=26).read("2027-01-05/2027-01-31")
        Traceback (most recent call last):
        ...
        discreet.errors.InvalidArgument: '2027-01-05/2027-01-31' is no interval of whole weeks of visits.day; ...

        Refuses: other text, and days that begin or end no block.
        """
        try:
            begin, end = str(part).split("/")
            first = (
                -inf if begin == _OPEN_END else self.number(day_number(date.fromisoformat(begin)))
            )
            last = inf if end == _OPEN_END else self.number(day_number(date.fromisoformat(end)))
            interval = (first, last)
            is_written_so = first <= last and self.label(interval) == part
        except (ValueError, OverflowError):
            is_written_so = False
        if not is_written_so:
            example = self.around("2027-01-04", "2027-01-04")
            raise InvalidArgument(
                f"{str(part)[:60]!r} is no interval of whole {self.per}s of {self.table}.{self.column}; "
                f"write its first and last day, such as {example}"
            )
        return interval

    def to_json(self) -> dict[str, object]:
        """Write the blocks as plain JSON types."""
        facts: dict[str, object] = {"table": self.table, "column": self.column, "per": self.per}
        # Only the limit that was given: the other one is None.
        name = "stays" if self.most is None else "most"
        facts[name] = self.stays or self.most
        return facts

    @staticmethod
    def from_json(data: object) -> Blocks:
        """Read blocks written by `to_json`."""
        if not isinstance(data, dict) or data.keys() - {"stays", "most"} != {
            "table",
            "column",
            "per",
        }:
            raise LedgerCorrupt("the blocks of this ledger cannot be read")
        return Blocks(**data)

    def __str__(self) -> str:
        rule = f"the first {self.most} that hold a row"
        if self.stays is not None:
            rule = f"{self.stays} in a row, from the first"
        return f"{self.per}s of {self.table}.{self.column}; a person counts in {rule}"

    def __repr__(self) -> str:
        limit = f"stays={self.stays}" if self.most is None else f"most={self.most}"
        return f"Blocks({self.table!r}, {self.column!r}, {self.per!r}, {limit})"


def _read_day(text: object) -> date:
    try:
        return date.fromisoformat(str(text))
    except ValueError:
        raise InvalidArgument(
            f"a day is written such as 2027-01-31, got {str(text)[:40]!r}"
        ) from None


def day_number(day: date) -> int:
    """Return a day as days since 1970."""
    return day.toordinal() - EPOCH.toordinal()


def block_number(day: int, per: BlockPeriod) -> int:
    """Return the number of the block of a day, in days since 1970; blocks in a row differ by 1."""
    if per == "day":
        return day
    if per == "week":
        # Day 0 was a Thursday: three days later, weeks begin on Mondays.
        return (day + 3) // 7
    when = EPOCH + timedelta(days=day)
    months = (when.year - EPOCH.year) * 12 + when.month - 1
    return months // _MONTHS[per]


def first_day(number: int, per: BlockPeriod) -> date:
    """Return the first day of the block with this number (`block_number`), of days, weeks, …."""
    if per == "day":
        return (EPOCH + timedelta(days=number)).date()
    if per == "week":
        return (EPOCH + timedelta(days=7 * number - 3)).date()
    years, month = divmod(number * _MONTHS[per], 12)
    return date(EPOCH.year + years, month + 1, 1)
