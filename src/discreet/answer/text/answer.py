"""Tables of answers: with ± in the terminal and in Markdown, and with error bars in a notebook.

Numbers are rounded to their error here and nowhere else: values and exports keep every digit.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

from ...plan.plan import Plan
from ...query.domains.type_of import ValueType
from ...show.bar import error_bar
from ...show.markup import Html, element, join
from ...show.number import Digits, NumberText, number_text, plain_number
from ...show.scale import ChartScale
from ...show.table import fitted_table, html_rows, text_table
from ..computed.window_intervals import why_unbounded
from ..export import plain
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
    for name, sort in zip(answer.columns, answer.sorts, strict=True):
        digits = seen.digits[name]
        is_key = name not in noisy
        cells = []
        for value, row in zip(answer.column(name), seen.intervals, strict=True):
            cells.append(cell(value, row.get(name), sort, digits, key=is_key))
        yield name, cells


def _below(seen: DisplayFacts, faint: str) -> str:
    """Return the notes below the table.

    They are the caption, an unusual level, how rows were picked, and which rows and columns tell nothing.
    """
    answer = seen.answer
    level = answer.level
    unusual_level = ""
    if level != Fraction(95, 100) and answer.noisy:
        unusual_level = f"intervals at level {float(level):g}"
    picked = ""
    if answer.candidates:
        keys = "1 key" if answer.candidates == 1 else f"{answer.candidates:,} keys"
        picked = (
            "rows were picked by noisy values: "
            f"intervals hold at once for all {keys} they were picked from"
        )
    notes = [
        answer.caption,
        unusual_level,
        picked,
        _beyond_plan(seen),
        _faint_note(seen, faint),
        *_unbounded(seen),
    ]
    return "; ".join(note for note in notes if note)


def _unbounded(seen: DisplayFacts) -> Iterator[str]:
    """Yield the columns that have no interval in any row, and why."""
    answer = seen.answer
    question = answer.question
    if not seen.intervals:
        return
    for name, expression in question.finish.columns:
        bounded = any(row.get(name) for row in seen.intervals)
        if name in answer.noisy and not bounded:
            yield f"no interval of {name}: {why_unbounded(expression, question)}"


def _faint_note(seen: DisplayFacts, look: str) -> str:
    count = len(seen.faint)
    if not count:
        return ""
    subject = f"1 row{look} says" if count == 1 else f"{count:,} rows{look} say"
    return f"{subject} nothing: the noise is as large as what it hides"


def _beyond_plan(seen: DisplayFacts) -> str:
    """Return a note on intervals wider than predicted, if somebody vouched for the number of rows."""
    answer = seen.answer
    plan = answer.plan
    if not isinstance(plan, Plan) or answer.candidates or plan.size_from == "assumed":
        return ""
    errors = plan.statistic_errors()
    wide = []
    for name in plan.supposing:
        # Half as much again as predicted: less is within the usual variation.
        limit = 1.5 * errors[name]
        if any(_half(row.get(name)) > limit for row in seen.intervals):
            wide.append(name)
    if not wide:
        return ""
    return f"{', '.join(wide)} wider than planned, which supposed {plan.supposed}"


def _half(ends: Interval) -> float:
    """Return half the width of an interval of floats; 0 where there is none."""
    low, high = ends or (None, None)
    if isinstance(low, float) and isinstance(high, float):
        return (high - low) / 2
    return 0.0


def _bars(
    seen: DisplayFacts, name: str, draw: Callable[[Sequence[float], Ends, bool], str]
) -> list[str]:
    """Draw value and interval of every row of a column of numbers, to one scale; "" without numbers."""
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
    """Lay the table out in columns; the first noisy column of numbers is drawn with bars.

    `width` is that of a terminal. A wider table loses its bars first, then continues below itself under
    its keys.
    """
    seen = display_facts_of(answer)
    first_noisy = next(iter(answer.noisy), None)
    columns: list[list[str]] = []
    bars: list[str] = []
    bars_after = 0
    for name, words in _columns(seen):
        texts = _aligned(words) if name in answer.noisy else map(str, words)
        columns.append([name, *texts])
        if name == first_noisy and len(answer) > 1:
            bars = _bars(seen, name, _characters)
            bars_after = len(columns)
    drawn = columns
    look = ""
    if any(bars):
        drawn = [*columns[:bars_after], ["", *bars], *columns[bars_after:]]
        look = " drawn hollow"
    below = _below(seen, look)
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
    """Write the table for a notebook: numbers with an error bar each, faint rows in grey."""
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
    return html_rows(answer.columns, rows, caption=_below(seen, " in grey"), side="bottom")


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
    heads = [_escaped(name) for name in answer.columns]
    rule = []
    for name in answer.columns:
        rule.append("---:" if name in answer.noisy else "---")
    lines = [f"| {' | '.join(row)} |" for row in (heads, rule, *rows)]
    lines.append("")
    below = _below(seen, " in italics")
    if below:
        lines += [below, ""]
    return "\n".join(lines)


def _escaped(text: str) -> str:
    """Escape the characters that end or format a cell of Markdown; an empty cell is a blank."""
    # The backslash first, since the other escapes add some.
    for special in ("\\", "|", "*"):
        text = text.replace(special, f"\\{special}")
    return text.replace("\n", " ") or " "
