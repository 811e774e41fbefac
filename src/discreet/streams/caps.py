"""Caps of people in a stream: on how many days one counts, how far apart, with how many rows.

    unit                       days that count                          kept for each person
    a row                      its own                                  nothing
    a person within a day …    all of its window: 1, 7, 31, 92, 366     nothing
    a person                   the first `days`, `apart` days apart     the days used, for ever

The future is unknown, so the *first* days count. Days used are kept by a keyed hash of the id, also
of people whose rows were deleted: who returned would otherwise count on more days than was paid
for. Within a day a person with more than `rows` rows counts with a share of each.
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

    Refuses: people without caps, and caps of a unit that its window caps already.
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
    """Return whether a person counts on a day: `used` has the days used and the last of them.

    Law: tests/streams/test_caps.py::TestAdmission
    """
    count, last = used.get(person, (0, -counted.apart))
    return count < counted.days and day - last >= counted.apart
