"""Stored number as whole steps, in SQL: the rules of `Integer` and `Real`, without errors.

A double is clipped before it is scaled, scaled by one IEEE operation as `Real.steps` does, and
rounded, halves to even. The ends of the clip are doubles that round to exactly the lowest and the
highest step, so nothing is clipped again. Where no such doubles exist, steps are clipped once more.
"""

from __future__ import annotations

from fractions import Fraction
from math import inf, isfinite, nextafter

from ....data.columns.cell import MAX_NUMERAL_LENGTH, round_half_even
from ....data.columns.column import Numeric, Real
from ..dialect import Dialect, StoredColumn, bigint, case_sql, cast_sql, null, truth_sql

INTEGER_PATTERN = "[+-]?[0-9]{1,18}"
NUMERAL_PATTERN = "[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]{1,2})?"
MAX_DOUBLE = float(2**62)
"""Largest double that is cast to a 64-bit integer."""
_TAGS = "abcdefghijklmnopqrstuvwxyz"
MAX_EXACT_STEPS = 1 << 40
"""Up to this many steps from 0, a difference of doubles is exact to a small part of a step."""


def is_numeral(text: str, dialect: Dialect) -> str:
    """Write the test whether text is a numeral that no cast can fail on."""
    return f"length({text}) <= {MAX_NUMERAL_LENGTH} AND {dialect.matches(text, NUMERAL_PATTERN)}"


def double_sql(x: StoredColumn, dialect: Dialect) -> str | None:
    """Write a stored number as the nearest double, NaN and infinities as they are.

    Returns None if the stored type has no numbers.
    """
    match x.stored:
        case "integer" | "float":
            return dialect.as_double(x.sql)
        case "wide":
            return dialect.double_of(dialect.as_text(x.sql))
        case "decimal":
            return dialect.decimal_double(x.sql, x.type)
        case "boolean":
            zero = dialect.double(0.0)
            one = dialect.double(1.0)
            return truth_sql(x.sql, one, zero)
        case "text":
            text = dialect.trim(dialect.as_text(x.sql))
            return case_sql(is_numeral(text, dialect), dialect.double_of(text))
        case _:
            return None


def steps_sql(column: Numeric, x: StoredColumn, dialect: Dialect) -> str:
    """Write a prepared value as whole steps of a column, clipped; NULL where it is no number."""
    low, high = column.ends
    match x.stored:
        case "text" if column.units is not None:
            return _tagged_steps(column, x.sql, dialect)
        case "float":
            return _scale(column, x.sql, dialect)
        case "integer":
            return clip_sql(x.sql, low, high, cast_sql(x.sql, "BIGINT"))
        case "wide":
            return clip_sql(x.sql, low, high, dialect.integer_of(x.sql))
        case "boolean":
            one = bigint(min(max(1, low), high))
            zero = bigint(min(max(0, low), high))
            return truth_sql(x.sql, one, zero)
        case "text":
            return _numeral_steps(column, x.sql, dialect)
        case _:
            return null("BIGINT")


def _numeral_steps(column: Numeric, text: str, dialect: Dialect) -> str:
    """Write a plain numeral as whole steps of a column."""
    scaled = _scale(column, dialect.double_of(text), dialect)
    by_double = f"WHEN {is_numeral(text, dialect)} THEN {scaled}"
    if isinstance(column, Real):
        return f"CASE {by_double} END"
    # Integers do not go through a double, which would round those beyond 2^53.
    low, high = column.ends
    integer = dialect.integer_of(text)
    clipped = clip_sql(integer, low, high, integer)
    return f"CASE WHEN {dialect.matches(text, INTEGER_PATTERN)} THEN {clipped} {by_double} END"


def unit_tags(column: Numeric) -> dict[Fraction, str]:
    """Return a letter for each factor of a column's units; a prepared numeral begins with it."""
    factors = sorted({factor for _, factor in column.units or ()})
    return {factor: _TAGS[place] for place, factor in enumerate(factors)}


def _tagged_steps(column: Numeric, text: str, dialect: Dialect) -> str:
    """Write a numeral after the letter of its unit as whole steps."""
    numeral = f"substr({text}, 2)"
    tests = []
    for factor, tag in unit_tags(column).items():
        if factor == 1:
            steps = _numeral_steps(column, numeral, dialect)
        else:
            scaled = _scale(column, dialect.double_of(numeral), dialect, factor)
            steps = case_sql(is_numeral(numeral, dialect), scaled)
        tests.append(f"WHEN substr({text}, 1, 1) = '{tag}' THEN {steps}")
    return f"CASE {' '.join(tests)} END"


