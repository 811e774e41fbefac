"""Time columns: days, and seconds of UTC, clipped to public bounds.

`Date` counts days and `Timestamp` seconds, both since 1970. A value that cannot be read is NULL or
the column's default.

Law: tests/data/test_columns.py::TestOrdered, tests/data/test_cell.py::TestTimes
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, datetime, timedelta
from fractions import Fraction
from typing import ClassVar, Literal, TypeAlias

from ...errors import InvalidArgument
from ...frozen import field, fill, frozen
from .cell import read_date, read_timestamp
from .declared import (
    DeclaredColumn,
    Ends,
    Outside,
    SteppedColumn,
    check_default,
    check_nulls,
    check_order,
    check_outside,
)
from .label import check_label
from .spelling import MissingMarks, check_null, is_missing
from .text_format import Format, check_format, iso_text

EPOCH = datetime(1970, 1, 1)
"""Origin of the steps of time: days for a Date, seconds for a Timestamp."""
SECOND = timedelta(seconds=1)
_EXAMPLES = {
    "Date": "Date('2024-01-01', '2024-12-31')",
    "Timestamp": "Timestamp('2024-01-01T00:00:00', '2024-12-31T23:59:59')",
}


@frozen(init=False, repr=False)
class Date(DeclaredColumn, SteppedColumn[date]):
    """Day column from `low` to `high`: other days are clipped. Steps are days since 1970.

    `format="%d/%m/%Y"` says how days are written in text, instead of ISO; cells written otherwise
    are then unreadable. A list of formats reads each of them; two that fit the same cells are
    refused. `outside="null"` makes days beyond the bounds NULL instead of clipping them;
    `null=["n/a"]` lists texts that are NULL.

    >>> import discreet as dp
    >>> joined = dp.Date("2024-01-01", "2024-12-31")
    >>> joined.width(), joined.read("2031-05-01"), joined.steps("2024-01-02"), joined.at(19724)
    (365, datetime.date(2024, 12, 31), 19724, datetime.date(2024, 1, 2))

    Refuses: low ≥ high, text that is no ISO day, bounds with a time of day; InvalidArgument.
    """

    kind: ClassVar[Literal["date"]] = "date"
    step: ClassVar[Fraction] = Fraction(1)
    low: date
    high: date
    default: date | None
    null_key: bool
    format: Format | None
    null: MissingMarks
    outside: Outside
    label: str | None = field(compare=False)

    def __init__(
        self,
        low: date | str,
        high: date | str,
        *,
        default: date | str | None = None,
        null_key: bool = False,
        format: str | Iterable[str] | None = None,  # noqa: A002
        null: Iterable[str] | None = None,
        outside: Outside = "clip",
        label: str | None = None,
    ) -> None:
        exact_low = _read_day(low, "low")
        exact_high = _read_day(high, "high")
        exact_default = None if default is None else _read_day(default, "default")
        _declare(
            self,
            exact_low,
            exact_high,
            exact_default,
            null_key=null_key,
            format=format,
            null=null,
            outside=outside,
            label=label,
        )

    @property
    def ends(self) -> Ends:
        """The first and the last day, in days since 1970."""
        return _days(self.low), _days(self.high)

    def steps(self, value: object) -> int | None:
        """Read a stored value as days since 1970; None is NULL."""
        stored = None
        if not is_missing(value, self.null):
            stored = read_date(iso_text(value, self.format))
        counted = _counted(self, stored)
        if counted is None:
            return None
        return _days(counted)

    def at(self, steps: int) -> date:
        """Turn days since 1970 back into a day."""
        return EPOCH.date() + timedelta(days=steps)


@frozen(init=False, repr=False)
class Timestamp(DeclaredColumn, SteppedColumn[datetime]):
    """Time column from `low` to `high` in UTC, cut to whole seconds; other times are clipped.

    `format="%d/%m/%Y %H:%M"` says how times are written in text, instead of ISO; it may be a list.
    `outside` and `null` are as for a Date.

    >>> import discreet as dp
    >>> visited = dp.Timestamp("2024-01-01T00:00:00", "2024-12-31T23:59:59")
    >>> visited.read("2024-05-01 09:30:15.75"), visited.steps("1999-01-01")
    (datetime.datetime(2024, 5, 1, 9, 30, 15), 1704067200)

    Refuses: low ≥ high, text that is no ISO time, a bare day (is its start meant, or its end?),
    fractions of a second; InvalidArgument.
    """

    kind: ClassVar[Literal["timestamp"]] = "timestamp"
    step: ClassVar[Fraction] = Fraction(1)
    low: datetime
    high: datetime
    default: datetime | None
    null_key: bool
    format: Format | None
    null: MissingMarks
    outside: Outside
    label: str | None = field(compare=False)

    def __init__(
        self,
        low: datetime | str,
        high: datetime | str,
        *,
        default: datetime | str | None = None,
        null_key: bool = False,
        format: str | Iterable[str] | None = None,  # noqa: A002
        null: Iterable[str] | None = None,
        outside: Outside = "clip",
        label: str | None = None,
    ) -> None:
        exact_low = _read_moment(low, "low")
        exact_high = _read_moment(high, "high")
        exact_default = None if default is None else _read_moment(default, "default")
        _declare(
            self,
            exact_low,
            exact_high,
            exact_default,
            null_key=null_key,
            format=format,
            null=null,
            outside=outside,
            label=label,
        )

    @property
    def ends(self) -> Ends:
        """The first and the last second, in seconds since 1970."""
        return _seconds(self.low), _seconds(self.high)

    def steps(self, value: object) -> int | None:
        """Read a stored value as seconds since 1970; None is NULL."""
        stored = None
        if not is_missing(value, self.null):
            stored = read_timestamp(iso_text(value, self.format))
        counted = _counted(self, stored)
        if counted is None:
            return None
        return _seconds(counted)  # type: ignore[arg-type]

    def at(self, steps: int) -> datetime:
        """Turn seconds since 1970 back into a time."""
        return EPOCH + steps * SECOND

    def keys(self, most: int | None = None) -> tuple[None, ...]:  # noqa: ARG002
        """Refuse: seconds have no useful list of keys."""
        raise InvalidArgument(
            f"{self!r} has no list of keys; group by its day, week or month, or declare a Date"
        )


Temporal: TypeAlias = Date | Timestamp


def _declare(
    column: Temporal,
    low: date,
    high: date,
    default: date | None,
    *,
    null_key: object,
    format: object,  # noqa: A002
    null: object,
    outside: object,
    label: object,
) -> None:
    """Check bounds and options of a column under construction, and set its fields."""
    kind = type(column).__name__
    check_order(low, high, kind, f"try {_EXAMPLES[kind]}")
    check_default(default, low, high)
    fill(
        column,
        low=low,
        high=high,
        default=default,
        null_key=check_nulls(default, null_key),
        format=check_format(format),
        null=check_null(null),
        outside=check_outside(outside),
        label=check_label(label),
    )


def _counted(column: Temporal, value: date | None) -> date | None:
    """Return a time clipped to the bounds; the default for NULL, also by outside="null"."""
    if value is None or column.low <= value <= column.high:
        return column.default if value is None else value
    if column.outside == "null":
        return column.default
    return min(max(value, column.low), column.high)


def _read_day(value: object, name: str) -> date:
    """Read a bound of a Date: a date, or ten characters of ISO text."""
    # Ten characters: a longer text would have a time of day, which a bound must not have.
    if isinstance(value, str) and len(value) == 10:
        value = read_date(value)
    if not isinstance(value, date) or isinstance(value, datetime):
        raise InvalidArgument(
            f"{name} of a Date column must be a day; write datetime.date or text such as '2024-12-31'"
        )
    return value


def _read_moment(value: object, name: str) -> datetime:
    """Read a bound of a Timestamp: a whole second, in UTC if it names no zone."""
    hint = "write datetime.datetime or text such as '2024-12-31T23:59:59', in whole seconds of UTC"
    if isinstance(value, str) and len(value) > 10 and "." not in value:
        value = read_timestamp(value)
    if not isinstance(value, datetime):
        raise InvalidArgument(f"{name} of a Timestamp column must be a time; {hint}")
    utc = read_timestamp(value)
    if utc is None or value.microsecond:
        raise InvalidArgument(
            f"{name} of a Timestamp column must be a whole second of the years 1 to 9999; {hint}"
        )
    return utc


def _days(value: date) -> int:
    return value.toordinal() - EPOCH.toordinal()


def _seconds(value: datetime) -> int:
    return (value - EPOCH) // SECOND
