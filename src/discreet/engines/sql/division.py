"""Division as SQL, the same on every store: rounded down or half up, without overflow.

Stores agree only about non-negative integers. So x is moved up by a whole multiple of the divisor
that is known to make it non-negative. Where that could overflow, negative numbers are turned
around (`floor_sql`).
"""

from __future__ import annotations

from ...query.domains.arithmetic import root, root_scale
from ...query.domains.domain import MAX_STEPS, Whole
from .dialect import Dialect, case_sql

_MAX_FACTOR = 2 * MAX_STEPS - 1
"""Largest 64-bit integer, 2^63 − 1."""


def floor_between(x: str, low: int, high: int, divisor: int, dialect: Dialect) -> str:
    """Write ⌊x/divisor⌋ of an integer known to be in low..high."""
    if divisor == 1:
        return x
    lowest = min(low // divisor, 0)
    # x is never negative: stores agree about the division.
    if lowest == 0:
        return _divide_natural(x, divisor, dialect)
    added = -lowest * divisor
    if high + added <= MAX_STEPS:
        moved = _divide_natural(f"({x} + {added})", divisor, dialect)
        return f"({moved} - {-lowest})"
    return floor_sql(x, divisor, dialect)


def _divide_natural(x: str, divisor: int, dialect: Dialect) -> str:
    """Write the quotient of an integer that is not negative, by a shift where that is faster."""
    is_power_of_two = divisor & (divisor - 1) == 0
    if is_power_of_two and dialect.shift is not None:
        return dialect.shift(x, divisor.bit_length() - 1)
    return dialect.divide(x, str(divisor))


def floor_sql(x: str, divisor: int, dialect: Dialect) -> str:
    """Write ⌊x/divisor⌋ of a 64-bit integer."""
    return f"({_floor_case(x, str(divisor), dialect)})"


def _floor_case(x: str, divisor: str, dialect: Dialect) -> str:
    """Write ⌊x/d⌋ for a positive divisor and any sign of x.

    Stores disagree about negative numbers, so these are turned around: ⌊x/d⌋ = −1 − ⌊(−1−x)/d⌋.
    """
    positive = dialect.divide(x, divisor)
    turned = dialect.divide(f"(-1 - {x})", divisor)
    return case_sql(f"{x} >= 0", positive, f"-1 - {turned}")


def _times(x: str, factor: int) -> str:
    """Write a product; a factor beyond 64 bits occurs only before a number that is always 0."""
    if factor == 1:
        return x
    if factor > _MAX_FACTOR:
        factor = 0
    return f"({x} * {factor})"


def floor_of(x: str, domain: Whole, dialect: Dialect) -> str:
    """Write ⌊x⌋ of whole steps: ⌊n·p/q⌋ for the step p/q."""
    p = domain.step.numerator
    q = domain.step.denominator
    return floor_between(_times(x, p), domain.low * p, domain.high * p, q, dialect)


def rounded_sql(x: str, domain: Whole, dialect: Dialect) -> str:
    """Write ⌊x + ½⌋ of whole steps: ⌊(2·n·p + q)/(2q)⌋."""
    p = domain.step.numerator
    q = domain.step.denominator
    if q == 1:
        return _times(x, p)
    numerator = f"({_times(x, 2 * p)} + {q})"
    low = 2 * domain.low * p + q
    high = 2 * domain.high * p + q
    return floor_between(numerator, low, high, 2 * q, dialect)


def modulo_sql(x: str, low: int, divisor: int) -> str:
    """Write x − d·⌊x/d⌋ of an integer of at least `low`, whatever sign a store's remainder has."""
    remainder = f"{x} % {divisor}"
    if low >= 0:
        return f"({remainder})"
    return f"(CASE WHEN {remainder} < 0 THEN {remainder} + {divisor} ELSE {remainder} END)"


def quotient_sql(
    x: tuple[str, Whole], y: tuple[str, Whole], domain: Whole, dialect: Dialect
) -> str:
    """Write x/y in steps of its domain, half up: ⌊(2ap + bq)/(2bq)⌋ with b > 0, NULL where y is 0.

    By a constant it is exact: the step is divided instead, and only the sign is left.
    """
    a, x_domain = x
    b, y_domain = y
    if y_domain.low == y_domain.high:
        signed = a if y_domain.low > 0 else f"-{a}"
        return f"(CASE WHEN {b} IS NOT NULL THEN {signed} END)"
    # The quotient is always 0, and so is x: only the divisor has to be tested.
    if domain.low == domain.high == 0:
        return f"(CASE WHEN {b} <> 0 THEN {a} END)"
    ratio = x_domain.step / (y_domain.step * domain.step)
    p = ratio.numerator
    q = ratio.denominator
    test = f"{b} > 0"
    if y_domain.low < 0:
        # The formula needs a positive divisor, so its sign moves to the dividend.
        test = f"{b} <> 0"
        a = f"(CASE WHEN {b} < 0 THEN -{a} ELSE {a} END)"
        b = f"abs({b})"
    # The outer test does not keep every store from dividing by 0 first; NULLIF does.
    divisor = f"NULLIF({_times(b, 2 * q)}, 0)"
    numerator = f"({_times(a, 2 * p)} + {_times(b, q)})"
    if domain.low >= 0:
        value = dialect.divide(numerator, divisor)
    else:
        value = _floor_case(numerator, divisor, dialect)
    return f"({case_sql(test, value)})"


def root_sql(x: str, domain: Whole, dialect: Dialect) -> str:
    """Write √x in steps of its domain, half up: (⌊√N⌋ + 1)//2 with N = ⌊n·p/q⌋; NULL below 0.

    N is below 2^52, so that the double of it is exact, and its root is never rounded up to the next
    integer.
    """
    scale = root_scale(domain, root(domain).step)
    scaled = _times(x, scale.numerator)
    n = floor_between(scaled, 0, MAX_STEPS, scale.denominator, dialect)
    double = dialect.as_double(f"GREATEST({n}, 0)")
    floor = f"CAST(floor(sqrt({double})) AS BIGINT)"
    half = dialect.divide(f"({floor} + 1)", "2")
    return f"(CASE WHEN {x} >= 0 THEN {half} END)"
