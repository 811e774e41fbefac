"""Columns of time: days, and seconds of UTC, clipped to public bounds."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from fractions import Fraction
from typing import ClassVar, Literal

from ...errors import InvalidArgument
from ...frozen import fill, frozen
from .amount import call
from .cell import day, moment
from .keys import MOST_KEYS, few
from .nulls import Nulls, flag, nulls
from .text_format import check_format, iso_text

EPOCH = datetime(1970, 1, 1)
"""Steps of time are counted from here: days for a Date, seconds for a Timestamp."""
SECOND = timedelta(seconds=1)


@frozen(init=False, repr=False)
class Date:
    """Declare days from `low` to `high`: earlier and later ones are clipped. One step is one day since 1970.

    `format="%d/%m/%Y"` says how days are written in text, instead of ISO: cells written otherwise are then unreadable.

    >>> import discreet as dp
    >>> joined = dp.Date("2024-01-01", "2024-12-31")
    >>> joined.width(), joined.read("2031-05-01"), joined.steps("2024-01-02"), joined.at(19724)
    (365, datetime.date(2024, 12, 31), 19724, datetime.date(2024, 1, 2))

    Refuses low ≥ high, text that is no ISO day, bounds with a time of day.
    """

    kind: ClassVar[Literal["date"]] = "date"
    step: ClassVar[Fraction] = Fraction(1)
    low: date
    high: date
    default: date | None
    null_key: bool
    format: str | None

    def __init__(
        self,
        low: date | str,
        high: date | str,
        *,
        default: date | str | None = None,
        null_key: bool = False,
        format: str | None = None,  # noqa: A002
    ) -> None:
        least, most = _day(low, "low"), _day(high, "high")
        stand_in = None if default is None else _day(default, "default")
        _check("Date", least, most, stand_in, "Date('2024-01-01', '2024-12-31')")
        nulls(stand_in, flag(null_key, "null_key"))
        fields = {"low": least, "high": most, "default": stand_in, "null_key": null_key}
        fill(self, **fields, format=check_format(format))

    def __repr__(self) -> str:
        options = {
            "default": self.default,
            "null_key": self.null_key or None,
            "format": self.format,
        }
        return call("Date", self.low, self.high, **options)

    @property
    def nulls(self) -> Nulls:
        """The rule for NULL: drop, default or key."""
        return nulls(self.default, self.null_key)

    @property
    def ends(self) -> tuple[int, int]:
        """The first and the last day, in days since 1970."""
        return _days(self.low), _days(self.high)

    def width(self) -> int:
        """Count the days from low to high: how far one value can move."""
        return _days(self.high) - _days(self.low)

    def read(self, value: object) -> date | None:
        """Return which day a stored value counts as; None is NULL."""
        found = day(iso_text(value, self.format))
        return self.default if found is None else min(max(found, self.low), self.high)

    def steps(self, value: object) -> int | None:
        """Read a stored value as days since 1970; None is NULL."""
        found = self.read(value)
        return None if found is None else _days(found)

    def at(self, steps: int) -> date:
        """Turn days since 1970 back into a day."""
        return EPOCH.date() + timedelta(days=steps)

    def keys(self, most: int | None = None) -> tuple[date | None, ...]:
        """List every day as a public key, if there are at most `most` (1,000 by default)."""
        few(self.width() + 1, MOST_KEYS if most is None else most, repr(self))
        days = (self.low + timedelta(days=k) for k in range(self.width() + 1))
        return (*days, *((None,) if self.null_key else ()))


@frozen(init=False, repr=False)
class Timestamp:
    """Declare times from `low` to `high` in UTC, cut to whole seconds; earlier and later ones are clipped.

    `format="%d/%m/%Y %H:%M"` says how times are written in text, instead of ISO.

    >>> import discreet as dp
    >>> visited = dp.Timestamp("2024-01-01T00:00:00", "2024-12-31T23:59:59")
    >>> visited.read("2024-05-01 09:30:15.75"), visited.steps("1999-01-01")
    (datetime.datetime(2024, 5, 1, 9, 30, 15), 1704067200)

    Refuses low ≥ high, text that is no ISO time, a bare day (is its start meant, or its end?), fractions of a second.
    """

    kind: ClassVar[Literal["timestamp"]] = "timestamp"
    step: ClassVar[Fraction] = Fraction(1)
    low: datetime
    high: datetime
    default: datetime | None
    null_key: bool
    format: str | None

    def __init__(
        self,
        low: datetime | str,
        high: datetime | str,
        *,
        default: datetime | str | None = None,
        null_key: bool = False,
        format: str | None = None,  # noqa: A002
    ) -> None:
        least, most = _moment(low, "low"), _moment(high, "high")
        stand_in = None if default is None else _moment(default, "default")
        _check(
            "Timestamp",
            least,
            most,
            stand_in,
            "Timestamp('2024-01-01T00:00:00', '2024-12-31T23:59:59')",
        )
        nulls(stand_in, flag(null_key, "null_key"))
        fields = {"low": least, "high": most, "default": stand_in, "null_key": null_key}
        fill(self, **fields, format=check_format(format))

    def __repr__(self) -> str:
        options = {
            "default": self.default,
            "null_key": self.null_key or None,
            "format": self.format,
        }
        return call("Timestamp", self.low, self.high, **options)

    @property
    def nulls(self) -> Nulls:
        """The rule for NULL: drop, default or key."""
        return nulls(self.default, self.null_key)

    @property
    def ends(self) -> tuple[int, int]:
        """The first and the last second, in seconds since 1970."""
        return _seconds(self.low), _seconds(self.high)

    def width(self) -> int:
        """Count the seconds from low to high: how far one value can move."""
        return _seconds(self.high) - _seconds(self.low)

    def read(self, value: object) -> datetime | None:
        """Return which second a stored value counts as; None is NULL."""
        found = moment(iso_text(value, self.format))
        return self.default if found is None else min(max(found, self.low), self.high)

    def steps(self, value: object) -> int | None:
        """Read a stored value as seconds since 1970; None is NULL."""
        found = self.read(value)
        return None if found is None else _seconds(found)

    def at(self, steps: int) -> datetime:
        """Turn seconds since 1970 back into a time."""
        return EPOCH + steps * SECOND

    def keys(self, most: int | None = None) -> tuple[None, ...]:  # noqa: ARG002
        """Refuse: seconds have no useful list of keys."""
        raise InvalidArgument(
            f"{self!r} has no list of keys; group by its day, week or month, or declare a Date"
        )


def _day(value: object, name: str) -> date:
    if isinstance(value, str) and len(value) == 10:
        value = day(value)
    if not isinstance(value, date) or isinstance(value, datetime):
        raise InvalidArgument(
            f"{name} of a Date column must be a day; write datetime.date or text such as '2024-12-31'"
        )
    return value


def _moment(value: object, name: str) -> datetime:
    hint = "write datetime.datetime or text such as '2024-12-31T23:59:59', in whole seconds of UTC"
    if isinstance(value, str) and len(value) > 10 and "." not in value:
        value = moment(value)
    if not isinstance(value, datetime):
        raise InvalidArgument(f"{name} of a Timestamp column must be a time; {hint}")
    found = moment(value)
    if found is None or value.microsecond:
        raise InvalidArgument(
            f"{name} of a Timestamp column must be a whole second of the years 1 to 9999; {hint}"
        )
    return found


def _check(kind: str, low: date, high: date, default: date | None, example: str) -> None:
    if low >= high:
        raise InvalidArgument(
            f"{kind} needs low < high, got {low.isoformat()} and {high.isoformat()}; try {example}"
        )
    if default is not None and not low <= default <= high:
        raise InvalidArgument(
            f"default must lie from {low.isoformat()} to {high.isoformat()}, got {default.isoformat()}"
        )


def _days(value: date) -> int:
    return value.toordinal() - EPOCH.toordinal()


def _seconds(value: datetime) -> int:
    return (value - EPOCH) // SECOND
