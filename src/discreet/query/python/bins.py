"""Public bins of a number: equal widths, or edges that are written out."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from ..algebra.expression import Call, Constant, Expression, Function
from ..algebra.fold import exact, folded

__all__ = ["bin_of", "edge_below", "lower_edge"]


def bin_of(x: Expression, start: Fraction, width: Fraction) -> Expression:
    """Return in which bin of a width a number lies, counting from 0 at `start`: ⌊(x − start)/width⌋."""
    above = x if start == 0 else folded(Function.SUBTRACT, x, exact(start))
    return Call(Function.FLOOR, (folded(Function.DIVIDE, above, exact(width)),))


def lower_edge(x: Expression, start: Fraction, width: Fraction) -> Expression:
    """Name a number's bin by its lower edge.

    >>> from discreet.query.python.bins import lower_edge
    >>> from fractions import Fraction
    >>> from discreet.query.meaning.evaluate import evaluate
    >>> from discreet.query.algebra.expression import Field
    >>> from discreet.query.domains.domain import Whole
    >>> decade = lower_edge(Field("age"), Fraction(0), Fraction(10))
    >>> evaluate(decade, {"age": 39}, {"age": Whole(Fraction(1), 0, 120)})
    Fraction(30, 1)
    """
    edge = Call(Function.MULTIPLY, (bin_of(x, start, width), exact(width)))
    return edge if start == 0 else Call(Function.ADD, (edge, exact(start)))


def edge_below(x: Expression, edges: Sequence[Fraction]) -> Expression:
    """Name a number's bin by the greatest of the edges that is at most the number; below the first it is NULL."""
    branches: list[Expression] = []
    for edge in reversed(edges):
        branches += [Call(Function.AT_MOST, (exact(edge), x)), exact(edge)]
    return Call(Function.CASE, (*branches, Constant(None)))
