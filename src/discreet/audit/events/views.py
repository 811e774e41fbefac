"""Ways of looking at an output. A view turns every output into one number; an event is "that number is at least t"."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations, pairwise

import numpy as np

from ...frozen import frozen
from ..evidence.bounds import Floats
from .outputs import Outputs, Values

_WIDEST = 48
"""At most this many coordinates are looked at one by one; the rest are seen by sums and classifiers."""


@frozen
class OutputView:
    """A name and a function from outputs to one number each (NaN: this view does not apply)."""

    name: str
    of: Callable[[Outputs], Values]
    nominal: bool = False
    """The numbers are only names: order means nothing, so they are judged by their likelihood ratio."""
    word: Callable[[float], str] | None = None
    """How to print a number of a nominal view."""


def lowest_bit(values: Values) -> Floats:
    """Return the power of two of the lowest set bit: what a float or an integer is a multiple of.

    >>> import numpy as np
    >>> from discreet.audit.events.views import lowest_bit
    >>> lowest_bit(np.array([0.75, 8.0, 0.1, 0.0, np.nan])).tolist()
    [-2.0, 3.0, -55.0, 1100.0, nan]
    """
    if values.dtype.kind == "i":
        whole = values.astype(np.int64)
        bit = np.frexp(np.abs((whole & -whole).astype(np.float64)))[1] - 1.0
        return np.where(whole == 0, 1100.0, bit)
    finite = np.where(np.isfinite(values), values, 0.0)
    mantissa, exponent = np.frexp(finite)
    digits = (mantissa * 2.0**53).astype(np.int64)
    bit = np.frexp((digits & -digits).astype(np.float64))[1] - 1.0
    return np.where(np.isfinite(values), np.where(finite == 0, 1100.0, exponent - 53 + bit), np.nan)


def views(train: Outputs) -> list[OutputView]:
    """List the views that these outputs allow, plain ones first."""
    numbers = list(train.numbers)[:_WIDEST]
    found = [view for name in numbers for view in _number_views(name, train)]
    found += [_word_view(name, train) for name, c in train.columns.items() if c.words is not None]
    if len(numbers) > 1:
        found += _joint_views(list(train.numbers))
    if len(train.columns) > 1:
        found.append(_whole_view(train))
        found += _within_patterns(train)
    return found


def _number_views(name: str, train: Outputs) -> list[OutputView]:
    def column(outputs: Outputs) -> Values:
        return outputs.columns[name].values

    found = [
        OutputView(name, column),
        OutputView(f"lowest set bit of {name}", lambda o: lowest_bit(column(o))),
    ]
    values = train.columns[name].values
    if values.dtype.kind == "f" and np.any(_fraction(values) > 0):
        found.append(OutputView(f"fractional part of {name}", lambda o: _fraction(column(o))))
    return found


def _fraction(values: Values) -> Floats:
    finite = np.where(np.isfinite(values), values, np.nan)
    return finite - np.floor(finite)


def _word_view(name: str, train: Outputs) -> OutputView:
    words = train.columns[name].words or ()
    return OutputView(
        name,
        lambda o: o.columns[name].values,
        nominal=True,
        word=lambda code: repr(words[int(code)]),
    )


def _joint_views(names: list[str]) -> list[OutputView]:
    def matrix(outputs: Outputs) -> Floats:
        return np.stack([outputs.columns[name].values.astype(np.float64) for name in names], axis=1)

    pairs = list(combinations(names, 2)) if len(names) <= 6 else list(pairwise(names))[:_WIDEST]
    found = [_difference(a, b) for a, b in pairs]
    found.append(OutputView("the sum", lambda o: matrix(o).sum(axis=1)))
    found.append(OutputView("the largest", lambda o: matrix(o).max(axis=1)))
    found.append(OutputView("the smallest", lambda o: matrix(o).min(axis=1)))
    found.append(
        OutputView(
            "which is largest", lambda o: matrix(o).argmax(axis=1).astype(np.int64), nominal=True
        )
    )
    found.append(OutputView("how many are repeated", lambda o: _repeated(matrix(o))))
    return found


def _difference(a: str, b: str) -> OutputView:
    return OutputView(
        f"{a} − {b}",
        lambda o: o.columns[a].values.astype(float) - o.columns[b].values.astype(float),
    )


def _repeated(table: Floats) -> Floats:
    ordered = np.sort(table, axis=1)
    return np.asarray(np.sum(ordered[:, 1:] == ordered[:, :-1], axis=1), dtype=np.float64)


def _mixed(columns: list[Values]) -> Values:
    """Hash rows to 64 bits; a collision merges two outputs, which costs power and not soundness."""
    total = np.zeros(len(columns[0]), dtype=np.uint64)
    for i, column in enumerate(columns):
        bits = np.ascontiguousarray(column).view(np.uint64)
        total = (total ^ (bits ^ (bits >> np.uint64(29)))) * np.uint64(0x9E3779B97F4A7C15 + 2 * i)
        total ^= total >> np.uint64(32)
    return total.view(np.int64)


def _whole(outputs: Outputs) -> Values:
    return _mixed([c.values for c in outputs.columns.values()])


def _whole_view(train: Outputs) -> OutputView:
    codes, first = np.unique(_whole(train), return_index=True)
    row = dict(zip(codes.tolist(), first.tolist(), strict=True))
    return OutputView(
        "the whole output", _whole, nominal=True, word=lambda code: _row(train, row[int(code)])
    )


def _row(train: Outputs, row: int) -> str:
    """Print an output: a vector by its numbers, anything else by the names of its parts."""
    some = list(train.columns.items())[:12]
    cells = [
        c.words[int(c.values[row])] if c.words else format(c.values[row], "g") for _, c in some
    ]
    if all(name == f"[{i}]" for i, (name, _) in enumerate(some)):
        return f"({', '.join(cells)})"
    return (
        "("
        + ", ".join(f"{name}: {cell}" for (name, _), cell in zip(some, cells, strict=True))
        + ")"
    )


def _pattern(outputs: Outputs) -> Values:
    return _mixed([c.values for c in outputs.columns.values() if c.words is not None])


def _within_patterns(train: Outputs, most: int = 8) -> list[OutputView]:
    """Look at each number within each frequent pattern of words and kinds: "these keys, and a count above 7"."""
    worded = [name for name, c in train.columns.items() if c.words is not None]
    if not worded or not train.numbers:
        return []
    codes, counts = np.unique(_pattern(train), return_counts=True)
    frequent = codes[np.argsort(-counts)][:most]
    return [
        _within(code, rank, name)
        for rank, code in enumerate(frequent)
        for name in list(train.numbers)[:8]
    ]


def _within(code: np.int64, rank: int, name: str) -> OutputView:
    def restricted(outputs: Outputs) -> Values:
        values = outputs.columns[name].values.astype(np.float64)
        return np.where(_pattern(outputs) == code, values, np.nan)

    return OutputView(f"{name} when the kinds are pattern {rank + 1}", restricted)
