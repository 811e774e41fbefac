"""Terms as polynomials of one expression, so that a store adds up x and x² once for all of them.

For example Σ(x − 5)² is Σx² − 10·Σx + 25·n. So all terms of a tally that are such polynomials of
one column need its count, its sum and its sum of squares, and no other sum over rows.
"""

from __future__ import annotations

from fractions import Fraction

from ...frozen import frozen
from ...query.algebra.expression import Call, Constant, Expression, Function
from ...query.domains.domain import is_number


@frozen
class Polynomial:
    """`constant` + `linear`·x + `square`·x², exactly, of an expression x = `of_what`.

    `of_what` is None for a number alone.

    >>> from discreet.engines.sql.polynomial import Polynomial
    >>> from discreet.query.algebra.expression import Call, Constant, Field, Function
    >>> rest = Call(Function.SUBTRACT, (Constant(7), Field("x")))
    >>> made = Polynomial.of(Call(Function.MULTIPLY, (rest, rest)))
    >>> made.of_what, int(made.constant), int(made.linear), int(made.square)
    (Field(name='x'), 49, -14, 1)
    """

    of_what: Expression | None
    constant: Fraction = Fraction(0)
    linear: Fraction = Fraction(0)
    square: Fraction = Fraction(0)

    @classmethod
    def of(cls, expression: Expression) -> Polynomial:
        """Read sums, differences and products; what is none of them is x itself."""
        itself = cls(expression, linear=Fraction(1))
        match expression:
            case Constant(value=value, time=None) if is_number(value):
                return cls(None, Fraction(value))
            case Call(function=Function.NEGATE, arguments=(x,)):
                return cls.of(x).times(Fraction(-1))
            case Call(function=Function.ADD, arguments=(x, y)):
                return cls.of(x).plus(cls.of(y)) or itself
            case Call(function=Function.SUBTRACT, arguments=(x, y)):
                return cls.of(x).plus(cls.of(y).times(Fraction(-1))) or itself
            case Call(function=Function.MULTIPLY, arguments=(x, y)):
                return cls.of(x).product(cls.of(y)) or itself
            case _:
                return itself

    def times(self, factor: Fraction) -> Polynomial:
        """Multiply by a number."""
        parts = (self.constant * factor, self.linear * factor, self.square * factor)
        return Polynomial(self.of_what, *parts)

    def plus(self, other: Polynomial) -> Polynomial | None:
        """Add another polynomial; None if it is of another expression."""
        if not self._of_one(other):
            return None
        return Polynomial(
            self.of_what if other.of_what is None else other.of_what,
            self.constant + other.constant,
            self.linear + other.linear,
            self.square + other.square,
        )

    def product(self, other: Polynomial) -> Polynomial | None:
        """Multiply; None if it is of another expression, or if it would have x³."""
        cubes = self.square * other.linear or self.linear * other.square
        if cubes or self.square * other.square or not self._of_one(other):
            return None
        square = self.linear * other.linear
        square += self.constant * other.square + self.square * other.constant
        return Polynomial(
            self.of_what if other.of_what is None else other.of_what,
            self.constant * other.constant,
            self.constant * other.linear + self.linear * other.constant,
            square,
        )

    def _of_one(self, other: Polynomial) -> bool:
        return None in (self.of_what, other.of_what) or self.of_what == other.of_what
