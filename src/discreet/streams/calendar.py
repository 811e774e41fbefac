"""Calendar of a stream: which days its weeks, months, quarters and years have, and their weights.

A week begins on Monday. The first and the last week, month, quarter or year may be cut by the
stream's ends. The weights (`matters`) say how much the errors of each kind of sums count in
planning.

The time zone decides only at which moment a day closes (`published`), also where daylight saving
makes the day 23 or 25 hours long. It never changes on which day a row counts. Streams by a
Timestamp allow UTC only.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import Literal, TypeAlias, get_args
from zoneinfo import ZoneInfo

from ..arithmetic.rational import Number, rational
from ..data.unit import window_start
from ..errors import InvalidArgument
from ..workloads.toeplitz import Aim

Kind: TypeAlias = Literal["day", "week", "month", "quarter", "year", "total"]
KINDS: tuple[Kind, ...] = get_args(Kind)
ALIKE: Mapping[str, Number] = {"day": 1, "week": 1, "month": 1, "year": 1, "total": 1}
"""Default weights: the mean variances of these five kinds of sums count equally, quarters not."""


def read_day(value: object, what: str) -> date:
    """Read a day from text as 2027-01-31, or a date.

    >>> from discreet.streams.calendar import read_day
    >>> read_day("2027-01-31", "start")
    datetime.date(2027, 1, 31)
    """
    if isinstance(value, str):
        try:
            return date.fromisoformat(value)
        except ValueError:
            pass
    elif isinstance(value, date) and not isinstance(value, datetime):
        return value
    raise InvalidArgument(f"{what} is a day such as 2027-01-31, got {value!r}")


def read_zone(value: object) -> tzinfo:
    """Read the time zone in which days end, by its name in the tz database.

    >>> from discreet.streams.calendar import read_zone
    >>> read_zone("UTC"), read_zone("Europe/Berlin")
    (datetime.timezone.utc, zoneinfo.ZoneInfo(key='Europe/Berlin'))
    """
    if value == "UTC":
        return UTC
    try:
        return ZoneInfo(str(value))
    except (KeyError, ValueError, OSError):
        # The key may be no name, a folder of the database, or a path outside of it.
        raise InvalidArgument(
            f"zone is the name of a time zone such as UTC or Europe/Berlin, got {value!r}"
        ) from None


def read_kind(value: object) -> Kind:
    """Read a kind of sums: day, week, month, quarter, year or total.

    Refuses: other words (InvalidArgument).
    """
    for kind in KINDS:
        if value == kind:
            return kind
    raise InvalidArgument(f"a stream is shown by one of {', '.join(KINDS)}; got {value!r}")


def sums_of(kind: Kind, start: date, days: int) -> list[tuple[int, int]]:
    """List the sums of a kind over the first `days` days of a stream, as ranges of day numbers.

    A range (first, end) counts from 0 and leaves out its end. A "total" is a running total: the
    sum of all days from the first on, one for each last day.

    >>> from datetime import date
    >>> from discreet.streams.calendar import sums_of
    >>> sums_of("month", date(2027, 1, 30), 32)
    [(0, 2), (2, 30), (30, 32)]
    """
    if kind == "total":
        return [(0, end) for end in range(1, days + 1)]
    ranges: list[tuple[int, int]] = []
    last = None
    for day in range(days):
        moment = start + timedelta(days=day)
        first = window_start(datetime(moment.year, moment.month, moment.day), kind)
        if first == last:
            ranges[-1] = (ranges[-1][0], day + 1)
        else:
            ranges.append((day, day + 1))
        last = first
    return ranges


def read_matters(matters: object) -> dict[Kind, float]:
    """Read the weights of the kinds of sums; a kind that is not named has the weight 0.

    Refuses: unknown kinds, weights below 0, and no weight above 0 (InvalidArgument).
    """
    if not isinstance(matters, Mapping):
        raise InvalidArgument('matters gives a weight for each kind: {"day": 1, "total": 1}')
    weights: dict[Kind, float] = {}
    for name, weight in matters.items():
        exact = rational(weight, f"the weight of {name}")
        if exact < 0:
            raise InvalidArgument(f"the weight of {name} must not be below 0, got {weight}")
        if exact:
            weights[read_kind(name)] = float(exact)
    if not weights:
        raise InvalidArgument('matters needs a weight above 0, such as {"total": 1}')
    return weights


def aims_of(weights: Mapping[Kind, float], start: date, days: int) -> list[Aim]:
    """Return the sums of each weighted kind over a stream, with the weight of the kind."""
    aims = []
    for kind, weight in weights.items():
        aims.append(Aim(kind, tuple(sums_of(kind, start, days)), weight))
    return aims
