"""Tables of answers: with ± in the terminal and in Markdown, and with error bars in a notebook.

Numbers are rounded to their error here and nowhere else: values and exports keep every digit.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeAlias

from ...query.domains.type_of import ValueType
from ...query.text.labels import declared_heads, value_labels
from ...show.bar import error_bar
from ...show.markup import Html, element, join
from ...show.number import Digits, NumberText, number_text, plain_number
from ...show.scale import ChartScale
from ...show.table import fitted_table, html_rows, text_table
from ..export import plain
from .caption import caption_line, details_of
from .display_facts import DisplayFacts, display_facts_of

if TYPE_CHECKING:
    from ..answer import Answer, Interval

Ends: TypeAlias = tuple[float, float]


def cell(
    value: object,
    interval: Interval,
    sort: ValueType | None,
    digits: Digits = Digits.ERROR,
    *,
    key: bool = False,
) -> NumberText:
    """Write one value with its error, or with the ends of its interval; keys are written as they are.

    >>> from discreet.answer.text.answer import cell
    >>> str(cell(1234.5, (1200.0, 1269.0), "number")), str(cell(None, (0.0, 120.0), "number"))
    ('1,234 ± 35', 'NULL (0 to 120)')
    >>> str(cell(2024, None, "number", key=True)), str(cell(3.0, None, "number"))
    ('2024', '3')
    """
    if key or interval is None:
        return NumberText(_written(value, sort, key=key))
    low, high = interval
    if isinstance(value, float) and isinstance(low, float) and isinstance(high, float):
        return number_text(value, low, high, digits)
    low_text = _written(low, sort)
    high_text = _written(high, sort)
    return NumberText(_written(value, sort), f"({low_text} to {high_text})")


def _written(value: object, sort: ValueType | None, *, key: bool = False) -> str:
    """Write a value without its error; floats to six digits, keys to fifteen."""
    shown = plain(value, sort)
    if shown is None:
        return "NULL"
    if isinstance(shown, float):
        if key:
            return f"{shown:.15g}"
        return plain_number(float(f"{shown:.6g}"))
    return str(shown)


def _columns(seen: DisplayFacts) -> Iterator[tuple[str, list[NumberText]]]:
    """Yield the columns by name, with their values as they are written."""
    answer = seen.answer
    noisy = set(answer.noisy)
    labels = value_labels(answer.question)
    for name, sort in zip(answer.columns, answer.sorts, strict=True):
        digits = seen.digits[name]
        is_key = name not in noisy
        words = labels.get(name, {})
        cells = []
        for value, row in zip(answer.column(name), seen.intervals, strict=True):
            if value in words:
                cells.append(NumberText(words[value]))
                continue
            cells.append(cell(value, row.get(name), sort, digits, key=is_key))
        yield name, cells


def _line(seen: DisplayFacts) -> str:
    """Return the line below the table; an answer without a ledger says what ± is."""
    return seen.answer.caption or caption_line(seen.answer, "")


def _bars(
    seen: DisplayFacts, name: str, draw: Callable[[Sequence[float], Ends, bool], str]
) -> list[str]:
    """Draw the value and interval of every row of a column with `draw`, all to one scale.

    A row without a number or an interval gets "".
    """
    bars: list[Sequence[float]] = []
    for value, row in zip(seen.answer.column(name), seen.intervals, strict=True):
        numbers = (value, *(row[name] or ()))
        bars.append([number for number in numbers if isinstance(number, float)])
    # A bar is drawn from a value and both ends.
    complete = [bar for bar in bars if len(bar) == 3]
    lowest = min((bar[1] for bar in complete), default=0.0)
    highest = max((bar[2] for bar in complete), default=0.0)
    drawn = []
    for place, bar in enumerate(bars):
        if len(bar) == 3:
            drawn.append(draw(bar, (lowest, highest), place in seen.faint))
        else:
            drawn.append("")
    return drawn


def answer_text(answer: Answer, width: int | None = None) -> str:
    """Lay the table out in columns; the first noisy column has bars if it holds numbers.

    `width` is that of a terminal. A wider table loses its bars first, then continues below itself under
    its keys.
    """
    seen = display_facts_of(answer)
    heads = declared_heads(answer.question)
    first_noisy = next(iter(answer.noisy), None)
    columns: list[list[str]] = []
    bars: list[str] = []
    bars_after = 0
    for name, words in _columns(seen):
        texts = _aligned(words) if name in answer.noisy else map(str, words)
        columns.append([heads.get(name, name), *texts])
        if name == first_noisy and len(answer) > 1:
            bars = _bars(seen, name, _characters)
            bars_after = len(columns)
    drawn = columns
    if any(bars):
        drawn = [*columns[:bars_after], ["", *bars], *columns[bars_after:]]
    below = _line(seen)
    table = text_table(list(zip(*drawn, strict=True)))
    if width is not None:
        if max(map(len, table.splitlines())) > width:
            key_count = len(answer.columns) - len(answer.noisy)
            table = fitted_table(list(zip(*columns, strict=True)), width, key_count)
        below = textwrap.fill(below, width)
    if not below:
        return table
    return f"{table}\n{below}"


def _aligned(words: Sequence[NumberText]) -> Iterator[str]:
    """Align values by their last digit."""
    wide = max((len(word.value) for word in words if word.error), default=0)
    return (f"{word.value.rjust(wide)} {word.error}".rstrip() for word in words)


def _characters(bar: Sequence[float], span: Ends, faint: bool) -> str:
    value, low, high = bar
    return error_bar((low, high), value, span, hollow=faint)


def answer_html(answer: Answer) -> Html:
    """Write the table for a notebook: numbers with an error bar each, faint rows in grey, a fold."""
    seen = display_facts_of(answer)
    columns: list[list[str]] = []
    for name, words in _columns(seen):
        texts = [str(word) for word in words]
        if name in answer.noisy:
            bars = _bars(seen, name, _svg)
            columns.append([join(pair) for pair in zip(texts, bars, strict=True)])
        else:
            columns.append(texts)
    looks = []
    for place in range(len(answer)):
        looks.append("opacity:.45" if place in seen.faint else "")
    rows = zip(looks, zip(*columns, strict=True), strict=True)
    heads = declared_heads(answer.question)
    names = [heads.get(name, name) for name in answer.columns]
    table = html_rows(names, rows, caption=_line(seen), side="bottom")
    sentences = [element("p", sentence) for sentence in details_of(seen).splitlines()]
    return join([table, element("details", element("summary", "Details"), *sentences)])


def _svg(bar: Sequence[float], span: Ends, _faint: bool) -> Html:
    x = ChartScale(*span, 2, 118)
    dot, low, high = map(x.place, bar)
    line = element("line", x1=low, x2=high, y1=6, y2=6, stroke="currentColor")
    mark = element("circle", cx=dot, cy=6, r=2.5, fill="currentColor")
    return join([element("br"), element("svg", line, mark, width=120, height=12, role="img")])


def answer_markdown(answer: Answer) -> str:
    """Write the table as Markdown, faint rows in italics."""
    seen = display_facts_of(answer)
    columns = []
    for _, words in _columns(seen):
        columns.append(list(map(str, words)))
    rows = []
    for place, row in enumerate(zip(*columns, strict=True)):
        cells = [_escaped(text) for text in row]
        if place in seen.faint:
            cells = [f"*{text}*" for text in cells]
        rows.append(cells)
    labels = declared_heads(answer.question)
    heads = [_escaped(labels.get(name, name)) for name in answer.columns]
    rule = []
    for name in answer.columns:
        rule.append("---:" if name in answer.noisy else "---")
    lines = [f"| {' | '.join(row)} |" for row in (heads, rule, *rows)]
    lines.append("")
    below = _line(seen)
    if below:
        lines += [below, ""]
    return "\n".join(lines)


def _escaped(text: str) -> str:
    """Escape the characters that end or format a cell of Markdown; an empty cell is a blank."""
    # The backslash first, since the other escapes add some.
    for special in ("\\", "|", "*"):
        text = text.replace(special, f"\\{special}")
    return text.replace("\n", " ") or " "
