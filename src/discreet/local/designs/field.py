"""Finite fields of q = p^e elements as tables.

The number a₀ + a₁p + … stands for the polynomial a₀ + a₁x + ….
"""

from __future__ import annotations

from functools import lru_cache
from itertools import product

import numpy as np

from ...errors import InvalidArgument
from ...frozen import frozen
from .design import Integers

MAX_FIELD = 512
"""Largest field with tables."""


@frozen(eq=False)
class FiniteField:
    """Addition and multiplication tables, inverses, and the dual basis of a finite field.

    `dual` satisfies L(a·b) = digits of dual[a] · digits of b modulo p. L, the constant term, is a
    linear functional that is not zero, so z ↦ e^{2πi L(z)/p} is a character of (F_q, +).

    Law: `tests/local/test_family.py::TestFields`
    """

    q: int
    p: int
    degree: int
    add: Integers
    mul: Integers
    inverse: Integers
    dual: Integers


def prime_power(q: int) -> tuple[int, int] | None:
    """Return p and e with q = p^e, p prime; None if there are none.

    >>> from discreet.local.designs.field import prime_power
    >>> prime_power(9), prime_power(7), prime_power(12)
    ((3, 2), (7, 1), None)
    """
    # The least divisor above 1 is a prime; without one up to √q, q itself is.
    divisors = (f for f in range(2, int(q**0.5) + 1) if q % f == 0)
    p = next(divisors, q)
    degree = 0
    quotient = q
    while quotient % p == 0 and quotient > 1:
        degree += 1
        quotient //= p
    if quotient == 1 and q > 1:
        return p, degree
    return None


@lru_cache(maxsize=64)
def field_of(q: int) -> FiniteField:
    """Make the field of q elements, modulo the first irreducible polynomial x^e + c(x).

    The polynomials are tried in the order of c. Devices in other languages do the same.

    >>> from discreet.local.designs.field import field_of
    >>> f = field_of(4)
    >>> int(f.mul[2, 3]), int(f.add[2, 3]), int(f.inverse[2])
    (1, 1, 3)

    Refuses: `InvalidArgument` for a q that is no prime power, or above 512.
    """
    power = prime_power(q)
    if power is None or q > MAX_FIELD:
        raise InvalidArgument(f"a field has a prime power of at most {MAX_FIELD} elements, got {q}")
    p, degree = power
    digits = _digits(np.arange(q), p, degree)
    powers = p ** np.arange(degree)
    shifted = _shifts(digits, _irreducible(p, degree), p)
    product_digits = np.einsum("aj,jbk->abk", digits, shifted) % p
    mul = product_digits @ powers
    sum_digits = (digits[:, None, :] + digits[None, :, :]) % p
    add = sum_digits @ powers
    nonzero_inverses = np.argmax(mul[1:] == 1, axis=1)
    inverse = np.concatenate(([0], nonzero_inverses))
    # Column k is the product with x^k; its value modulo p is the constant term.
    constant_terms = mul[:, powers] % p
    dual = constant_terms @ powers
    return FiniteField(q, p, degree, add, mul, inverse, dual)


def _digits(numbers: Integers, p: int, degree: int) -> Integers:
    """Return the digits of numbers in base p, lowest first."""
    return numbers[:, None] // p ** np.arange(degree) % p


def _shifts(digits: Integers, low: Integers, p: int) -> Integers:
    """Return the digits of x^j·b for every j below the degree and every b: x^e = −c(x)."""
    shifts = [digits]
    for _ in range(digits.shape[1] - 1):
        last = shifts[-1]
        zeros = np.zeros((len(last), 1), dtype=np.int64)
        moved = np.concatenate((zeros, last[:, :-1]), axis=1)
        carried = last[:, -1:] * low
        shifts.append((moved - carried) % p)
    return np.stack(shifts)


def _irreducible(p: int, degree: int) -> Integers:
    """Find the first c with x^e + c(x) divisible by no monic polynomial of degree 1 … e/2."""
    for code in range(p**degree):
        low = [code // p**k % p for k in range(degree)]
        if not _has_divisor([*low, 1], p):
            return np.array(low)
    raise AssertionError("every degree has an irreducible polynomial")  # pragma: no cover


def _has_divisor(polynomial: list[int], p: int) -> bool:
    """Return whether a monic polynomial of at most half the degree divides the polynomial."""
    degree = len(polynomial) - 1
    for divisor_degree in range(1, degree // 2 + 1):
        for low in product(range(p), repeat=divisor_degree):
            if _divides([*low, 1], polynomial, p):
                return True
    return False


def _divides(divisor: list[int], dividend: list[int], p: int) -> bool:
    """Return whether polynomial division modulo p leaves no remainder."""
    remainder = list(dividend)
    while len(remainder) >= len(divisor):
        lead = remainder[-1]
        start = len(remainder) - len(divisor)
        for k, coefficient in enumerate(divisor):
            difference = remainder[start + k] - lead * coefficient
            remainder[start + k] = difference % p
        remainder.pop()
    return not any(remainder)
