"""How an answer shows itself: a table with ± in the terminal and in Markdown, and with error bars in a notebook.

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
from ...show.number import Digits, NumberWords, number_words, plain_number
from ...show.scale import ChartScale
from ...show.table import fitted_table, html_rows, text_table
from ..computed.window_intervals import why_unbounded
from ..export import plain
from .display_facts import DisplayFacts, see

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
) -> NumberWords:
    """Write one value with how far off it may be, or with the ends of its interval; keys are written as they are.

    >>> from discreet.answer.text.answer import cell
    >>> str(cell(1234.5, (1200.0, 1269.0), "number")), str(cell(None, (0.0, 120.0), "number"))
    ('1,234 ± 35', 'NULL (0 to 120)')
    >>> str(cell(2024, None, "number", key=True)), str(cell(3.0, None, "number"))
    ('2024', '3')
    """
    if key or interval is None:
        return NumberWords(_word(value, sort, key=key))
    low, high = interval
    if isinstance(value, float) and isinstance(low, float) and isinstance(high, float):
        return number_words(value, low, high, digits)
    return NumberWords(_word(value, sort), f"({_word(low, sort)} to {_word(high, sort)})")


def _word(value: object, sort: ValueType | None, *, key: bool = False) -> str:
    shown = plain(value, sort)
    if shown is None:
        return "NULL"
    if isinstance(shown, float):
        return f"{shown:.15g}" if key else plain_number(float(f"{shown:.6g}"))
    return str(shown)


def _words(seen: DisplayFacts) -> Iterator[tuple[str, list[NumberWords]]]:
    """List the columns by name, their values in words."""
    answer = seen.answer
    noisy = set(answer.noisy)
    for name, sort in zip(answer.columns, answer.sorts, strict=True):
        ends = (row.get(name) for row in seen.intervals)
        pairs = zip(answer.column(name), ends, strict=True)
        yield (
            name,
            [
                cell(value, box, sort, seen.digits[name], key=name not in noisy)
                for value, box in pairs
            ],
        )


def _below(seen: DisplayFacts, faint: str) -> str:
    """Return what stands below the table: caption, an unusual level, how rows were picked, which say nothing."""
    answer = seen.answer
    level = answer.plan.level
    said = (
        ""
        if level == Fraction(95, 100) or not answer.noisy
        else f"intervals at level {float(level):g}"
    )
    picked = ""
    if answer.candidates:
        keys = "1 key" if answer.candidates == 1 else f"{answer.candidates:,} keys"
        picked = f"rows were picked by noisy values: intervals hold at once for all {keys} they were picked from"
    words = (
        answer.caption,
        said,
        picked,
        _beyond_plan(seen),
        _faint_words(seen, faint),
        *_unbounded(seen),
    )
    return "; ".join(word for word in words if word)


def _unbounded(seen: DisplayFacts) -> Iterator[str]:
    """Name the columns that have no interval in any row, and why."""
    question = seen.answer.plan.question
    for name, expression in question.finish.columns:
        if (
            name in seen.answer.noisy
            and seen.intervals
            and not any(row.get(name) for row in seen.intervals)
        ):
            yield f"no interval of {name}: {why_unbounded(expression, question)}"


def _faint_words(seen: DisplayFacts, look: str) -> str:
    if not seen.faint:
        return ""
    rows = "1 row" if len(seen.faint) == 1 else f"{len(seen.faint):,} rows"
    return f"{rows}{look} say{'s' if len(seen.faint) == 1 else ''} nothing: the noise is as large as what it hides"


def _beyond_plan(seen: DisplayFacts) -> str:
    """Return a word on intervals that are wider than was predicted for a number of rows that somebody vouched for."""
    answer, plan = seen.answer, seen.answer.plan
    if not isinstance(plan, Plan) or answer.candidates or plan.size_from == "assumed":
        return ""
    errors = plan.statistic_errors()
    wide = [
        n
        for n in plan.supposing
        if any(_half(row.get(n)) > 1.5 * errors[n] for row in seen.intervals)
    ]
    return f"{', '.join(wide)} wider than planned, which supposed {plan.supposed}" if wide else ""


def _half(ends: Interval) -> float:
    """Return half the width of an interval of floats; 0 where there is none."""
    low, high = ends or (None, None)
    return (high - low) / 2 if isinstance(low, float) and isinstance(high, float) else 0.0


def _bars(
    seen: DisplayFacts, name: str, draw: Callable[[Sequence[float], Ends, bool], str]
) -> list[str]:
    """Draw value and interval of every row of a column of numbers, all to one scale; nothing where there are none."""
    ends = (row[name] or () for row in seen.intervals)
    boxes = [(value, *box) for value, box in zip(seen.answer.column(name), ends, strict=True)]
    known = [[x for x in box if isinstance(x, float)] for box in boxes]
    whole = [bar for bar in known if len(bar) == 3]
    span = min((bar[1] for bar in whole), default=0.0), max((bar[2] for bar in whole), default=0.0)
    return [
        draw(bar, span, place in seen.faint) if len(bar) == 3 else ""
        for place, bar in enumerate(known)
    ]


def answer_text(answer: Answer, width: int | None = None) -> str:
    """Lay the table out in columns; one column of numbers is drawn with bars below each other.

    `width`: what a terminal has. A table that is wider loses its bars first, then goes on below itself under its keys.
    """
    seen = see(answer)
    columns: list[list[str]] = []
    bars: list[str] = []
    for name, words in _words(seen):
        columns.append([name, *(_aligned(words) if name in answer.noisy else map(str, words))])
        if name == next(iter(answer.noisy), None) and len(answer) > 1:
            bars, at = _bars(seen, name, _characters), len(columns)
    below = _below(seen, " drawn hollow" if any(bars) else "")
    drawn = [*columns[:at], ["", *bars], *columns[at:]] if any(bars) else columns
    table = text_table(list(zip(*drawn, strict=True)))
    if width is not None and max(map(len, table.splitlines())) > width:
        table = fitted_table(
            list(zip(*columns, strict=True)), width, len(answer.columns) - len(answer.noisy)
        )
    below = below if width is None else textwrap.fill(below, width)
    return f"{table}\n{below}" if below else table


def _aligned(words: Sequence[NumberWords]) -> Iterator[str]:
    """Set values below each other by their last digit."""
    wide = max((len(word.value) for word in words if word.error), default=0)
    return (f"{word.value.rjust(wide)} {word.error}".rstrip() for word in words)


def _characters(bar: Sequence[float], span: Ends, faint: bool) -> str:
    return error_bar((bar[1], bar[2]), bar[0], span, hollow=faint)


def answer_html(answer: Answer) -> Html:
    """Write the table for a notebook, numbers with an error bar each, rows that say nothing in grey."""
    seen = see(answer)
    columns = [
        map(join, zip(map(str, words), _bars(seen, name, _svg), strict=True))
        if name in answer.noisy
        else map(str, words)
        for name, words in _words(seen)
    ]
    looks = ["opacity:.45" if place in seen.faint else "" for place in range(len(answer))]
    rows = zip(looks, zip(*columns, strict=True), strict=True)
    return html_rows(answer.columns, rows, caption=_below(seen, " in grey"), side="bottom")


def _svg(bar: Sequence[float], span: Ends, _faint: bool) -> Html:
    x = ChartScale(*span, 2, 118)
    dot, low, high = map(x.place, bar)
    line = element("line", x1=low, x2=high, y1=6, y2=6, stroke="currentColor")
    mark = element("circle", cx=dot, cy=6, r=2.5, fill="currentColor")
    return join([element("br"), element("svg", line, mark, width=120, height=12, role="img")])


def answer_markdown(answer: Answer) -> str:
    """Write the table as Markdown, rows that say nothing in italics."""
    seen = see(answer)
    columns = [list(map(str, words)) for _, words in _words(seen)]
    rows = [
        [f"*{_piped(word)}*" if place in seen.faint else _piped(word) for word in row]
        for place, row in enumerate(zip(*columns, strict=True))
    ]
    heads = [_piped(name) for name in answer.columns]
    rule = ["---:" if name in answer.noisy else "---" for name in answer.columns]
    lines = [f"| {' | '.join(row)} |" for row in (heads, rule, *rows)]
    below = _below(seen, " in italics")
    return "\n".join([*lines, "", below, ""] if below else [*lines, ""])


def _piped(word: str) -> str:
    return (
        word.replace("\\", "\\\\").replace("|", "\\|").replace("*", "\\*").replace("\n", " ") or " "
    )
