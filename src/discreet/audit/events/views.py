"""Views of outputs: each turns every output into one number; an event is "that number is ≥ t"."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations, pairwise
from operator import methodcaller

import numpy as np

from ...arithmetic.arrays import Floats
from ...frozen import frozen
from .outputs import Outputs, Values

# At most so many coordinates are searched one by one; sums and classifiers see the others.
_MAX_COORDINATES = 48
# Stands for "0 is a multiple of every power of two", above any exponent of a float.
_BIT_OF_ZERO = 1100.0


@frozen
class OutputView:
    """Name and function from outputs to one number each (NaN: this view does not apply)."""

    name: str
    of: Callable[[Outputs], Values]
    nominal: bool = False
    """The numbers are only codes: their order means nothing, so they need a likelihood ratio."""
    word: Callable[[float], str] | None = None
    """Prints a number of a nominal view."""


def lowest_bit(values: Values) -> Floats:
    """Return for each number the largest k such that it is a multiple of 2^k.

    k is 1100 for 0 and NaN for values that are not finite.

    >>> import numpy as np
    >>> from discreet.audit.events.views import lowest_bit
    >>> lowest_bit(np.array([0.75, 8.0, 0.1, 0.0, np.nan])).tolist()
    [-2.0, 3.0, -55.0, 1100.0, nan]

    Law: `tests/audit/test_views.py::TestLowestBit`
    """
    if values.dtype.kind == "i":
        integers = values.astype(np.int64)
        return np.where(integers == 0, _BIT_OF_ZERO, _lowest_bit_of_integers(integers))
    is_finite = np.isfinite(values)
    finite = np.where(is_finite, values, 0.0)
    mantissa, exponent = np.frexp(finite)
    # The mantissa of a float has 53 bits, so this product is an integer.
    digits = (mantissa * 2.0**53).astype(np.int64)
    bit = exponent - 53 + _lowest_bit_of_integers(digits)
    return np.where(is_finite, np.where(finite == 0, _BIT_OF_ZERO, bit), np.nan)


def _lowest_bit_of_integers(integers: Values) -> Floats:
    """Return the index of the lowest set bit."""
    lowest = np.abs((integers & -integers).astype(np.float64))  # type: ignore[operator]
    _, exponent = np.frexp(lowest)
    return np.asarray(exponent - 1.0)


def views(train: Outputs) -> list[OutputView]:
    """List the views that these outputs allow, plain ones first."""
    names = list(train.numbers)
    found = []
    for name in names[:_MAX_COORDINATES]:
        found += _number_views(name, train)
    for name, column in train.columns.items():
        if column.words is not None:
            found.append(_category_view(name, column.words))
    if len(names) > 1:
        found += _joint_views(names)
    if len(train.columns) > 1:
        found.append(_whole_view(train))
        found += _within_patterns(train)
    return found


def _number_views(name: str, train: Outputs) -> list[OutputView]:
    """View a number itself, its lowest bit and, if it has any, its fractional part."""
    column = methodcaller("values", name)
    found = [
        OutputView(name, column),
        OutputView(f"lowest set bit of {name}", lambda o: lowest_bit(column(o))),
    ]
    values = column(train)
    if values.dtype.kind == "f" and np.any(_fraction(values) > 0):
        found.append(OutputView(f"fractional part of {name}", lambda o: _fraction(column(o))))
    return found


def _fraction(values: Values) -> Floats:
    finite = np.where(np.isfinite(values), values, np.nan)
    return finite - np.floor(finite)


def _category_view(name: str, categories: tuple[str, ...]) -> OutputView:
    """View a column of text categories."""

    def word(code: float) -> str:
        return repr(categories[int(code)])

    return OutputView(name, methodcaller("values", name), nominal=True, word=word)


def _joint_views(names: list[str]) -> list[OutputView]:
    """View pairs of numbers by their difference, and all numbers by common statistics."""
    matrix = methodcaller("matrix", names)

    def largest(outputs: Outputs) -> Values:
        return np.asarray(matrix(outputs).argmax(axis=1), dtype=np.int64)

    # All pairs of few numbers; of many only neighbours, since pairs grow with the square.
    pairs = list(combinations(names, 2))
    if len(names) > 6:
        pairs = list(pairwise(names))[:_MAX_COORDINATES]
    found = [_difference(a, b) for a, b in pairs]
    found.append(OutputView("the sum", lambda o: matrix(o).sum(axis=1)))
    found.append(OutputView("the largest", lambda o: matrix(o).max(axis=1)))
    found.append(OutputView("the smallest", lambda o: matrix(o).min(axis=1)))
    found.append(OutputView("which is largest", largest, nominal=True))
    found.append(OutputView("how many are repeated", lambda o: _repeated(matrix(o))))
    return found


def _difference(a: str, b: str) -> OutputView:
    """View two columns by their difference."""

    def difference(outputs: Outputs) -> Floats:
        first, second = outputs.matrix([a, b]).T
        return np.asarray(first - second)

    return OutputView(f"{a} − {b}", difference)


def _repeated(table: Floats) -> Floats:
    """Count the numbers of each row that occur again in it."""
    ordered = np.sort(table, axis=1)
    repeated = ordered[:, 1:] == ordered[:, :-1]
    return np.asarray(np.sum(repeated, axis=1), dtype=np.float64)


def _row_hash(columns: list[Values]) -> Values:
    """Hash rows to 64 bits; a collision merges two outputs, which costs power and not soundness."""
    total = np.zeros(len(columns[0]), dtype=np.uint64)
    for i, column in enumerate(columns):
        bits = np.ascontiguousarray(column).view(np.uint64)
        mixed = bits ^ (bits >> np.uint64(29))
        # An odd multiplier near 2^64 divided by the golden ratio, another one for each column.
        total = (total ^ mixed) * np.uint64(0x9E3779B97F4A7C15 + 2 * i)
        total ^= total >> np.uint64(32)
    return total.view(np.int64)


def _whole(outputs: Outputs) -> Values:
    return _row_hash([column.values for column in outputs.columns.values()])


def _whole_view(train: Outputs) -> OutputView:
    """View the whole output as one category."""
    codes, first = np.unique(_whole(train), return_index=True)
    row_of_code = dict(zip(codes.tolist(), first.tolist(), strict=True))

    def word(code: float) -> str:
        return _print_row(train, row_of_code[int(code)])

    return OutputView("the whole output", _whole, nominal=True, word=word)


def _print_row(train: Outputs, row: int) -> str:
    """Print an output: a vector by its numbers, anything else by the names of its columns."""
    some = list(train.columns.items())[:12]
    cells = []
    for _, column in some:
        value = column.values[row]
        cells.append(column.words[int(value)] if column.words else format(value, "g"))
    if all(name == f"[{i}]" for i, (name, _) in enumerate(some)):
        return f"({', '.join(cells)})"
    named = [f"{name}: {cell}" for (name, _), cell in zip(some, cells, strict=True)]
    return f"({', '.join(named)})"


def _pattern(outputs: Outputs) -> Values:
    """Return a code of all categories of an output together."""
    return _row_hash([c.values for c in outputs.columns.values() if c.words is not None])


def _within_patterns(train: Outputs, most: int = 8) -> list[OutputView]:
    """View each number within each frequent pattern of categories.

    For example: "these keys, and a count above 7".
    """
    has_categories = any(column.words is not None for column in train.columns.values())
    if not has_categories or not train.numbers:
        return []
    codes, counts = np.unique(_pattern(train), return_counts=True)
    frequent = codes[np.argsort(-counts)][:most]
    names = list(train.numbers)[:8]
    found = []
    for rank, code in enumerate(frequent):
        found += [_within(code, rank, name) for name in names]
    return found


def _within(code: np.int64, rank: int, name: str) -> OutputView:
    """View a column of numbers where the categories have one pattern; elsewhere NaN."""

    def restricted(outputs: Outputs) -> Values:
        values = outputs.values(name).astype(np.float64)
        return np.where(_pattern(outputs) == code, values, np.nan)

    return OutputView(f"{name} when the kinds are pattern {rank + 1}", restricted)
