"""Division as SQL, the same on every store: rounded down or half up, negative numbers included, without overflow.

Stores agree only about non-negative integers. So x is moved up by a whole multiple of the divisor that is known to make
it non-negative; where that could overflow, negative numbers are turned around: ⌊x/d⌋ = −1 − ⌊(−1−x)/d⌋.
"""

from __future__ import annotations

from ...query.domains.arithmetic import root, root_scale
from ...query.domains.domain import MOST_STEPS, Whole
from .dialect import Dialect


def floor_between(x: str, low: int, high: int, divisor: int, dialect: Dialect) -> str:
    """Write ⌊x/divisor⌋ of an integer known to lie in low..high."""
    if divisor == 1:
        return x
    down = min(low // divisor, 0)
    if down == 0:
        return dialect.divide(x, str(divisor))
    if high - down * divisor <= MOST_STEPS:
        return f"({dialect.divide(f'({x} + {-down * divisor})', str(divisor))} - {-down})"
    up, turned = dialect.divide(x, str(divisor)), dialect.divide(f"(-1 - {x})", str(divisor))
    return f"(CASE WHEN {x} >= 0 THEN {up} ELSE -1 - {turned} END)"


def _times(x: str, factor: int) -> str:
    """Write a product; a factor beyond 64 bits stands only before a number that is always 0."""
    return x if factor == 1 else f"({x} * {factor if factor <= 2 * MOST_STEPS - 1 else 0})"


def floor_of(x: str, domain: Whole, dialect: Dialect) -> str:
    """Write ⌊x⌋ of whole steps: ⌊n·p/q⌋ for the step p/q."""
    p, q = domain.step.numerator, domain.step.denominator
    return floor_between(_times(x, p), domain.low * p, domain.high * p, q, dialect)


def rounded_sql(x: str, domain: Whole, dialect: Dialect) -> str:
    """Write ⌊x + ½⌋ of whole steps: ⌊(2·n·p + q)/(2q)⌋."""
    p, q = domain.step.numerator, domain.step.denominator
    if q == 1:
        return _times(x, p)
    top = f"({_times(x, 2 * p)} + {q})"
    return floor_between(top, 2 * domain.low * p + q, 2 * domain.high * p + q, 2 * q, dialect)


def modulo_sql(x: str, low: int, divisor: int) -> str:
    """Write x − d·⌊x/d⌋ of an integer of at least `low`; the sign of a store's own remainder is put right."""
    if low >= 0:
        return f"({x} % {divisor})"
    return (
        f"(CASE WHEN {x} % {divisor} < 0 THEN {x} % {divisor} + {divisor} ELSE {x} % {divisor} END)"
    )


def quotient_sql(
    x: tuple[str, Whole], y: tuple[str, Whole], domain: Whole, dialect: Dialect
) -> str:
    """Write x/y in steps of its domain, half up: ⌊(2ap + bq)/(2bq)⌋ with b > 0, NULL where y is 0.

    By a constant it is exact: the step is divided instead, and only the sign is left.
    """
    (a, x_kind), (b, y_kind) = x, y
    if y_kind.low == y_kind.high:
        return f"(CASE WHEN {b} IS NOT NULL THEN {a if y_kind.low > 0 else f'-{a}'} END)"
    if domain.low == domain.high == 0:
        return f"(CASE WHEN {b} <> 0 THEN {a} END)"
    ratio = x_kind.step / (y_kind.step * domain.step)
    p, q = ratio.numerator, ratio.denominator
    if y_kind.low < 0:
        a, b, test = f"(CASE WHEN {b} < 0 THEN -{a} ELSE {a} END)", f"abs({b})", f"{b} <> 0"
    else:
        test = f"{b} > 0"
    divisor = f"NULLIF({_times(b, 2 * q)}, 0)"
    top = f"({_times(a, 2 * p)} + {_times(b, q)})"
    up, turned = dialect.divide(top, divisor), dialect.divide(f"(-1 - {top})", divisor)
    if domain.low >= 0:
        return f"(CASE WHEN {test} THEN {up} END)"
    return f"(CASE WHEN {test} THEN CASE WHEN {top} >= 0 THEN {up} ELSE -1 - {turned} END END)"


def root_sql(x: str, domain: Whole, dialect: Dialect) -> str:
    """Write √x in steps of its domain, half up: (⌊√N⌋ + 1)//2 with N = ⌊n·p/q⌋ below 2^52; NULL below 0."""
    scale = root_scale(domain, root(domain).step)
    top = floor_between(_times(x, scale.numerator), 0, MOST_STEPS, scale.denominator, dialect)
    whole = f"floor(sqrt({dialect.as_double(f'GREATEST({top}, 0)')}))"
    return f"(CASE WHEN {x} >= 0 THEN {dialect.divide(f'(CAST({whole} AS BIGINT) + 1)', '2')} END)"
