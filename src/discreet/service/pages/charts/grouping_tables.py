"""Tables of one answer: splits the rows of `GROUPING SETS`, `CUBE` and `ROLLUP` by their keys.

A key that is summed over is NULL, and no key of such a question may be NULL otherwise. So the keys
that are NULL say to which grouping set a row belongs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ....frozen import frozen
from .series import Chart, charts_of

SEVERAL = re.compile(r"\b(CUBE|ROLLUP|GROUPING\s+SETS)\b", re.IGNORECASE)
MAX_DRAWN_ROWS = 6


@frozen
class AnswerPart:
    """One table of an answer: a reply with its own rows and columns; no title if it is the only one."""

    title: str
    reply: Mapping[str, Any]


def parts_of(reply: Mapping[str, Any], sql: str) -> tuple[AnswerPart, ...]:
    """Take an answer apart into its tables, those of fewer keys first.

    >>> from discreet.service.pages.charts.grouping_tables import parts_of
    >>> columns = [{"name": "sex", "noisy": False}, {"name": "n", "noisy": True}]
    >>> reply = {"columns": columns, "rows": [["f", 3.0], [None, 5.0]], "intervals": [[None, None]] * 2}
    >>> [(part.title, part.reply["rows"]) for part in parts_of(reply, "SELECT … GROUP BY CUBE (sex)")]
    [('All together', [[5.0]]), ('By sex', [['f', 3.0]])]
    """
    if not SEVERAL.search(sql):
        return (AnswerPart("", reply),)
    keys = [place for place, one in enumerate(reply["columns"]) if not one["noisy"]]
    rows_by_absent: dict[tuple[int, ...], list[int]] = {}
    for place, row in enumerate(reply["rows"]):
        absent = tuple(key for key in keys if row[key] is None)
        rows_by_absent.setdefault(absent, []).append(place)
    if not rows_by_absent:
        return (AnswerPart("", reply),)
    tables = sorted(rows_by_absent.items(), key=lambda item: -len(item[0]))
    return tuple(_part(reply, absent, rows) for absent, rows in tables)


def _part(reply: Mapping[str, Any], absent: tuple[int, ...], places: list[int]) -> AnswerPart:
    """Return the rows at `places` as a table of their own, without the `absent` columns."""
    kept = [place for place in range(len(reply["columns"])) if place not in absent]
    columns, faint = [reply["columns"][place] for place in kept], set(reply.get("faint", ()))
    own = {
        "columns": columns,
        "rows": [[reply["rows"][row][place] for place in kept] for row in places],
        "intervals": [[reply["intervals"][row][place] for place in kept] for row in places],
        "faint": [at for at, row in enumerate(places) if row in faint],
    }
    names = ", ".join(str(one["name"]) for one in columns if not one["noisy"])
    return AnswerPart(f"By {names}" if names else "All together", {**reply, **own})


def answer_charts(reply: Mapping[str, Any], sql: str, *, every: bool = False) -> Iterator[Chart]:
    """Draw the first six tables of an answer; of many groups the first 40, or 400 if `every`."""
    parts = [part for part in parts_of(reply, sql) if not part.title or len(part.reply["rows"]) > 1]
    for part in parts[:MAX_DRAWN_ROWS]:
        yield from charts_of(part.reply, float(reply["level"]), every=every)