def clip_sql(x: str, low: int, high: int, inside: str) -> str:
    """Write a number clipped to whole ends; NULL stays NULL, unlike with GREATEST and LEAST."""
    above = f"WHEN {x} > {high} THEN {bigint(high)}"
    below = f"WHEN {x} < {low} THEN {bigint(low)}"
    return f"CASE {above} {below} ELSE {inside} END"


_ONE = Fraction(1)


def _scale(column: Numeric, x: str, dialect: Dialect, factor: Fraction = _ONE) -> str:
    """Write a double, in a unit of this factor, as whole steps."""
    low, high = column.ends
    least = _double_of_steps(column, low, factor)
    most = _double_of_steps(column, high, factor)
    if least is None or most is None:
        return _clipped_twice(column, x, dialect, factor)
    outside = None
    if dialect.distance and factor == 1 and max(-low, high) <= MAX_EXACT_STEPS:
        outside = _is_far(column, x, dialect)
    clipped = _between(x, least, most, dialect, outside)
    return dialect.nearest(_times(column, clipped, dialect, factor))


def _is_far(column: Numeric, x: str, dialect: Dialect) -> str:
    """Write the test that a double is beyond one of the ends by more than a quarter of a step.

    One test of the distance from the middle replaces two. Every nearer double rounds to a step
    within the ends: up to 2^40 steps, doubles are exact to a 2^11th of a step.
    """
    low, high = column.ends
    middle = Fraction(low + high, 2) * column.step
    distance = (Fraction(high - low, 2) + Fraction(1, 4)) * column.step
    return f"abs({x} - {dialect.double(float(middle))}) > {dialect.double(float(distance))}"


def _clipped_twice(column: Numeric, x: str, dialect: Dialect, factor: Fraction) -> str:
    """Clip before and after scaling, where no double rounds to exactly one of the ends."""
    low, high = column.ends
    # Four times the farther end: wide enough that the first clip changes no step.
    far = 4 * max(1.0, float(max(-low, high) * column.step / factor))
    scaled = _times(column, _between(x, -far, far, dialect), dialect, factor)
    steps = dialect.nearest(_between(scaled, -MAX_DOUBLE, MAX_DOUBLE, dialect))
    return clip_sql(steps, low, high, steps)


def _between(x: str, low: float, high: float, dialect: Dialect, outside: str | None = None) -> str:
    """Clip a double.

    NaN is greater than all numbers in every store, so it is tested for only beyond the ends.
    """
    least = dialect.double(low)
    most = dialect.double(high)
    if not outside:
        outside = f"{x} > {most} OR {x} < {least}"
    end = f"CASE WHEN {x} < {least} THEN {least} WHEN NOT {dialect.is_nan(x)} THEN {most} END"
    return f"(CASE WHEN {outside} THEN {end} ELSE {x} END)"


def _times(column: Numeric, x: str, dialect: Dialect, factor: Fraction) -> str:
    """Write a double in steps, by the one operation that `Real.steps` uses."""
    if factor != 1:
        return f"{x} * {dialect.double(float(factor / column.step))}"
    if column.step == 1:
        return x
    steps_per_unit = 1 / column.step
    if steps_per_unit.denominator == 1:
        return f"{x} * {dialect.double(float(steps_per_unit))}"
    return dialect.quotient(x, dialect.double(float(column.step)))


def _double_of_steps(column: Numeric, steps: int, factor: Fraction) -> float | None:
    """Find a double that is read as exactly this number of steps; None if there is none."""
    # Rounding of the product may miss the step by one double in either direction.
    near = float(steps * column.step / factor)
    for candidate in (near, nextafter(near, inf), nextafter(near, -inf)):
        if isfinite(candidate) and round_half_even(_steps_of(column, candidate, factor)) == steps:
            return candidate
    return None


def _steps_of(column: Numeric, x: float, factor: Fraction) -> float | Fraction:
    if factor != 1:
        return x * float(factor / column.step)
    steps_per_unit = 1 / column.step
    if steps_per_unit.denominator == 1:
        return x * float(steps_per_unit)
    return x / float(column.step)
