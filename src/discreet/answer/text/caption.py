"""Caption of an answer: one line below its table, and the details behind that line.

The line has at most 20 words. It says what was paid and what ± is, and then what else moved the
numbers, such as a cap on people's rows. The details are all sentences that say what a number means.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import TYPE_CHECKING

from ...plan.plan import Plan
from ...query.bounds.missing_keys import absent_keys
from ...statistics.releases.set_totals import SetEstimate
from ...statistics.releases.stream_day import published_by
from ...statistics.releases.total import JointTotal, TotalEstimate
from ..computed.window_intervals import why_unbounded
from .display_facts import DisplayFacts

if TYPE_CHECKING:
    from ..answer import Answer, Interval

MAX_WORDS = 20
_COVERED = {"data": "± is noise only", "population": "± includes sampling"}
_COVERAGE = {
    "data": "± covers the noise that was added for privacy: "
    "neither sampling error nor what bounds and caps cut off",
    "population": "± covers noise and sampling error, if these rows are a random sample: "
    "not what bounds and caps cut off",
}
# "(ε, δ) = (1, 1e-06)" and "ε(α) = 0.5 at 2,", which is one of several Rényi orders.
_FIRST_TERM_WORDS = 5


def caption_line(answer: Answer, paid: str, price: str = "", truncation: str = "") -> str:
    """Write the line: `paid`, a word such as "cost", and the price; what ± is; what moved the numbers.

    `truncation` is the sentence on what a person's cap may cut off. The line has its beginning, "at most
    3 rows a person", or fewer words where that does not fit.

    Guarantee: at most 20 words.
    Law: tests/answer/test_captions.py::TestCaptions
    """
    interval = _interval_clause(answer)
    # What moved the numbers, in a long and in a short form each.
    moved: list[tuple[str, str]] = []
    if truncation:
        cap, _, _ = truncation.partition(" counted:")
        moved.append((cap, "rows capped"))
    if _was_moved(answer):
        moved.append(("counts moved to 0 or more", "no negatives"))
    # The shortest comes last and always fits: 3 + 6 + 7 + 2 + 2 words.
    line = ""
    for told, forms in product((price, _short_price(price)), product(*moved)):
        clauses = (f"{paid} {told}".strip(), interval, *forms)
        line = "; ".join(clause for clause in clauses if clause)
        if len(line.split()) <= MAX_WORDS:
            break
    return line


def _was_moved(answer: Answer) -> bool:
    """Return whether counts were moved to 0 or more, which is so for all rows or for none."""
    for row in answer.estimates[:1]:
        for one in row.values():
            if isinstance(one, TotalEstimate | JointTotal | SetEstimate) and one.low is not None:
                return True
    return False


def _short_price(price: str) -> str:
    """Return the first term of a price: no ledger's unit in brackets, and one of several Rényi orders."""
    amount, _, _ = price.partition(" [")
    first = " ".join(amount.split()[:_FIRST_TERM_WORDS])
    return price if first == price else f"{first} …"


def _interval_clause(answer: Answer) -> str:
    """Return what ± is: its level, and what it covers; empty if there is no interval."""
    if not _has_interval(answer):
        return ""
    return f"{_COVERED[answer.target]}, at {_percent(answer)}"


def line_about(line: str, of: str) -> str:
    """Return the same line for intervals of the "data" or of the "population".

    A line may have been made by a ledger or a service, whose price it holds, so it is not made again.
    """
    for words in _COVERED.values():
        line = line.replace(words, _COVERED[of])
    return line


def _has_interval(answer: Answer) -> bool:
    """Return whether some value has an interval; one is enough, so not all are worked out."""
    noisy = answer.noisy
    made = [expression for name, expression in answer.question.finish.columns if name in noisy]
    law = answer.law
    beta = float(1 - answer.level)
    for place in range(len(law.rows)):
        if any(law.interval(expression, place, beta) for expression in made):
            return True
    return False


def _percent(answer: Answer) -> str:
    return f"{float(100 * answer.level):.6g} %"


def details_of(seen: DisplayFacts) -> str:
    """Return what the numbers of an answer mean, a sentence a line.

    First what its maker told (price, ledger entry, caps), then what follows from the answer itself.
    """
    # A client's notes are the details that the service sent: each sentence is said once.
    sentences = dict.fromkeys([*seen.answer.notes, *_interval_notes(seen), *_reading_notes(seen)])
    for target, sentence in _COVERAGE.items():
        # A service told the intervals that were asked of it; `about` may have chosen the others since.
        if target != seen.answer.target:
            sentences.pop(sentence, None)
    return "\n".join(sentences)


def _interval_notes(seen: DisplayFacts) -> Iterator[str]:
    """Yield what an interval promises, and which columns have none."""
    answer = seen.answer
    if any(ends for row in seen.intervals for ends in row.values()):
        yield f"each ± or interval holds by itself, with a probability of at least {_percent(answer)}"
        yield _COVERAGE[answer.target]
    if answer.candidates:
        keys = "1 key" if answer.candidates == 1 else f"{answer.candidates:,} keys"
        yield (f"rows were picked by noisy values: their intervals hold together for all {keys}")
    yield from _beyond_plan(seen)
    yield from _unbounded(seen)


def _reading_notes(seen: DisplayFacts) -> Iterator[str]:
    """Yield how rows and digits are to be read."""
    question = seen.answer.question
    if any(key.values is None for key in question.keys):
        yield "keys were selected privately: keys of too few people are not shown"
    elif not published_by(seen.answer.estimates):
        # Without the values of public tables a key is rather said to be missing than not.
        names = " or ".join(absent_keys(question, None))
        if names:
            yield f"rows without a listed value of {names} count in totals, but in no cell"
            yield "to show these rows, write COALESCE, or declare null_key= and other= in the schema"
    if _was_moved(seen.answer):
        yield "counts were moved to 0 or more, as asked: small counts are too large on average"
    if seen.answer.noisy:
        # A legend, said in any case: the length of a reply then follows from question and plan.
        yield (
            "rows drawn hollow, in grey or in italics say nothing: "
            "the noise is as large as the value"
        )
        yield "numbers are shown rounded to their error; files and data frames have every digit"
    if question.sets is not None or question.running:
        yield "each number is rounded by itself, so the numbers shown may not add up"


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


def _beyond_plan(seen: DisplayFacts) -> Iterator[str]:
    """Yield a note on more noise than predicted, if somebody vouched for the number of rows."""
    answer = seen.answer
    plan = answer.plan
    if not isinstance(plan, Plan) or answer.candidates or plan.size_from == "assumed":
        return
    errors = plan.statistic_errors()
    # Errors are planned for the noise alone, so sampling error is no part of what they are held to.
    intervals = seen.intervals
    if answer.target != "data":
        intervals = answer.interval(float(answer.level))
    wide = []
    for name in plan.supposing:
        # Half as much again as predicted: less is within the usual variation.
        limit = 1.5 * errors[name]
        if any(_half(row.get(name)) > limit for row in intervals):
            wide.append(name)
    if wide:
        yield f"{', '.join(wide)} wider than planned: the plan supposed {plan.supposed}"


def _half(ends: Interval) -> float:
    """Return half the width of an interval of floats; 0 where there is none."""
    low, high = ends or (None, None)
    if isinstance(low, float) and isinstance(high, float):
        return (high - low) / 2
    return 0.0
