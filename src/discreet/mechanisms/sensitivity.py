"""Global sensitivity: how much one unit can change an answer, for both neighbour relations.

    Δ1 = max ‖f(D) − f(D')‖₁     for Laplace noise
    Δ2 = max ‖f(D) − f(D')‖₂     for Gaussian noise
    Δ∞ = max ‖f(D) − f(D')‖∞     the change of one coordinate

over all neighbours D ~ D' (lectures 002 and 003; Dwork, McSherry, Nissim, Smith 2006). Under
"add-remove" D' has one unit more or less, under "replace" one unit is exchanged for another, which
often makes another number. Each question below has its proof in its docstring, and a test that
finds the same maximum by trying all neighbours on a small domain (of `covariance` under "replace"
one that is no larger).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from typing import TypeAlias

from ..arithmetic.rational import Number, positive, rational, whole
from ..errors import InvalidArgument
from ..frozen import fill, frozen
from ..privacy.measures import ADD_REMOVE, Neighbours, read_neighbours


@frozen(init=False)
class Sensitivity:
    """Sensitivity of a vector of answers to one unit, in three norms.

    `squared_l2` is Δ2², because Δ2 is often a root. `changed` is how many coordinates one unit can
    change at all: an array of a million cells of which one unit moves two is rounded to the grid at
    the price of two.

    >>> import discreet as dp
    >>> from discreet.mechanisms.sensitivity import histogram
    >>> dp.Sensitivity(l1=2, squared_l2=2, linf=1, changed=2, neighbours="replace") == histogram("replace")
    True

    Guarantee: some vectors have these norms.
    Refuses: norms that are not positive, and norms that no vector has (InvalidArgument):
    Δ∞ ≤ Δ1 ≤ changed·Δ∞, Δ∞² ≤ Δ2² ≤ Δ1·Δ∞, and Δ1² ≤ changed·Δ2² (Cauchy and Schwarz).
    Law: tests/mechanisms/test_sensitivity.py::TestSensitivity

    >>> dp.Sensitivity(l1=3, squared_l2=1, linf=1, changed=2)
    Traceback (most recent call last):
    ...
    discreet.errors.InvalidArgument: no change of 2 coordinates has these norms; check l1 ≤ changed·linf and the like
    """

    l1: Fraction
    squared_l2: Fraction
    linf: Fraction
    neighbours: Neighbours
    changed: int

    def __init__(
        self,
        l1: Number,
        squared_l2: Number,
        linf: Number,
        neighbours: Neighbours = ADD_REMOVE,
        changed: int = 1,
    ) -> None:
        norm1 = positive(l1, "l1")
        square2 = positive(squared_l2, "squared_l2")
        norm_max = positive(linf, "linf")
        moved = whole(changed, "changed", least=1)
        l1_possible = norm_max <= norm1 <= moved * norm_max
        l2_possible = norm_max**2 <= square2 <= norm1 * norm_max
        if not (l1_possible and l2_possible and norm1**2 <= moved * square2):
            hint = "check l1 ≤ changed·linf and the like"
            raise InvalidArgument(f"no change of {moved} coordinates has these norms; {hint}")
        relation = read_neighbours(neighbours)
        fill(self, l1=norm1, squared_l2=square2, linf=norm_max)
        fill(self, neighbours=relation, changed=moved)


GivenSensitivity: TypeAlias = Number | Sensitivity
"""A number in the mechanism's own norm, or a sensitivity in all norms."""
ReadSensitivity: TypeAlias = Fraction | Sensitivity


def read_sensitivity(
    value: GivenSensitivity, neighbours: Neighbours | None
) -> tuple[ReadSensitivity, Neighbours]:
    """Read a sensitivity: a number in the mechanism's own norm, or a `Sensitivity`.

    A `Sensitivity` knows its neighbour relation.

    >>> from discreet.mechanisms.sensitivity import count, read_sensitivity
    >>> read_sensitivity(0.5, None), read_sensitivity(count("replace"), None)[1]
    ((Fraction(1, 2), 'add-remove'), 'replace')

    Refuses: a relation that contradicts the sensitivity's own (InvalidArgument).
    """
    if not isinstance(value, Sensitivity):
        return positive(value, "sensitivity"), read_neighbours(neighbours or ADD_REMOVE)
    if neighbours not in (None, value.neighbours):
        stated = f"the sensitivity is stated for {value.neighbours!r} neighbours"
        raise InvalidArgument(f"{stated}, not for {neighbours!r}; leave one out")
    return value, value.neighbours


