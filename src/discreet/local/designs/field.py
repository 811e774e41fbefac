"""Finite fields of q = p^e elements as tables: the number a₀ + a₁p + … stands for the polynomial a₀ + a₁x + …"""

from __future__ import annotations

from functools import lru_cache
from itertools import product

import numpy as np
from numpy.typing import NDArray

from ...errors import InvalidArgument
from ...frozen import frozen
from .design import Integers

LARGEST = 512
"""Largest field with tables."""


@frozen(eq=False)
class FiniteField:
    """Addition and multiplication tables, inverses, and `dual`: L(a·b) = digits of dual[a] · digits of b modulo p.

    L, the constant term, is a linear functional that is not zero, so z ↦ e^{2πi L(z)/p} is a character of (F_q, +).
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
    p = next((f for f in range(2, int(q**0.5) + 1) if q % f == 0), q)
    degree, rest = 0, q
    while rest % p == 0 and rest > 1:
        degree, rest = degree + 1, rest // p
    return (p, degree) if rest == 1 and q > 1 else None


@lru_cache(maxsize=64)
def field_of(q: int) -> FiniteField:
    """Make the field of q elements, modulo the first irreducible polynomial x^e + c(x) in the order of c.

    >>> from discreet.local.designs.field import field_of
    >>> f = field_of(4)
    >>> int(f.mul[2, 3]), int(f.add[2, 3]), int(f.inverse[2])
    (1, 1, 3)

    Refuses a q that is no prime power, or above 512.
    """
    power = prime_power(q)
    if power is None or q > LARGEST:
        raise InvalidArgument(f"a field has a prime power of at most {LARGEST} elements, got {q}")
    p, degree = power
    digits = _digits(np.arange(q), p, degree)
    places = p ** np.arange(degree)
    shifted = _shifts(digits, _irreducible(p, degree), p)
    mul = (np.einsum("aj,jbk->abk", digits, shifted) % p) @ places
    add = ((digits[:, None, :] + digits[None, :, :]) % p) @ places
    inverse = np.concatenate(([0], np.argmax(mul[1:] == 1, axis=1)))
    dual = (mul[:, places] % p) @ places  # the constant terms of a, a·x, a·x² …
    return FiniteField(q, p, degree, add, mul, inverse, dual)


def _digits(numbers: Integers, p: int, degree: int) -> Integers:
    return numbers[:, None] // p ** np.arange(degree) % p


def _shifts(digits: Integers, low: NDArray[np.int64], p: int) -> Integers:
    """Return the digits of x^j·b for every j below the degree and every b: x^e = −c(x)."""
    found = [digits]
    for _ in range(digits.shape[1] - 1):
        last = found[-1]
        moved = np.concatenate((np.zeros((len(last), 1), dtype=np.int64), last[:, :-1]), axis=1)
        found.append((moved - last[:, -1:] * low) % p)
    return np.stack(found)


def _irreducible(p: int, degree: int) -> NDArray[np.int64]:
    """Find the first c with x^e + c(x) divisible by no monic polynomial of degree 1 … e/2."""
    for code in range(p**degree):
        low = [code // p**k % p for k in range(degree)]
        if not any(
            _divides([*g, 1], [*low, 1], p)
            for m in range(1, degree // 2 + 1)
            for g in product(range(p), repeat=m)
        ):
            return np.array(low)
    raise AssertionError("every degree has an irreducible polynomial")  # pragma: no cover


def _divides(divisor: list[int], whole: list[int], p: int) -> bool:
    rest = list(whole)
    while len(rest) >= len(divisor):
        lead = rest[-1]
        start = len(rest) - len(divisor)
        for k, coefficient in enumerate(divisor):
            rest[start + k] = (rest[start + k] - lead * coefficient) % p
        rest.pop()
    return not any(rest)
