"""Argument checks: exact rational numbers, whole numbers, probabilities, words and flags from users.

The one module of checks that every package shares. A refusal is an InvalidArgument that names the
argument.

| argument | check |
|---|---|
| any finite number | `rational` |
| above 0 / at least 0 | `positive` / `not_negative` |
| a whole number between two bounds | `whole`; `whole_or_none` where it may be left out |
| strictly between 0 and 1, such as β, δ or a share | `between_0_and_1` |
| from 0 to 1, such as a frequency or a quantile | `check_from_0_to_1` |
| at least 0 and below 1/2, such as a probability of flipping | `below_half` |
| one of a few words | `one_of` |
| True or False | `read_flag` |

A float stands for the shortest decimal that prints it: 0.05 is exactly 1/20, not the binary number
nearest to it. So twenty spends of 0.05 fit in a budget of 1, and the sampler and the accountant use
the same number. `plain` goes the other way: it writes an exact amount as people do, as an integer,
a short decimal or a fraction in quotes, such that `rational` reads the same amount again.
`exact_text` prints an amount exactly.
"""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from numbers import Rational, Real
from typing import TypeAlias

from ..errors import InvalidArgument

Number: TypeAlias = int | float | Fraction | Decimal | str
# Most digits of a decimal exponent: the exact value of 1e999999999 would fill the memory.
MAX_EXPONENT_DIGITS = 4
INT64_LOW = -(2**63)
INT64_HIGH = 2**63 - 1
"""Integers of 64 bits: every store holds them."""


def rational(value: object, name: str) -> Fraction:
    """Read a number exactly; a float or a NumPy float means its shortest decimal.

    >>> from discreet.arithmetic.rational import rational
    >>> rational(0.05, "epsilon"), rational("1e-6", "delta"), rational(3, "scale")
    (Fraction(1, 20), Fraction(1, 1000000), Fraction(3, 1))

    >>> rational(float("nan"), "epsilon")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    discreet.errors.InvalidArgument: epsilon must be a finite number, got nan; try an int, ...

    Refuses: InvalidArgument for NaN, infinities, booleans, text that is no number, text with an
        exponent of more than four digits, and other types.

    Law: tests/repository/test_rational.py::TestShortestDecimal
    """
    hint = "try an int, float, Fraction or text"
    # NumPy's booleans are recognised by name: NumPy need not be imported here.
    if isinstance(value, bool) or type(value).__name__ in {"bool", "bool_"}:
        raise InvalidArgument(f"{name} must be a number, got a boolean; {hint}")
    if isinstance(value, Rational):
        return Fraction(int(value.numerator), int(value.denominator))
    if isinstance(value, Real):
        if not math.isfinite(value):
            raise InvalidArgument(f"{name} must be a finite number, got {float(value)}; {hint}")
        # `str` is the shortest decimal of the number's own width: np.float32(0.1) is 1/10.
        return Fraction(str(value))
    if isinstance(value, Decimal | str):
        try:
            return Fraction(_bounded(value))
        except (ValueError, OverflowError, ZeroDivisionError):
            raise InvalidArgument(
                f"{name} must be a finite number, got {str(value)[:40]!r}; {hint}"
            ) from None
    raise InvalidArgument(f"{name} must be a number, got {type(value).__name__}; {hint}")


def _bounded(number: Decimal | str) -> Decimal | str:
    """Refuse an exponent of more than four digits."""
    exponent = str(number).lower().partition("e")[2].strip()
    # Signs, underscores and leading zeros do not count.
    digits = exponent.lstrip("+-").replace("_", "").lstrip("0")
    if len(digits) > MAX_EXPONENT_DIGITS:
        raise ValueError(digits)
    return number


def plain(amount: Fraction | int) -> int | float | str:
    """Return a JSON or TOML number that `rational` reads back exactly; text where none does.

    >>> from discreet.arithmetic.rational import plain
    >>> from fractions import Fraction
    >>> plain(Fraction(3)), plain(Fraction(1, 20)), plain(Fraction(1, 3))
    (3, 0.05, '1/3')
    """
    exact = Fraction(amount)
    if exact.denominator == 1 and INT64_LOW <= exact <= INT64_HIGH:
        return int(exact)
    try:
        short = float(exact)
    except OverflowError:
        return str(exact)
    # A float is read by its shortest decimal, so that decimal must be the amount itself.
    if Fraction(str(short)) == exact:
        return short
    return str(exact)


def exact_text(amount: Fraction) -> str:
    """Print an amount exactly: as a decimal of at most 12 digits if it is one, else as a fraction.

    >>> from discreet.arithmetic.rational import exact_text
    >>> from fractions import Fraction
    >>> exact_text(Fraction(1, 20)), exact_text(Fraction(1, 3))
    ('0.05', '1/3')
    """
    try:
        decimal = f"{float(amount):.12g}"
    except OverflowError:
        return str(amount)
    # The decimal is printed only if it is the amount itself.
    if Fraction(decimal) == amount:
        return decimal
    return str(amount)