def _scalar(size: Fraction, neighbours: Neighbours) -> Sensitivity:
    """State the sensitivity of one number that moves by at most `size`."""
    return Sensitivity(size, size**2, size, neighbours)


def _zero_one(cells: int, neighbours: Neighbours) -> Sensitivity:
    """State the sensitivity of `cells` coordinates that each move by at most 1."""
    return Sensitivity(cells, cells, 1, neighbours, cells)


def count(neighbours: Neighbours = ADD_REMOVE) -> Sensitivity:
    """State the sensitivity of COUNT, the number of units with some property: 1.

    Proof: one unit adds 0 or 1; exchanging one unit changes the sum by 1, 0 or −1. Both are
    reached.

    >>> from discreet.mechanisms.sensitivity import count
    >>> count().l1, count("replace").l1
    (Fraction(1, 1), Fraction(1, 1))

    Law: tests/mechanisms/test_sensitivity.py::TestTheBoundIsTheMaximum
    """
    return _scalar(Fraction(1), neighbours)


def sum_of(low: Number, high: Number, neighbours: Neighbours = ADD_REMOVE) -> Sensitivity:
    """State the sensitivity of the SUM of values in [low, high].

    It is max(|low|, |high|), or high − low under "replace". Proof: adding x changes the sum by x,
    at most max(|low|, |high|) in size; exchanging x for y by y − x, at most high − low. Both are
    reached at the ends. (Lecture 003 prints `high` for both.)

    >>> from discreet.mechanisms.sensitivity import sum_of
    >>> sum_of(-5, 3).l1, sum_of(-5, 3, "replace").l1
    (Fraction(5, 1), Fraction(8, 1))

    Refuses: a range of one value where the sum would be public: [0, 0], or low = high under
    "replace" (InvalidArgument).
    Law: tests/mechanisms/test_sensitivity.py::TestTheBoundIsTheMaximum
    """
    return _scalar(_largest_move(low, high, neighbours), neighbours)


def _read_bounds(low: Number, high: Number) -> tuple[Fraction, Fraction]:
    bottom = rational(low, "low")
    top = rational(high, "high")
    if bottom > top:
        raise InvalidArgument(f"low must not be above high, got [{low}, {high}]; swap them")
    return bottom, top


def _largest_move(low: Number, high: Number, neighbours: Neighbours) -> Fraction:
    """Return how far one unit with a value in [low, high] moves a sum."""
    bottom, top = _read_bounds(low, high)
    move = top - bottom
    if read_neighbours(neighbours) == ADD_REMOVE:
        move = max(abs(bottom), abs(top))
    if not move:
        raise InvalidArgument(
            f"no value in [{low}, {high}] changes the answer, so it is public; release it as it is"
        )
    return move


def mean_of_known_size(
    low: Number, high: Number, n: int, neighbours: Neighbours = ADD_REMOVE
) -> Sensitivity:
    """State the sensitivity of (1/n)·SUM for a *public* n: that of the sum, divided by n.

    Proof: n is a constant, not the number of units in D. If the number of units is private it must
    be asked for too (a private sum and a private count); dividing by the true size would be a
    different question.

    >>> from discreet.mechanisms.sensitivity import mean_of_known_size
    >>> mean_of_known_size(0, 100, n=50, neighbours="replace").l1
    Fraction(2, 1)

    Law: tests/mechanisms/test_sensitivity.py::TestTheBoundIsTheMaximum
    """
    move = _largest_move(low, high, neighbours)
    return _scalar(move / whole(n, "n", least=1), neighbours)


def histogram(neighbours: Neighbours = ADD_REMOVE) -> Sensitivity:
    """State the sensitivity of a histogram over disjoint cells.

    Δ1 = Δ2 = 1, or Δ1 = 2 and Δ2 = √2 under "replace". Proof: a unit lies in one cell and adds 1 to
    it; exchanging it takes 1 from a cell and adds 1 to another.

    >>> from discreet.mechanisms.sensitivity import histogram
    >>> histogram().l1, histogram("replace").l1, histogram("replace").squared_l2
    (Fraction(1, 1), Fraction(2, 1), Fraction(2, 1))

    Law: tests/mechanisms/test_sensitivity.py::TestTheBoundIsTheMaximum
    """
    return contingency_table(1, neighbours)


