"""View of an answer, from the reply that the API sends too: tables with ± and charts with intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from ...curator.receipt_check import read_receipt
from ...frozen import frozen
from ...show.number import Digits, number_text
from ...show.spreadsheet import safe_csv
from .charts.grouping_tables import AnswerPart, answer_charts, parts_of
from .charts.series import Chart
from .number_text import key_words, percent, value_words

MAX_ROWS = 200
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
    """One value in words, and how far off it may be."""

    value: str
    error: str
    noisy: bool


@frozen
class AnswerColumn:
    """A column's name, whether its values carry noise, and how many digits of them are shown."""

    name: str
    noisy: bool
    digits: Digits = Digits.ERROR


@frozen
class AnswerRow:
    """One row; a faint one says nothing, since its noise is as large as what it hides."""

    cells: tuple[Cell, ...]
    faint: bool


@frozen
class AnswerSet:
    """One table of an answer; it has a title where there are several."""

    title: str
    columns: tuple[AnswerColumn, ...]
    rows: tuple[AnswerRow, ...]


@frozen
class AnswerView:
    """Everything the piece shows; `more` counts the rows that are not, `links` says whether there is a receipt."""

    title: str
    remark: str
    tables: tuple[AnswerSet, ...]
    more: int
    faint: int
    charts: tuple[Chart, ...]
    level: str
    cost: str
    sql: str
    links: bool
    every: bool = False

    @property
    def files(self) -> tuple[tuple[str, str], ...]:
        """What can be taken home beside the charts, and its words."""
        return FILES

    @property
    def note(self) -> str:
        """What the first table says beside its level."""
        cost = f"It cost {self.cost}." if self.cost else ""
        grey = (
            "Rows in grey say nothing: their noise is as large as what it hides."
            if self.faint
            else ""
        )
        return " ".join(filter(None, (cost, grey)))

    @property
    def query(self) -> str:
        """What the address of a chart's file adds to draw the same groups."""
        return "?groups=all" if self.every else ""


def answer_view(
    reply: Mapping[str, Any], sql: str, *, rehearsal: bool = False, every: bool = False
) -> AnswerView:
    """Lay out a reply of the verbs `sql` and `rehearse`; charts draw the first groups, or `every` one."""
    level = float(reply["level"])
    tables = tuple(map(set_of, parts_of(reply, sql)[:MAX_TABLES]))
    return AnswerView(
        title="Rehearsal" if rehearsal else "Answer",
        remark="made-up data, nothing was spent" if rehearsal else "",
        tables=tables,
        more=len(reply["rows"]) - sum(len(one.rows) for one in tables),
        faint=len(reply.get("faint", ())),
        charts=tuple(answer_charts(reply, sql, every=every)),
        level=percent(level),
        cost="" if rehearsal else cost_of(reply),
        sql=sql,
        links=not rehearsal,
        every=every,
    )


def set_of(part: AnswerPart) -> AnswerSet:
    """Lay out one table, its first rows."""
    reply = part.reply
    columns = tuple(
        AnswerColumn(one["name"], one["noisy"], Digits(one.get("digits", "error")))
        for one in reply["columns"]
    )
    faint = set(reply.get("faint", ()))
    rows = [
        AnswerRow(
            tuple(_cell(*given) for given in zip(columns, row, ends, strict=True)), place in faint
        )
        for place, (row, ends) in enumerate(zip(reply["rows"], reply["intervals"], strict=True))
    ]
    return AnswerSet(part.title, columns, tuple(rows[:MAX_ROWS]))


def cost_of(reply: Mapping[str, Any]) -> str:
    """Return what the receipt says it cost, in the words of the ledger's budget; nothing if there is none."""
    receipt = reply.get("receipt")
    return "" if receipt is None else _cost(str(receipt))


@lru_cache(maxsize=1024)
def _cost(receipt: str) -> str:
    return str(read_receipt(receipt).stated_price())


def _cell(column: AnswerColumn, value: object, ends: Sequence[object] | None) -> Cell:
    """Write one value as the library does, with the page's thin spaces between thousands."""
    if not column.noisy:
        return Cell(key_words(value), "", noisy=False)
    if ends is None:
        return Cell(value_words(value), "", noisy=True)
    numbers = [
        float(one)
        for one in (value, *ends)
        if isinstance(one, int | float) and not isinstance(one, bool)
    ]
    if len(numbers) == 3:
        if (
            column.digits is Digits.EVERY and numbers[2] - numbers[1] > 1
        ):  # the files have every digit
            numbers[0] = round(numbers[0], 2)
        words = number_text(numbers[0], numbers[1], numbers[2], column.digits)
        return Cell(_space(words.value), _space(words.error), noisy=True)
    low, high = ends
    return Cell(value_words(value), f"({value_words(low)} to {value_words(high)})", noisy=True)


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
    """Return names and rows of the table; noisy columns are followed by the ends of their intervals, else `missing`."""
    columns = reply["columns"]
    table: list[list[object]] = [[name for one in columns for name in _names(one)]]
    for row, ends in zip(reply["rows"], reply["intervals"], strict=True):
        cells: list[object] = []
        for one, value, box in zip(columns, row, ends, strict=True):
            cells += [value, *(box or (missing, missing))] if one["noisy"] else [value]
        table.append(cells)
    return table


def _names(column: Mapping[str, Any]) -> tuple[str, ...]:
    name = column["name"]
    return (name, f"{name}_low", f"{name}_high") if column["noisy"] else (name,)
