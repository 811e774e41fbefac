"""Parts of a window function over noisy results: value, frame, order, and keys of PARTITION BY.

| function | arguments of the call |
|---|---|
| TOTAL, LOWEST, HIGHEST | value, keys … |
| LAG | value, rows back, order, whether it descends, keys … |
| FRAME | value, first row, last row, number of orders, order, whether it descends, …, keys … |
| ROW_NUMBER, RANK, DENSE_RANK | number of orders, order, whether it descends, …, keys … |

First and last row of a frame are counted from the current row: −2 is two rows before. NULL is the
group's first row as a start, its last row as an end. `PEERS` is the last row that is equal in the
order, as SQL has it where no frame is named.

Law: tests/query/test_windows.py::TestWindows
"""

from __future__ import annotations

from ...frozen import frozen
from .expression import RANKS, Call, Constant, Expression, Function

PEERS = "peers"
"""End of a frame: the last row that equals the current one in the order."""


@frozen
class WindowParts:
    """Parts of a window; `ends` are those of FRAME, or twice the row LAG reads (−1: before)."""

    value: Expression | None
    order: tuple[tuple[Expression, bool], ...]
    keys: tuple[Expression, ...]
    ends: tuple[int | str | None, int | str | None] = (None, None)

    def rows_read_by(self) -> tuple[Expression, ...]:
        """Return the expressions that decide which rows the window reads: order and keys."""
        return (*(expression for expression, _ in self.order), *self.keys)


def window_call(function: Function, parts: WindowParts) -> Call:
    """Return the call of a window function with these parts: the inverse of `window_parts`.

    It does not make LAG, whose arguments are in another order.
    """
    arguments: list[Expression] = []
    if parts.value is not None:
        arguments.append(parts.value)
    if function is Function.FRAME:
        arguments += map(Constant, parts.ends)
    if function is Function.FRAME or function in RANKS:
        arguments.append(Constant(len(parts.order)))
        for expression, descending in parts.order:
            arguments += (expression, Constant(descending))
    return Call(function, (*arguments, *parts.keys))


def window_parts(call: Call) -> WindowParts:
    """Return the parts of a window function.

    >>> from discreet.query.algebra.expression import Field, Function
    >>> from discreet.query.algebra.window import WindowParts, window_call, window_parts
    >>> smooth = WindowParts(Field("n"), ((Field("month"), False),), (Field("region"),), (-2, 0))
    >>> window_parts(window_call(Function.FRAME, smooth)) == smooth
    True

    Refuses: with ValueError a call of another form, as a tree that was made by hand may have.
    """
    arguments = call.arguments
    match call.function:
        case Function.TOTAL | Function.LOWEST | Function.HIGHEST:
            return WindowParts(arguments[0], (), arguments[1:])
        case Function.LAG:
            value, distance, sorted_by, descends, *others = arguments
            # Rows back are rows before the current one, so the place of the frame is negative.
            back = -_whole(distance)
            ordered = ((sorted_by, _truth(descends)),)
            return WindowParts(value, ordered, tuple(others), (back, back))
        case Function.FRAME:
            value, first, last, *others = arguments
            order, keys = _order(others)
            return WindowParts(value, order, keys, (_end(first), _end(last)))
    order, keys = _order(list(arguments))
    return WindowParts(None, order, keys)


def _order(
    arguments: list[Expression],
) -> tuple[tuple[tuple[Expression, bool], ...], tuple[Expression, ...]]:
    """Split the number of orders, the orders and the keys."""
    count = _whole(arguments[0])
    pairs = arguments[1 : 1 + 2 * count]
    if count < 0 or len(pairs) != 2 * count:
        raise ValueError
    order = []
    for expression, descends in zip(pairs[::2], pairs[1::2], strict=True):
        order.append((expression, _truth(descends)))
    return tuple(order), tuple(arguments[1 + 2 * count :])


def _end(argument: Expression) -> int | str | None:
    if argument in (Constant(None), Constant(PEERS)):
        return argument.value  # type: ignore[union-attr, return-value]
    return _whole(argument)


def _whole(argument: Expression) -> int:
    # type() and not isinstance: True is no number of rows.
    if isinstance(argument, Constant) and type(argument.value) is int:
        return argument.value
    raise ValueError


def _truth(argument: Expression) -> bool:
    if isinstance(argument, Constant) and isinstance(argument.value, bool):
        return argument.value
    raise ValueError
