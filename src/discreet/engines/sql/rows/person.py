"""People as SQL: whose row it is, in which window, and what a person's rows add up to."""

from __future__ import annotations

from collections.abc import Sequence

from ....data.unit import Period
from ....errors import SchemaMismatch
from ....query.algebra.expression import Function
from ....query.algebra.tree import Total
from ....query.domains.domain import MOST_STEPS, Domain
from ..dialect import Dialect, StoredColumn
from ..reading.number import clip_sql
from ..reading.time import floor_sql
from ..text_functions import days_sql


def id_sql(x: StoredColumn, dialect: Dialect) -> str:
    """Write an id as it is stored; text without padding and compared letter by letter."""
    return dialect.as_text(x.sql) if x.stored == "text" else x.sql


def present_sql(x: StoredColumn, dialect: Dialect) -> str:
    """Write that there is an id: neither NULL nor NaN, nor bytes that are no text."""
    number = f" AND NOT {dialect.is_nan(x.sql)}" if x.stored in dialect.nan_types else ""
    return f"{id_sql(x, dialect)} IS NOT NULL{number}"


def require_alike(ids: Sequence[tuple[str, StoredColumn]]) -> None:
    """Refuse to tell people by ids that are stored as different types: a comparison would cast, and could fail."""
    types = {_id_type(column): table for table, column in ids}
    if len(types) > 1:
        raise SchemaMismatch(
            f"the person's id is stored as different types in {' and '.join(types.values())}; store it as one type"
        )


def _id_type(x: StoredColumn) -> str:
    match x.stored:
        case "integer" | "text" | "float":
            return x.stored
        case _:
            return x.type


def window_sql(time: str, domain: Domain, per: Period, dialect: Dialect) -> str:
    """Write the number of the calendar window that a day or second falls in: different windows, different numbers."""
    if per == "hour":
        return floor_sql(time, 3600, dialect)
    days = days_sql(time, domain, dialect)
    match per:
        case "day":
            return days
        case "week":  # the first of January 1970 was a Thursday
            return floor_sql(f"({days} + 3)", 7, dialect)
        case "month":
            return (
                f"({dialect.part(Function.YEAR, days)} * 12 + {dialect.part(Function.MONTH, days)})"
            )
        case "quarter":
            return f"({dialect.part(Function.YEAR, days)} * 4 + {dialect.part(Function.QUARTER, days)})"
        case _:
            return dialect.part(Function.YEAR, days)


def total_sql(total: Total, times: int, value: str, dialect: Dialect) -> str:
    """Write one person's total in whole steps, clipped; `times` is how many of its steps one step of the value is."""
    match total.what:
        case "count":
            found = f"count({value})"
        case "sum":
            found = dialect.total(value, MOST_STEPS)
        case "least":
            found = f"min({value})"
        case "greatest":
            found = f"max({value})"
    low, high = total.low // times, -(-total.high // times)
    clipped = clip_sql(found, low, high, f"CAST({found} AS BIGINT)")
    if times == 1:
        return clipped
    scaled = f"({clipped} * {times})"
    return clip_sql(scaled, total.low, total.high, scaled)
