"""Codec of keys: whole steps for numbers; text, truths, days and seconds as they are."""

from __future__ import annotations

from fractions import Fraction
from typing import TypeAlias

from ...query.domains.domain import Domain, Scalar, Texts, Truth, Whole

Held: TypeAlias = int | str | bool | None
"""A key as a store holds it."""


def holdable(value: Scalar, domain: Domain) -> bool:
    """Return whether an expression of this domain could ever have a value; NULL is always possible.

    >>> from discreet.engines.sql.key_codec import holdable
    >>> from discreet.query.domains.domain import Whole
    >>> from fractions import Fraction
    >>> holdable(Fraction(1, 3), Whole(Fraction(1, 4), 0, 8)), holdable(2, Whole(Fraction(1, 4), 0, 8))
    (False, True)
    """
    if value is None:
        return True
    match domain:
        case Truth():
            # A truth may be asked for as 0 or 1 as well.
            return value in (0, 1)
        case Texts():
            return isinstance(value, str)
        case Whole(step=step, low=low, high=high):
            if isinstance(value, str) or not _is_integer(value / step):
                return False
            return low * step <= value <= high * step
        case _:
            if isinstance(value, str) or not _is_integer(value):
                return False
            return domain.low <= value <= domain.high


def _is_integer(number: Fraction | int) -> bool:
    return Fraction(number).denominator == 1


def hold(value: Scalar, domain: Domain) -> Held:
    """Return a key as a store holds it; only for a value that is `holdable`.

    >>> from discreet.engines.sql.key_codec import hold
    >>> from discreet.query.domains.domain import Texts, Truth, Whole
    >>> from fractions import Fraction
    >>> hold(Fraction(1, 2), Whole(Fraction(1, 4), 0, 8)), hold("N", Texts(1)), hold(True, Truth())
    (2, 'N', True)
    """
    if value is None or isinstance(value, str):
        return value
    match domain:
        case Truth():
            return bool(value)
        case Whole(step=step):
            return int(value / step)
        case _:
            return int(value)


def value_of(held: object, domain: Domain) -> Scalar:
    """Read a key as a store returns it: the exact value, an integer where it is one.

    >>> from discreet.engines.sql.key_codec import value_of
    >>> from discreet.query.domains.domain import Texts, Whole
    >>> from fractions import Fraction
    >>> value_of(2, Whole(Fraction(1, 4), 0, 8)), value_of(8, Whole(Fraction(1, 4), 0, 8)), value_of("N", Texts(1))
    (Fraction(1, 2), 2, 'N')
    """
    if held is None:
        return None
    match domain:
        case Texts():
            return str(held)
        case Truth():
            return bool(held)
        case Whole(step=step):
            numerator = int(held) * step.numerator  # type: ignore[call-overload]
            if numerator % step.denominator:
                return Fraction(numerator, step.denominator)
            return numerator // step.denominator  # type: ignore[no-any-return]
        case _:
            return int(held)  # type: ignore[call-overload, no-any-return]
