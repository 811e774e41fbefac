"""Window functions over noisy results, SUM … OVER () and LAG, inside an expression."""

from __future__ import annotations

from .expression import Call, Expression, Function

WINDOWS = (Function.TOTAL, Function.LAG)


def windows_of(expression: Expression) -> list[Call]:
    """List the windows in an expression, those inside others first.

    >>> from discreet.query.algebra.expression import Call, Field, Function
    >>> from discreet.query.algebra.windows import windows_of
    >>> total = Call(Function.TOTAL, (Field("n"),))
    >>> windows_of(Call(Function.DIVIDE, (Field("n"), total))) == [total]
    True
    """
    if not isinstance(expression, Call):
        return []
    windows: list[Call] = []
    for argument in expression.arguments:
        windows += windows_of(argument)
    # Inner windows come first, because outer ones are computed from their values.
    if expression.function in WINDOWS:
        windows.append(expression)
    return windows


def operands_outside_windows(expression: Expression) -> list[Expression]:
    """List the operands of an expression: columns, constants, and windows as a whole."""
    if not isinstance(expression, Call) or expression.function in WINDOWS:
        return [expression]
    operands: list[Expression] = []
    for argument in expression.arguments:
        operands += operands_outside_windows(argument)
    return operands


def window_name(call: Call) -> str:
    """Return the name under which a row holds the value of a window; no column has such a name."""
    # Names of columns hold no NUL character, so none can be equal to this one.
    return f"\0{call!r}"