def positive(value: object, name: str) -> Fraction:
    """Read a number greater than zero exactly.

    >>> from discreet.arithmetic.rational import positive
    >>> positive(0, "scale")
    Traceback (most recent call last):
    ...
    discreet.errors.InvalidArgument: scale must be greater than 0, got 0
    """
    exact = rational(value, name)
    if exact <= 0:
        raise InvalidArgument(f"{name} must be greater than 0, got {value}")
    return exact


def not_negative(value: object, name: str) -> Fraction:
    """Read a number of at least zero exactly.

    >>> from discreet.arithmetic.rational import not_negative
    >>> not_negative(-1, "step")
    Traceback (most recent call last):
    ...
    discreet.errors.InvalidArgument: step must be at least 0, got -1
    """
    exact = rational(value, name)
    if exact < 0:
        raise InvalidArgument(f"{name} must be at least 0, got {value}")
    return exact


def between_0_and_1(value: object, name: str, hint: str) -> Fraction:
    """Read a number strictly between 0 and 1 exactly; `hint` ends the message of a refusal.

    >>> from discreet.arithmetic.rational import between_0_and_1
    >>> between_0_and_1(1, "share", ": the part of epsilon spent on the test")
    Traceback (most recent call last):
    ...
    discreet.errors.InvalidArgument: share must lie between 0 and 1: the part of epsilon spent on the test
    """
    exact = rational(value, name)
    if not 0 < exact < 1:
        raise InvalidArgument(f"{name} must lie between 0 and 1{hint}")
    return exact


def check_from_0_to_1(number: float | Fraction, name: str, hint: str = "") -> None:
    """Check that a number (no text) lies from 0 to 1, both included; `hint` ends the message.

    A float is compared as it is, because frequencies are checked once for each of many options.

    >>> from discreet.arithmetic.rational import check_from_0_to_1
    >>> check_from_0_to_1(2, "quantile", "; the median is 1/2")
    Traceback (most recent call last):
    ...
    discreet.errors.InvalidArgument: quantile must lie from 0 to 1; the median is 1/2
    """
    # Written so that NaN is refused too.
    if not 0 <= number <= 1:
        raise InvalidArgument(f"{name} must lie from 0 to 1{hint}")


def below_half(value: object, name: str, hint: str) -> Fraction:
    """Read a number of at least 0 and below 1/2; `hint` ends the message of a refusal.

    >>> from discreet.arithmetic.rational import below_half
    >>> below_half(0.5, "gamma", ", got 0.5")
    Traceback (most recent call last):
    ...
    discreet.errors.InvalidArgument: gamma must be at least 0 and below 1/2, got 0.5
    """
    exact = rational(value, name)
    if not 0 <= exact < Fraction(1, 2):
        raise InvalidArgument(f"{name} must be at least 0 and below 1/2{hint}")
    return exact


def whole(value: object, name: str, *, least: int = 0, most: int | None = None) -> int:
    """Read a whole number from `least` to `most`; None as `most` sets no upper bound.

    >>> from discreet.arithmetic.rational import whole
    >>> whole(3, "size"), whole(2.0, "size")
    (3, 2)
    >>> whole(-1, "size")
    Traceback (most recent call last):
    ...
    discreet.errors.InvalidArgument: size must be a whole number of at least 0, got -1
    """
    exact = rational(value, name)
    is_too_large = most is not None and exact > most
    if exact.denominator != 1 or exact < least or is_too_large:
        span = f"of at least {least}" if most is None else f"from {least} to {most}"
        raise InvalidArgument(f"{name} must be a whole number {span}, got {value}")
    return int(exact)


def whole_or_none(value: object, name: str, *, least: int = 0) -> int | None:
    """Read a whole number that may be left out.

    >>> from discreet.arithmetic.rational import whole_or_none
    >>> whole_or_none(None, "dimension", least=1), whole_or_none(3, "dimension", least=1)
    (None, 3)
    """
    if value is None:
        return None
    return whole(value, name, least=least)


def one_of(value: object, name: str, *words: str, hint: str = "") -> None:
    """Check that an argument is one of a few words; `hint` ends the message of a refusal.

    >>> from discreet.arithmetic.rational import one_of
    >>> one_of("normal", "noise", "laplace", "gaussian")
    Traceback (most recent call last):
    ...
    discreet.errors.InvalidArgument: noise must be 'laplace' or 'gaussian', got 'normal'
    """
    if value in words:
        return
    quoted = [repr(word) for word in words]
    known = " or ".join([", ".join(quoted[:-1]), quoted[-1]])
    raise InvalidArgument(f"{name} must be {known}, got {value!r}{hint}")


def read_flag(value: object, name: str) -> bool:
    """Read a boolean option.

    >>> from discreet.arithmetic.rational import read_flag
    >>> read_flag("no", "null_key")
    Traceback (most recent call last):
    ...
    discreet.errors.InvalidArgument: null_key must be True or False, got 'no'
    """
    if not isinstance(value, bool):
        raise InvalidArgument(f"{name} must be True or False, got {value!r}")
    return value
