"""Result of a statement: columns and rows to be sent to the client, and the tag of the command."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from ...frozen import frozen
from .refusals import WireError
from .types import TEXT

T = TypeVar("T")
Row = tuple[object, ...]


@frozen
class ResultColumn:
    """Column of a result: name, PostgreSQL's number of its type, and its index in a job's reply.

    `end` is 0 for the low and 1 for the high end of the interval of column `place`, None for its
    value.
    """

    name: str
    oid: int
    place: int = 0
    end: int | None = None


@frozen
class StatementResult:
    """Result of a statement; `columns` is None for a command without rows.

    `tag` is PostgreSQL's, such as SELECT 4. The values of a row have the types of their columns.
    """

    tag: str
    columns: tuple[ResultColumn, ...] | None = None
    rows: Sequence[Row] = ()


def text_result(tag: str, name: str, *values: str) -> StatementResult:
    """Return one column of texts."""
    return StatementResult(
        tag, (ResultColumn(name, TEXT.oid),), tuple((value,) for value in values)
    )


def answer_rows(columns: Sequence[ResultColumn], reply: Mapping[str, Any]) -> tuple[Row, ...]:
    """Return the rows of an answer as a job stored it, with the ends of intervals where they are asked for."""
    # Columns say their own place, so that intervals can stand between values.
    rows = []
    for values, intervals in zip(reply["rows"], reply["intervals"], strict=True):
        row = []
        for column in columns:
            if column.end is None:
                row.append(values[column.place])
            else:
                # A value without a known bound has empty ends.
                ends = intervals[column.place] or (None, None)
                row.append(ends[column.end])
        rows.append(tuple(row))
    return tuple(rows)


def keep(kept: dict[str, T], name: str, value: T, limit: int) -> None:
    """Keep a statement, portal or cursor of a session under its name; refuse more than `limit`."""
    if len(kept) >= limit and name not in kept:
        raise WireError("54000", f"a session keeps at most {limit} of these", "close some")
    kept[name] = value
