"""Attribute of a synthetic table: one column as public cells, of which each row is in exactly one.

    listed    every declared value, in the order of the schema
    steps     a number, a day or a second of at most 100 steps: each step is a cell
    bins      otherwise [low, e1), [e1, e2), … [ek, high]; edges by one public rule, or as asked

NULL is a cell of its own unless the schema fills it in (`default=`).

Guarantee: the cell of a row depends on that row and on public facts alone. All tables of one
    synthesis count the same rows.
Law: tests/synthetic/test_tables.py::TestEveryRowIsInOneCellOfEveryColumn
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
from ..workloads.public_bins import equal_edges, public_edges
from ..workloads.strategy_norms import Integers

MAX_STEPS_LISTED = 100
"""Columns of at most so many steps have a cell for each; others are cut into bins."""


@frozen
class Attribute:
    """A column and its cells: the listed `values`, or bins between `edges`.

    Edges are the first steps of the bins, then one past the last step. `step` is the value of a
    step, `time` its unit for days and seconds. `null` says that NULL is a cell, the last.

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
        """The number of cells, that of NULL included."""
        return len(self._keys) + self.null

    @property
    def ordered(self) -> bool:
        """True if neighbouring cells are near each other: bins, and numbers in rising order."""
        if self.values is None:
            return True
        numbers: list[int | Fraction] = []
        for value in self.values:
            # True and False are listed values, no numbers.
            if isinstance(value, int | Fraction) and not isinstance(value, bool):
                numbers.append(value)
        return len(numbers) == len(self.values) and numbers == sorted(numbers)

    @property
    def _keys(self) -> tuple[Scalar, ...]:
        """The grouping key of each cell but that of NULL: its value, or the bin's first step."""
        if self.values is not None:
            return self.values
        return self._ends[:-1]

    @property
    def _ends(self) -> tuple[int, ...]:
        return self.edges or ()

    @property
    def labels(self) -> tuple[object, ...]:
        """The name of each cell: its value, or its bin as text."""
        labels: list[object] = []
        if self.values is not None:
            labels += [plain(value, self.time) for value in self.values]
        else:
            labels += [self._bin_text(first, end) for first, end in pairwise(self._ends)]
        if self.null:
            labels.append(None)
        return tuple(labels)

    @property
    def key(self) -> Expression:
        """The grouping expression of a store: a listed value, or the first step of the bin."""
        if self.values is not None:
            return Field(self.name)
        steps = self._steps()
        *firsts, last = self._ends[:-1]
        inside: Expression = Constant(last)
        if firsts:
            arms: list[Expression] = []
            for first, end in pairwise((*firsts, last)):
                below = Call(Function.LESS, (steps, Constant(end, self.time)))
                arms += [below, Constant(first)]
            inside = Call(Function.CASE, (*arms, inside))
        missing = Call(Function.IS_NULL, (Field(self.name),))
        return Call(Function.CASE, (missing, Constant(None), inside))

    def _steps(self) -> Expression:
        """Return a number as its integer steps: these are compared as integers are."""
        if self.step == 1:
            return Field(self.name)
        inverse = 1 / self.step
        factor = int(inverse) if inverse.denominator == 1 else inverse
        return Call(Function.MULTIPLY, (Field(self.name), Constant(factor)))

    def places(self) -> Mapping[tuple[type, Scalar], int]:
        """Return the index of the cell of every key; 1 and True are different keys."""
        return {(type(key), key): place for place, key in enumerate(self._keys)}

    def group_labels(self, groups: Integers) -> tuple[object, ...]:
        """Return the name of each group of cells: its only cell, or the first and the last."""
        cells = self.labels
        labels: list[object] = []
        for group in range(int(groups.max()) + 1):
            own = [cells[place] for place in np.flatnonzero(groups == group).tolist()]
            labels.append(own[0] if len(own) == 1 else self._group_text(own))
        return tuple(labels)

    def _group_text(self, labels: list[object]) -> str:
        if not self.ordered:
            return ", ".join(map(str, labels))
        # Of two bins the ends are kept: "0 to 9" and "10 to 19" are "0 to 19".
        first = str(labels[0]).split(" to ", 1)[0]
        last = str(labels[-1]).rsplit(" to ", 1)[-1]
        return f"{first} to {last}"

    def _bin_text(self, first: int, end: int) -> str:
        low = self._text(first)
        high = self._text(end - 1)
        return low if low == high else f"{low} to {high}"

    def _text(self, steps: int) -> str:
        value = self.at(steps)
        return f"{value:.6g}" if isinstance(value, float) else str(value)

    def at(self, steps: int) -> object:
        """Return the value at so many steps, in the type that other tools expect."""
        # An integer stays one: a fraction would be shown as a float.
        exact = steps if self.step == 1 else steps * self.step
        return plain(exact, self.time)

    def draw(self, cells: Integers, bits: Bits | None = None) -> list[object]:
        """Return a value for each cell: the listed one, or a uniformly drawn step of the bin."""
        if self.values is not None:
            labels = self.labels
            return [labels[cell] for cell in cells.tolist()]
        found: list[object] = [None] * len(cells)
        for place, (first, end) in enumerate(pairwise(self._ends)):
            inside = np.flatnonzero(cells == place)
            drawn = uniform(end - first, size=len(inside), bits=bits)
            for index, steps in zip(inside.tolist(), drawn.tolist(), strict=True):
                found[index] = self.at(first + steps)
        return found


def attribute_of(
    name: str, domain: Domain, *, nullable: bool, bins: int | None = None
) -> Attribute:
    """Return the cells of a column from its public domain; `bins` asks for bins of equal width.

    >>> from fractions import Fraction
    >>> from discreet.query.domains.domain import Whole
    >>> from discreet.synthetic.attribute import attribute_of
    >>> attribute_of("income", Whole(Fraction(1), 0, 999), nullable=False, bins=4).labels
    ('0 to 249', '250 to 499', '500 to 749', '750 to 999')

    Refuses: free text, whose values are not public, and bins of a list.
    """
    time: ValueType | None = None
    if isinstance(domain, Day | Second):
        time = "day" if isinstance(domain, Day) else "second"
    if domain.keys is not None:
        if bins is not None:
            raise InvalidArgument(
                f"{name} is a list of values, which has no bins; leave it out of bins="
            )
        listed = tuple(value for value in domain.keys if value is not None)
        return Attribute(name, listed, None, Fraction(1), time, nullable)
    if not isinstance(domain, Whole | Day | Second):
        raise InvalidArgument(
            f"{name} is free text, whose values are not public; "
            "leave it out, or declare Category([...])"
        )
    step = domain.step if isinstance(domain, Whole) else Fraction(1)
    edges = _edges(domain.low, domain.high, bins)
    every_step = bins is None and domain.high - domain.low < MAX_STEPS_LISTED
    if every_step and step == 1:
        # Every step is a cell, so that its value is its own key.
        return Attribute(name, edges[:-1], None, step, time, nullable)
    return Attribute(name, None, edges, step, time, nullable)


def _edges(low: int, high: int, bins: int | None) -> tuple[int, ...]:
    """Return the first step of every bin, then one past the last step."""
    if bins is not None:
        return (low, *equal_edges(low, high, bins), high + 1)
    if high - low < MAX_STEPS_LISTED:
        return tuple(range(low, high + 2))
    return (low, *public_edges(low, high), high + 1)
