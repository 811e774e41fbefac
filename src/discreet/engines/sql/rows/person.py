"""People as SQL: the owner of a row, the calendar window of a row, and a person's totals.

The owner of a row is the person's id, together with the calendar window where the unit is a person
within a day, week, month or another period. A person's totals are counts, sums and extremes over
the rows of one owner, clipped to declared bounds.
"""

from __future__ import annotations

from ....data.unit import Period
from ....query.algebra.expression import Function
from ....query.algebra.tree import Total
from ....query.domains.domain import MAX_STEPS, Domain
from ..dialect import Dialect, StoredColumn, cast_sql
from ..division import floor_sql
from ..reading.number import clip_sql
from ..text_functions import days_sql


def id_sql(x: StoredColumn, dialect: Dialect) -> str:
    """Write an id as it is stored; text without padding and compared letter by letter."""
    if x.stored == "text":
        return dialect.as_text(x.sql)
    return x.sql


def present_sql(x: StoredColumn, dialect: Dialect) -> str:
    """Write the test that there is an id: neither NULL nor NaN, nor bytes that are no text."""
    present = f"{id_sql(x, dialect)} IS NOT NULL"
    if x.stored in dialect.nan_types:
        present += f" AND NOT {dialect.is_nan(x.sql)}"
    return present


def window_sql(time: str, domain: Domain, per: Period, dialect: Dialect) -> str:
    """Write the number of the calendar window (`per`: hour … year) that holds a day or second.

    `time` is SQL, in days or seconds since 1970 by its domain. Different windows have different
    numbers.
    """
    if per == "hour":
        return floor_sql(time, 3600, dialect)
    days = days_sql(time, domain, dialect)
    year = dialect.part(Function.YEAR, days)
    match per:
        case "day":
            return days
        case "week":
            # Day 0 was a Thursday: three days later, windows begin on Mondays.
            return floor_sql(f"({days} + 3)", 7, dialect)
        case "month":
            month = dialect.part(Function.MONTH, days)
            return f"({year} * 12 + {month})"
        case "quarter":
            quarter = dialect.part(Function.QUARTER, days)
            return f"({year} * 4 + {quarter})"
        case _:
            return year


def total_sql(total: Total, times: int, value: str, dialect: Dialect) -> str:
    """Write one person's total in whole steps, clipped.

    `times` is the number of the total's steps in one step of the value.
    """
    match total.what:
        case "count":
            unclipped = f"count({value})"
        case "sum":
            unclipped = dialect.total(value, MAX_STEPS)
        case "least":
            unclipped = f"min({value})"
        case "greatest":
            unclipped = f"max({value})"
    # Clipped twice: first outwards in steps of the value, so that the product cannot overflow,
    # then to the exact ends in steps of the total.
    low = total.low // times
    high = -(-total.high // times)
    clipped = clip_sql(unclipped, low, high, cast_sql(unclipped, "BIGINT"))
    if times == 1:
        return clipped
    scaled = f"({clipped} * {times})"
    return clip_sql(scaled, total.low, total.high, scaled)
