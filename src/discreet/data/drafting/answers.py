"""Parser of the steward's answers on a command line: `age=0:120`, `region=N,S,E,W`.

An answer names a column and states its bounds, its list of keys or its greatest length. The result
is a declared column.
"""

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
    # Longest first: `income>=50K` begins with `income` and an equals sign follows later.
    for name in sorted(known, key=len, reverse=True):
        prefix = f"{name}="
        if answer.startswith(prefix):
            return name, answer.removeprefix(prefix)
    raise InvalidArgument(
        f"{answer!r} names no column; write NAME=ANSWER, with one of {', '.join(known)}"
    )


def read_bounds(kind: ColumnType, answer: str) -> Column:
    """Read the bounds of a column: `low:high`, with `:step` for numbers, `low..high` for times.

    >>> from discreet.data.drafting.answers import read_bounds
    >>> read_bounds("integer", "0:120"), read_bounds("real", "0:500:0.01"), read_bounds("date", "2024-01-01:2024-12-31")
    (Integer(0, 120), Real(0, 500, step=0.01), Date('2024-01-01', '2024-12-31'))
    """
    # Times of day hold colons themselves, so two points separate them.
    separator = ".." if ".." in answer else ":"
    bounds = [bound.strip() for bound in answer.split(separator)]
    if len(bounds) == 2 and kind == "date":
        return Date(*bounds)
    if len(bounds) == 2 and kind == "timestamp":
        return Timestamp(*bounds)
    if len(bounds) in (2, 3) and kind in ("integer", "real"):
        exact = [rational(bound, "a bound") for bound in bounds]
        has_step = len(bounds) == 3
        all_whole = all(bound.denominator == 1 for bound in exact)
        # Fractions or a step make a Real column even where the cells are integers.
        if kind == "integer" and all_whole and not has_step:
            return Integer(int(exact[0]), int(exact[1]))
        return Real(*exact)
    raise InvalidArgument(
        f"{answer!r} are no bounds for a column of kind {kind}; write 0:120 for numbers (0:500:0.01 with a step), "
        "2024-01-01:2024-12-31 for days, 2024-01-01T00:00:00..2024-12-31T23:59:59 for times; "
        "if the kind is guessed wrongly, say --type NAME=KIND"
    )


def read_key_list(kind: ColumnType, answer: str) -> Category:
    """Read a closed list of keys; integers if the column holds them.

    >>> from discreet.data.drafting.answers import read_key_list
    >>> read_key_list("text", "N, S"), read_key_list("integer", "0,1")
    (Category(['N', 'S']), Category([0, 1]))
    """
    keys = [key.strip() for key in answer.split(",")]
    if kind != "integer":
        return Category(keys)
    # A key that is no integer stays text; Category then refuses the mixture.
    return Category([int(key) if key.lstrip("+-").isdecimal() else key for key in keys])


def read_max_length(answer: str) -> Text:
    """Read the maximal length of a text column.

    >>> from discreet.data.drafting.answers import read_max_length
    >>> read_max_length("50")
    Text(max_length=50)
    """
    return Text(max_length=whole(answer, "the length", least=1))
