"""How a stored number is read as whole steps, in SQL: the rules of `Integer` and `Real`, without errors.

A double is clipped before it is scaled, scaled by one IEEE operation as `Real.steps` does, and rounded, halves to even.
The ends of the clip are doubles that round to exactly the lowest and the highest step, so nothing is clipped again.
"""

from __future__ import annotations

from fractions import Fraction
from math import inf, isfinite, nextafter

from ....data.columns.cell import LONGEST_NUMERAL, nearest
from ....data.columns.column import Integer, Real
from ..dialect import Dialect, StoredColumn, bigint, null

WHOLE = "[+-]?[0-9]{1,18}"
NUMERAL = "[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]{1,2})?"
FAR = float(2**62)
FINEST = 1 << 40
"""Up to this many steps from 0, a difference of doubles is exact to a small part of a step."""


def is_numeral(word: str, dialect: Dialect) -> str:
    """Write the test whether text is a numeral that no cast can fail on."""
    return f"length({word}) <= {LONGEST_NUMERAL} AND {dialect.matches(word, NUMERAL)}"


def double_sql(x: StoredColumn, dialect: Dialect) -> str | None:
    """Write a stored number as the nearest double, NaN and infinities as they are; None if its type has no numbers."""
    match x.stored:
        case "integer" | "float":
            return dialect.as_double(x.sql)
        case "wide":
            return dialect.double_of(dialect.as_text(x.sql))
        case "decimal":
            return dialect.decimal_double(x.sql, x.type)
        case "boolean":
            zero, one = dialect.double(0.0), dialect.double(1.0)
            return f"CASE WHEN {x.sql} THEN {one} WHEN NOT {x.sql} THEN {zero} END"
        case "text":
            word = dialect.trim(dialect.as_text(x.sql))
            return f"CASE WHEN {is_numeral(word, dialect)} THEN {dialect.double_of(word)} END"
        case _:
            return None


def steps_sql(column: Integer | Real, x: StoredColumn, dialect: Dialect) -> str:
    """Write a prepared value as whole steps of a column, clipped; NULL where it is no number."""
    low, high = column.ends
    match x.stored:
        case "float":
            return _scale(column, x.sql, dialect)
        case "integer":
            return clip_sql(x.sql, low, high, f"CAST({x.sql} AS BIGINT)")
        case "wide":
            return clip_sql(x.sql, low, high, dialect.integer_of(x.sql))
        case "boolean":
            yes, no = (bigint(min(max(bit, low), high)) for bit in (1, 0))
            return f"CASE WHEN {x.sql} THEN {yes} WHEN NOT {x.sql} THEN {no} END"
        case "text":
            whole, double = dialect.integer_of(x.sql), dialect.double_of(x.sql)
            return (
                f"CASE WHEN {dialect.matches(x.sql, WHOLE)} THEN {clip_sql(whole, low, high, whole)} "
                f"WHEN {is_numeral(x.sql, dialect)} THEN {_scale(column, double, dialect)} END"
            )
        case _:
            return null("BIGINT")


def clip_sql(x: str, low: int, high: int, inside: str) -> str:
    """Write a number clipped to whole ends; NULL stays NULL, as GREATEST and LEAST would not let it."""
    return f"CASE WHEN {x} > {high} THEN {bigint(high)} WHEN {x} < {low} THEN {bigint(low)} ELSE {inside} END"


def _scale(column: Integer | Real, x: str, dialect: Dialect) -> str:
    low, high = column.ends
    least, most = _edge(column, low), _edge(column, high)
    if least is None or most is None:
        return _scaled_twice(column, x, dialect)
    outside = _far(column, x, dialect) if dialect.distance and max(-low, high) <= FINEST else None
    return dialect.nearest(_times(column, _between(x, least, most, dialect, outside), dialect))


def _far(column: Integer | Real, x: str, dialect: Dialect) -> str:
    """Write that a double is further from the middle than both ends, by more than a quarter of a step: one test instead
    of two. What is nearer rounds to a step within the ends; up to 2^40 steps, doubles are exact to a 2^11th of a step.
    """
    low, high = column.ends
    middle, reach = (
        Fraction(low + high, 2) * column.step,
        (Fraction(high - low, 2) + Fraction(1, 4)) * column.step,
    )
    return f"abs({x} - {dialect.double(float(middle))}) > {dialect.double(float(reach))}"


def _scaled_twice(column: Integer | Real, x: str, dialect: Dialect) -> str:
    """Clip before and after, where no double rounds to exactly the lowest or the highest step."""
    low, high = column.ends
    far = 4 * max(1.0, float(max(-low, high) * column.step))
    scaled = _times(column, _between(x, -far, far, dialect), dialect)
    steps = dialect.nearest(_between(scaled, -FAR, FAR, dialect))
    return clip_sql(steps, low, high, steps)


def _between(x: str, low: float, high: float, dialect: Dialect, outside: str | None = None) -> str:
    """Clip a double. NaN is greater than all numbers in every store, so it is tested for only where that matters."""
    least, most = dialect.double(low), dialect.double(high)
    beyond = f"CASE WHEN {x} < {least} THEN {least} WHEN NOT {dialect.is_nan(x)} THEN {most} END"
    return f"(CASE WHEN {outside or f'{x} > {most} OR {x} < {least}'} THEN {beyond} ELSE {x} END)"


def _times(column: Integer | Real, x: str, dialect: Dialect) -> str:
    if column.step == 1:
        return x
    n = 1 / column.step
    if n.denominator == 1:
        return f"{x} * {dialect.double(float(n))}"
    return dialect.quotient(x, dialect.double(float(column.step)))


def _edge(column: Integer | Real, end: int) -> float | None:
    """Find a double that counts as exactly so many steps."""
    near = float(end * column.step)
    tries = (near, nextafter(near, inf), nextafter(near, -inf))
    return next((x for x in tries if isfinite(x) and nearest(_raw(column, x)) == end), None)


def _raw(column: Integer | Real, x: float) -> float | Fraction:
    n = 1 / column.step
    return x * float(n) if n.denominator == 1 else x / float(column.step)