def contingency_table(tables: int = 1, neighbours: Neighbours = ADD_REMOVE) -> Sensitivity:
    """State the sensitivity of `tables` marginal tables of the same units, released together.

    Proof: each table is a histogram, and a unit lies in one cell of each. So `tables` cells move by
    1; under "replace" 2·tables do, reached by two units that differ in every attribute (Barak et
    al. 2007).

    >>> from discreet.mechanisms.sensitivity import contingency_table
    >>> contingency_table(3).l1, contingency_table(3, "replace").squared_l2
    (Fraction(3, 1), Fraction(6, 1))

    Law: tests/mechanisms/test_sensitivity.py::TestTheBoundIsTheMaximum
    """
    count_of_tables = whole(tables, "tables", least=1)
    cells_in_each = 1 if read_neighbours(neighbours) == ADD_REMOVE else 2
    return _zero_one(count_of_tables * cells_in_each, neighbours)


def counting_queries(k: int, neighbours: Neighbours = ADD_REMOVE) -> Sensitivity:
    """State the sensitivity of k arbitrary counting queries: Δ1 = k and Δ2 = √k.

    The same under both relations. Proof: each count moves by at most 1 (see `count`), and a unit
    may have all k properties, another none of them.

    >>> from discreet.mechanisms.sensitivity import counting_queries
    >>> counting_queries(9).l1, counting_queries(9).squared_l2
    (Fraction(9, 1), Fraction(9, 1))

    Law: tests/mechanisms/test_sensitivity.py::TestTheBoundIsTheMaximum
    """
    return _zero_one(whole(k, "k", least=1), neighbours)


def covariance(
    bounds: Sequence[tuple[Number, Number]], neighbours: Neighbours = ADD_REMOVE
) -> Sensitivity:
    """State the sensitivity of all second moments Σ xᵢ·xⱼ, i ≤ j, of columns with public bounds.

    Column i lies in (lowᵢ, highᵢ). Proof, add/remove: a unit x adds xᵢxⱼ to entry (i, j), at most
    mᵢmⱼ in size with mᵢ = max(|lowᵢ|, |highᵢ|), and all entries reach that at once. Replace: entry
    (i, j) moves by at most the width of the range of xᵢxⱼ; Δ∞ is exact, Δ1 and Δ2 are bounds that
    one pair of units need not reach in all entries at once (exact for a single column).

    >>> from discreet.mechanisms.sensitivity import covariance
    >>> covariance([(0, 1), (-2, 1)]).l1, covariance([(-1, 1)], "replace").l1
    (Fraction(7, 1), Fraction(1, 1))

    Refuses: an empty list, and columns whose products are all public (InvalidArgument).
    Law: tests/mechanisms/test_sensitivity.py::TestCovariance
    """
    columns = [_read_bounds(low, high) for low, high in bounds]
    relation = read_neighbours(neighbours)
    moves = []
    for i, first in enumerate(columns):
        moves.append(_square_move(first, relation))
        later = columns[i + 1 :]
        moves += [_product_move(first, second, relation) for second in later]
    # An entry that no unit can change is public, and costs nothing.
    moving = [move for move in moves if move]
    if not moving:
        raise InvalidArgument(
            "covariance needs at least one column that can change a product; give (low, high) for each"
        )
    squares = sum(move * move for move in moving)
    return Sensitivity(sum(moving), squares, max(moving), relation, len(moving))


_Range = tuple[Fraction, Fraction]


def _product_move(x: _Range, y: _Range, neighbours: Neighbours) -> Fraction:
    """Bound how much one unit moves Σ x·y: the largest product, or the width of their range."""
    # A product of two ranges is extreme at their ends.
    products = [a * b for a, b in product(x, y)]
    if neighbours == ADD_REMOVE:
        return max(map(abs, products))
    return max(products) - min(products)


def _square_move(x: _Range, neighbours: Neighbours) -> Fraction:
    """Bound how much one unit moves Σ x²: the largest square, or the width of their range."""
    low, high = x
    squares = (low**2, high**2)
    if neighbours == ADD_REMOVE:
        return max(squares)
    # The least square is 0 if the range holds 0; low·high itself is no square.
    least = Fraction(0) if low <= 0 <= high else min(squares)
    return max(squares) - least
