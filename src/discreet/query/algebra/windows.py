"""Windows over noisy results, SUM … OVER () and LAG, as parts of an expression."""

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
    inner = [call for argument in expression.arguments for call in windows_of(argument)]
    return [*inner, expression] if expression.function in WINDOWS else inner


def outside_windows(expression: Expression) -> list[Expression]:
    """List what an expression is made from: columns and constants, and windows as a whole."""
    if not isinstance(expression, Call) or expression.function in WINDOWS:
        return [expression]
    return [part for argument in expression.arguments for part in outside_windows(argument)]


def window_name(call: Call) -> str:
    """Return the name under which a row holds what a window says of it; no column has such a name."""
    return f"\0{call!r}"
