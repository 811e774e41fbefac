"""SELECT over what a stream has published: `FROM stream.visits`, free, with the stream's intervals.

    column                     holds
    the key that is the day    each closed day
    other keys                 their public values
    the count or sum           the published number, rounded as in `report.by`

All SQL over released tables works: WHERE, GROUP BY a unit of time or keys, SUM, windows, ORDER BY,
LIMIT. Sums of days have the interval of `report.by`; nothing is charged, and no private row is read.

Guarantee: the exact value lies in its interval with probability at least the level.
Refuses: other tables beside the stream, intervals of a population, and more than 200,000 numbers.
Law: tests/streams/test_select.py::TestIntervals
"""

from __future__ import annotations

from datetime import date

from ..answer.answer import Answer, read_level
from ..answer.provenance import Provenance
from ..answer.text.caption import caption_line
from ..arithmetic.rational import rational
from ..errors import UnsupportedQuery
from ..frozen import replace
from ..plan.asked.terms import DEFAULT_LEVEL
from ..plan.planner import Planner
from ..query.domains.calendar import DAY_SECONDS
from ..query.domains.domain import Scalar
from ..query.sql.published import read_published
from ..query.text.question import describe
from ..statistics.recipe import NoisyValue
from ..statistics.releases.stream_day import DayEstimate, StreamDay, StreamLaw
from .published import PublishedDays
from .question import StreamQuestion

MAX_NUMBERS = 200_000
"""Most published numbers, days times keys, that one SELECT reads."""
_EPOCH = date(1970, 1, 1).toordinal()


def select(
    report: PublishedDays, planner: Planner, sql: str, level: object = DEFAULT_LEVEL
) -> Answer:
    """Answer a SELECT over a stream from what it has published; nothing is spent."""
    asked = report.plan.question
    chance = read_level(float(rational(level, "level")))
    question = read_published(
        sql, describe(asked.asked), asked.asked, planner.schemas, planner.public_values
    )
    closed = report.closed
    count = closed * len(asked.cells)
    if count > MAX_NUMBERS:
        raise UnsupportedQuery(
            f"stream.{report.name} has {count:,} published numbers, and a SELECT reads at most "
            f"{MAX_NUMBERS:,}; use by, total or between of the stream"
        )
    days = [_day_value(asked, report, number) for number in range(closed)]
    # The days that are closed are the public values of the day, and no others have rows.
    keys = []
    for key in question.keys:
        known = tuple(days) if key.expression == asked.time else key.values
        keys.append(replace(key, values=known))
    question = replace(question, keys=tuple(keys))
    table_keys, rows = _published_rows(report, days)
    read = {name for name, _ in question.statistics}
    estimates = [row if asked.column in read else {} for row in rows]
    plan = Provenance(question, rational(chance, "level"), f"published by the stream {report.name}")
    answer = Answer.of(plan, table_keys, estimates)
    notes = [f"free: published by the stream {report.name}, entry {report.number} of the ledger"]
    if asked.tracked:
        notes.append(f"people who counted on {asked.counted.days} days no longer count")
    caption = caption_line(answer, f"free; stream {report.name}")
    return answer.with_receipt(None, caption, tuple(notes))


def _day_value(asked: StreamQuestion, report: PublishedDays, number: int) -> int:
    """Return a day of the stream as SQL has it: days, or seconds, from 1970 on."""
    day = report.plan.start.toordinal() - _EPOCH + number
    return day * DAY_SECONDS if asked.seconds else day


def _published_rows(
    report: PublishedDays, days: list[int]
) -> tuple[list[tuple[Scalar, ...]], list[dict[str, NoisyValue]]]:
    """Return the keys and the number of each closed day and cell, in the order of the stream."""
    asked = report.plan.question
    table = report.by("day")
    step = asked.step if asked.whole else None
    law = StreamLaw(report.name, report.plan.noise, report.fine, asked.unit, step)
    at = [key.expression for key in asked.asked.keys].index(asked.time)
    keys: list[tuple[Scalar, ...]] = []
    rows: list[dict[str, NoisyValue]] = []
    for number, day in enumerate(days):
        for place, cell in enumerate(asked.cells):
            exact = table.exact(number + 1, place) - table.exact(number, place)
            shown = table.shown(number + 1, place) - table.shown(number, place)
            total = StreamDay(law, number, place, exact)
            keys.append((*cell[:at], day, *cell[at:]))
            rows.append({asked.column: DayEstimate(total, shown=float(shown))})
    return keys, rows
