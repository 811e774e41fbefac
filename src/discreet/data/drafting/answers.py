"""The steward's answers as typed on a command line: `age=0:120`, `region=N,S,E,W`."""

from __future__ import annotations

from collections.abc import Iterable

from ...arithmetic.rational import rational, whole
from ...errors import InvalidArgument
from ..columns.column import Category, Column, ColumnType, Date, Integer, Real, Text, Timestamp


def split_answer(answer: str, names: Iterable[str]) -> tuple[str, str]:
    """Split `name=answer` at the name of a column; a name may itself hold an equals sign.

    >>> from discreet.data.drafting.answers import split_answer
    >>> split_answer("income>=50K=0,1", ["income", "income>=50K"])
    ('income>=50K', '0,1')
    """
    known = tuple(names)
    for name in sorted(known, key=len, reverse=True):
        if answer.startswith(f"{name}="):
            return name, answer[len(name) + 1 :]
    raise InvalidArgument(
        f"{answer!r} names no column; write NAME=ANSWER, with one of {', '.join(known)}"
    )


def bounded(kind: ColumnType, answer: str) -> Column:
    """Read bounds for a column of a kind: `low:high`, with `:step` for numbers, `low..high` for times.

    >>> from discreet.data.drafting.answers import bounded
    >>> bounded("integer", "0:120"), bounded("real", "0:500:0.01"), bounded("date", "2024-01-01:2024-12-31")
    (Integer(0, 120), Real(0, 500, step=0.01), Date('2024-01-01', '2024-12-31'))
    """
    parts = [part.strip() for part in answer.split(".." if ".." in answer else ":")]
    if len(parts) == 2 and kind == "date":
        return Date(*parts)
    if len(parts) == 2 and kind == "timestamp":
        return Timestamp(*parts)
    if len(parts) in (2, 3) and kind in ("integer", "real"):
        exact = [rational(part, "a bound") for part in parts]
        if kind == "integer" and len(parts) == 2 and all(bound.denominator == 1 for bound in exact):
            return Integer(int(exact[0]), int(exact[1]))
        return Real(*exact)
    raise InvalidArgument(
        f"{answer!r} are no bounds for a column of kind {kind}; write 0:120 for numbers (0:500:0.01 with a step), "
        "2024-01-01:2024-12-31 for days, 2024-01-01T00:00:00..2024-12-31T23:59:59 for times; "
        "if the kind is guessed wrongly, say --type NAME=KIND"
    )


def keyed(kind: ColumnType, answer: str) -> Category:
    """Read a closed list of keys; whole numbers if the column holds them.

    >>> from discreet.data.drafting.answers import keyed
    >>> keyed("text", "N, S"), keyed("integer", "0,1")
    (Category(['N', 'S']), Category([0, 1]))
    """
    words = [word.strip() for word in answer.split(",")]
    if kind == "integer":
        return Category([int(word) if word.lstrip("+-").isdecimal() else word for word in words])
    return Category(words)


def lengthy(answer: str) -> Text:
    """Read the most characters of a text.

    >>> from discreet.data.drafting.answers import lengthy
    >>> lengthy("50")
    Text(max_length=50)
    """
    return Text(max_length=whole(answer, "the length", least=1))
