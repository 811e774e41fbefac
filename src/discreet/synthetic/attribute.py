"""One column as public cells: its listed values, its whole steps if they are few, or bins between public edges.

    listed    every declared value, in the order of the schema
    steps     a number, a day or a second of at most 100 steps: each is a cell
    bins      else: [low, e1), [e1, e2), … [ek, high]; edges by one public rule, or as the caller says

NULL is a cell of its own unless the schema fills it in (`default=`). Which cell a row is in depends on that row and on
public facts alone, and each row is in exactly one cell of every column: the tables of all columns count the same rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from itertools import pairwise

import numpy as np

from ..answer.export import plain
from ..errors import InvalidArgument
from ..frozen import frozen
from ..noise import Bits, uniform
from ..query.algebra.expression import Call, Constant, Expression, Field, Function
from ..query.domains.domain import Day, Domain, Scalar, Second, Whole
from ..query.domains.type_of import ValueType
from ..workloads.strategy_norms import Integers

MAX_STEPS_LISTED = 100
"""A column of no more steps is told apart step by step; one of more is cut into bins."""
_FINEST = 13
_EQUAL = 32


@frozen
class Attribute:
    """A column and its cells; `values` lists them, or `edges` are the first steps of bins, then one past the last.

    >>> from discreet.query.domains.domain import Texts
    >>> from discreet.synthetic.attribute import attribute_of
    >>> region = attribute_of("region", Texts(1, ("N", "S")), nullable=True)
    >>> region.size, region.labels
    (3, ('N', 'S', None))
    """

    name: str
    values: tuple[Scalar, ...] | None
    edges: tuple[int, ...] | None
    step: Fraction
    time: ValueType | None
    null: bool

    @property
    def size(self) -> int:
        """How many cells there are, that of NULL included."""
        return self.named + self.null

    @property
    def named(self) -> int:
        """How many cells there are without that of NULL."""
        return len(self.values) if self.values is not None else len(self.edges or ()) - 1

    @property
    def labels(self) -> tuple[object, ...]:
        """What each cell is called: its value, or its bin as text."""
        named = (
            self._bins()
            if self.values is None
            else tuple(plain(value, self.time) for value in self.values)
        )
        return (*named, *((None,) if self.null else ()))

    @property
    def key(self) -> Expression:
        """The expression by which a store groups: a listed value, or the first step of the bin."""
        if self.values is not None:
            return Field(self.name)
        edges = self.edges or ()
        steps = _steps(self.name, self.step)
        arms: list[Expression] = []
        for first, end in pairwise(edges[:-1]):
            arms += [Call(Function.LESS, (steps, Constant(end, self.time))), Constant(first)]
        inside = Call(Function.CASE, (*arms, Constant(edges[-2]))) if arms else Constant(edges[0])
        missing = Call(Function.IS_NULL, (Field(self.name),))
        return Call(Function.CASE, (missing, Constant(None), inside))

    def places(self) -> Mapping[tuple[type, Scalar], int]:
        """Return the cell of every key; 1 and True are different keys."""
        keys = self.values if self.values is not None else (self.edges or ())[:-1]
        return {(type(key), key): place for place, key in enumerate(keys)}

    def _bins(self) -> tuple[str, ...]:
        edges = self.edges or ()
        pairs = [(self._word(a), self._word(b - 1)) for a, b in pairwise(edges)]
        return tuple(a if a == b else f"{a} to {b}" for a, b in pairs)

    def _word(self, steps: int) -> str:
        found = self.at(steps)
        return f"{found:.6g}" if isinstance(found, float) else str(found)

    def at(self, steps: int) -> object:
        """Return the value at so many steps, as other tools expect it."""
        return plain(steps if self.step == 1 else steps * self.step, self.time)

    def draw(self, cells: Integers, bits: Bits | None = None) -> list[object]:
        """Return a value for each cell: the listed one, or one of the bin's steps, each as likely."""
        labels: tuple[object, ...] = self.labels
        if self.values is not None:
            return [labels[cell] for cell in cells.tolist()]
        found: list[object] = [None] * len(cells)
        for place, (first, end) in enumerate(pairwise(self.edges or ())):
            where = np.flatnonzero(cells == place)
            drawn = uniform(end - first, size=len(where), bits=bits)
            for at, steps in zip(where.tolist(), drawn.tolist(), strict=True):
                found[at] = self.at(first + steps)
        return found


def _steps(name: str, step: Fraction) -> Expression:
    """Return a number as its whole steps: what is made of these is compared as whole numbers are."""
    inverse = 1 / step
    factor = int(inverse) if inverse.denominator == 1 else inverse
    return Field(name) if step == 1 else Call(Function.MULTIPLY, (Field(name), Constant(factor)))


def attribute_of(
    name: str, domain: Domain, *, nullable: bool, bins: int | None = None
) -> Attribute:
    """Return the cells of a column of which this is public; `bins` asks for so many bins of equal width.

    >>> from fractions import Fraction
    >>> from discreet.query.domains.domain import Whole
    >>> from discreet.synthetic.attribute import attribute_of
    >>> attribute_of("income", Whole(Fraction(1), 0, 999), nullable=False, bins=4).labels
    ('0 to 249', '250 to 499', '500 to 749', '750 to 999')

    Refuses free text, whose values are not public, and bins of a list.
    """
    time: ValueType | None = None
    if isinstance(domain, Day | Second):
        time = "day" if isinstance(domain, Day) else "second"
    listed = domain.keys
    if listed is not None:
        if bins is not None:
            raise InvalidArgument(
                f"{name} is a list of values, which has no bins; leave it out of bins="
            )
        return Attribute(
            name, tuple(v for v in listed if v is not None), None, Fraction(1), time, nullable
        )
    if not isinstance(domain, Whole | Day | Second):
        raise InvalidArgument(
            f"{name} is free text, whose values are not public; leave it out, or declare Category([...])"
        )
    step = domain.step if isinstance(domain, Whole) else Fraction(1)
    low, high = domain.low, domain.high
    if bins is None and high - low < MAX_STEPS_LISTED and step == 1:
        return Attribute(name, tuple(range(low, high + 1)), None, step, time, nullable)
    return Attribute(name, None, _edges(low, high, bins), step, time, nullable)


def _edges(low: int, high: int, bins: int | None) -> tuple[int, ...]:
    if bins is not None:
        width = high - low + 1
        inner = {low - (-width * place // bins) for place in range(1, bins)}
        return (low, *sorted(edge for edge in inner if low < edge <= high), high + 1)
    if high - low < MAX_STEPS_LISTED:
        return tuple(range(low, high + 2))
    return (low, *public_bins(low, high), high + 1)


def public_bins(low: int, high: int) -> tuple[int, ...]:
    """Return the inner edges of about 32 equal bins and of bins that double in width away from 0, or from `low`.

    Equal bins follow what is smooth, doubling ones what is skewed: amounts that are 0 for most and large for some.

    >>> from discreet.synthetic.attribute import public_bins
    >>> public_bins(0, 319)[:8]
    (1, 2, 4, 8, 10, 16, 20, 30)
    """
    width = high - low + 1
    equal = {low - (-width * place // _EQUAL) for place in range(1, _EQUAL)}
    origin = min(max(0, low), high)
    sizes = [
        1 << power for power in range(max(0, width.bit_length() - _FINEST), width.bit_length())
    ]
    both = equal | {origin + size for size in sizes} | {origin - size + 1 for size in sizes}
    return tuple(sorted(edge for edge in both if low < edge <= high))
