"""Contribution bounds of a stream: days on which a person counts, their distance, rows a day.

    unit                              days on which it counts                   stored per person
    a row                             its own day                               nothing
    a person within an hour or day    one day                                   nothing
    a person within a week, month,    all days of the window: at most 7, 31,    nothing
    quarter or year                   92 or 366
    a person                          the first `days` days, at least `apart`   each day used, until
                                      days from each other                      the stream has ended

It is not known whether a person comes again, so a person's first days count. The days used are
stored under a keyed hash of the id, and stay when the person's rows are deleted: a person who came
back would otherwise count on more days than were paid for. On a day a person with n > `rows` rows
counts as `rows` rows: each row counts the fraction `rows`/n.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..arithmetic.rational import whole
from ..data.unit import People
from ..errors import UnsupportedQuery
from ..frozen import fill, frozen
from ..query.algebra.expression import Expression, Field
from ..workloads.triangular import MAX_DAYS, Participation

_WINDOW_DAYS = {"hour": 1, "day": 1, "week": 7, "month": 31, "quarter": 92, "year": 366}
_CAPS = 'per_person=dp.Days(52, apart=7, rows=1), or the unit dp.People(id, window=(day, "day"))'


@frozen(init=False)
class Days:
    """Days of a stream on which one person counts, and the rows that count on each.

    >>> import discreet as dp
    >>> dp.Days(52, apart=7)
    Days(days=52, apart=7, rows=1)

    Refuses: numbers below 1 (InvalidArgument).
    """

    days: int
    apart: int
    rows: int

    def __init__(self, days: int, *, apart: int = 1, rows: int = 1) -> None:
        fill(
            self,
            days=whole(days, "days", least=1, most=MAX_DAYS),
            apart=whole(apart, "apart", least=1, most=MAX_DAYS),
            rows=whole(rows, "rows", least=1, most=2**31),
        )


def counted_days(unit: People, time: Expression, per_person: Days | None) -> Participation:
    """Return the days on which a person, or a person within a window, may count.

    Refuses: people without caps, caps of a unit that its window caps already, and a window of
    another column than the stream's day.
    """
    if unit.window is None:
        if per_person is None:
            raise UnsupportedQuery(
                f"a person may come on any day: say how many days of one count, by {_CAPS}"
            )
        return Participation(per_person.days, per_person.apart)
    column, period = unit.window
    if per_person is not None:
        raise UnsupportedQuery(
            f"the unit is a person within a {period} already; leave per_person out"
        )
    if time != Field(column):
        raise UnsupportedQuery(
            f"the unit is a person within a {period} of {column}: group the stream by {column}"
        )
    return Participation(_WINDOW_DAYS[period])


def admitted(
    used: Mapping[bytes, tuple[int, int]], person: bytes, day: int, counted: Participation
) -> bool:
    """Return whether a person counts on a day.

    `person` is the keyed hash of an id, `day` the number of the day in the stream. `used` has for
    each person the number of days used so far and the last of them; `counted` has the bounds.

    Law: tests/streams/test_caps.py::TestAdmission
    """
    count, last = used.get(person, (0, -counted.apart))
    return count < counted.days and day - last >= counted.apart
