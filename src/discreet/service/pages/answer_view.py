"""View of an answer, from the reply that the API sends too: tables with ± and charts with intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from ...curator.receipt_check import read_receipt
from ...data.schema import Schema
from ...frozen import frozen
from ...show.number import Digits, number_text
from ...show.spreadsheet import safe_csv
from .answer_words import labelled, question_of_answer, sentence_of
from .charts.grouping_tables import AnswerPart, answer_charts, parts_of
from .charts.series import Chart, is_number
from .number_text import key_words, value_words

MAX_ROWS = 200
OPEN_ROWS = 20
"""Rows of a table that are shown before the fold."""
MAX_TABLES = 16
FILES = (
    ("table.csv", "CSV"),
    ("table.parquet", "Parquet"),
    ("question.py", "Python"),
    ("question.sql", "SQL"),
    ("receipt.json", "Receipt"),
)


@frozen
class Cell:
    """Text of one value, and of its error."""

    value: str
    error: str
    noisy: bool


@frozen
class AnswerColumn:
    """Column of an answer: whether its values carry noise, and how many of their digits are shown."""

    name: str
    noisy: bool
    digits: Digits = Digits.ERROR


@frozen
class AnswerRow:
    """Row of an answer; `faint` if its noise is as large as its values: it then tells nothing."""

    cells: tuple[Cell, ...]
    faint: bool


@frozen
class AnswerSet:
    """Table of an answer, with a title where there are several."""

    title: str
    columns: tuple[AnswerColumn, ...]
    rows: tuple[AnswerRow, ...]

    @property
    def folds(self) -> tuple[tuple[AnswerRow, ...], tuple[AnswerRow, ...]]:
        """The first rows, which are shown, and the others, which are folded."""
        return self.rows[:OPEN_ROWS], self.rows[OPEN_ROWS:]


@frozen
class AnswerView:
    """Values for the HTML fragment of an answer.

    `more` counts the rows left out. `links` is False for a rehearsal, which has no files. `every`
    says that charts draw up to 400 groups, not only the first 40.
    """

    title: str
    remark: str
    sentence: str
    tables: tuple[AnswerSet, ...]
    more: int
    charts: tuple[Chart, ...]
    caption: str
    details: tuple[str, ...]
    sql: str
    links: bool
    every: bool = False

    @property
    def files(self) -> tuple[tuple[str, str], ...]:
        """Files to download beside the charts, and the words of their links."""
        return FILES

    @property
    def query(self) -> str:
        """Query of a chart's file, so that it draws the same groups."""
        return "?groups=all" if self.every else ""


def answer_view(
    given: Mapping[str, Any],
    sql: str,
    schemas: Sequence[Schema] = (),
    *,
    rehearsal: bool = False,
    every: bool = False,
) -> AnswerView:
    """Lay out a reply of the verbs `sql` and `rehearse`, with the labels of the schemas.

    Charts draw the first groups; with `every` up to 400.
    """
    question = question_of_answer(sql, schemas)
    reply = labelled(given, question)
    tables = tuple(map(set_of, parts_of(reply, sql)[:MAX_TABLES]))
    shown = [[(cell.value, cell.error) for cell in row.cells] for row in tables[0].rows]
    return AnswerView(
        title="Rehearsal" if rehearsal else "Answer",
        remark="made-up data, nothing was spent" if rehearsal else "",
        sentence=sentence_of(reply, question, shown),
        tables=tables,
        more=len(reply["rows"]) - sum(len(one.rows) for one in tables),
        charts=tuple(answer_charts(reply, sql, every=every)),
        caption=reply["caption"],
        # Replies that older releases stored have no details.
        details=tuple(reply.get("details", "").splitlines()),
        sql=sql,
        links=not rehearsal,
        every=every,
    )


def set_of(part: AnswerPart) -> AnswerSet:
    """Lay out the first MAX_ROWS rows of one table."""
    reply = part.reply
    columns = []
    for column in reply["columns"]:
        # Replies that older releases stored may say "every", which is shown as far as it is known too.
        digits = Digits.WHOLE if column.get("digits") == "whole" else Digits.ERROR
        columns.append(AnswerColumn(column["name"], column["noisy"], digits))
    faint = set(reply.get("faint", ()))
    rows = []
    shown = zip(reply["rows"][:MAX_ROWS], reply["intervals"][:MAX_ROWS], strict=True)
    for place, (row, intervals) in enumerate(shown):
        cells = [_cell(*given) for given in zip(columns, row, intervals, strict=True)]
        rows.append(AnswerRow(tuple(cells), place in faint))
    return AnswerSet(part.title, tuple(columns), tuple(rows))


def cost_of(reply: Mapping[str, Any]) -> str:
    """Return the price that the receipt says; "" without a receipt."""
    receipt = reply.get("receipt")
    if receipt is None:
        return ""
    return _cost(str(receipt))


@lru_cache(maxsize=1024)
def _cost(receipt: str) -> str:
    return str(read_receipt(receipt).shown_price())


def _cell(column: AnswerColumn, value: object, ends: Sequence[object] | None) -> Cell:
    """Write one value as the library does, with the page's thin spaces between thousands."""
    if not column.noisy:
        return Cell(key_words(value), "", noisy=False)
    if ends is None:
        return Cell(value_words(value), "", noisy=True)
    numbers = [float(one) for one in (value, *ends) if is_number(one)]
    if len(numbers) < 3:
        low, high = ends
        return Cell(value_words(value), f"({value_words(low)} to {value_words(high)})", noisy=True)
    estimate, least, most = numbers
    words = number_text(estimate, least, most, column.digits)
    return Cell(_space(words.value), _space(words.error), noisy=True)


def _space(words: str) -> str:
    return words.replace(",", "\u202f").replace("-", "−")


def answer_csv(reply: Mapping[str, Any]) -> str:
    """Write the table as CSV, every noisy column followed by the ends of its interval; NULL is empty.

    >>> from discreet.service.pages.answer_view import answer_csv
    >>> reply = {"columns": [{"name": "n", "noisy": True}], "rows": [[3.0]], "intervals": [[[1.0, 5.0]]]}
    >>> answer_csv(reply).splitlines()
    ['n,n_low,n_high', '3.0,1.0,5.0']
    """
    return safe_csv(answer_table(reply, ""))


def answer_table(reply: Mapping[str, Any], missing: object) -> list[list[object]]:
    """Return names and rows of the table; after a noisy column come the ends of its intervals, else `missing`."""
    columns = reply["columns"]
    names: list[object] = []
    for column in columns:
        name = column["name"]
        names.append(name)
        if column["noisy"]:
            names += [f"{name}_low", f"{name}_high"]
    table = [names]
    for row, intervals in zip(reply["rows"], reply["intervals"], strict=True):
        cells: list[object] = []
        for column, value, ends in zip(columns, row, intervals, strict=True):
            cells.append(value)
            if column["noisy"]:
                cells += ends or (missing, missing)
        table.append(cells)
    return table
