"""The README of a release: what each table holds, how far off it is, and what is promised to the people in the data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ...connection import is_server
from ...plan.plan import Plan
from ...privacy.measures import Measure
from ...query.text.question import describe

if TYPE_CHECKING:
    from ...answer.answer import Answer
    from ...curator import Receipt
    from ...data.schema import Schema
    from .release_file import ReleaseFile

MOST_DRAWN = 400
"""A table of more rows has no picture: nobody could read it."""

MOST_ROWS = 60


def page(
    file: ReleaseFile,
    answers: Mapping[str, Answer],
    schemas: tuple[Schema, ...],
    promise: Measure,
    drawn: bool,
) -> str:
    """Write the page, in Markdown."""
    percent = f"{100 * file.level:g} %"
    blocks = [f"# {file.title}", _guarantee(answers, schemas, promise)]
    blocks += [
        "## Reading the tables",
        "Numbers carry noise. Here they are rounded to their error; in the files they have every digit, and "
        f"each has two columns beside it, `_low` and `_high`: the value without noise lies "
        f"between them with a probability of at least {percent}, number by number. Empty cells: nothing is known. What "
        "the bounds of the schema cut off (values beyond them, rows of one person beyond the most) is in no number.",
    ]
    for name, answer in answers.items():
        blocks += _table(name, file, answer, drawn=drawn and len(answer) <= MOST_DRAWN)
    blocks += ["## Checking", f"`receipt.json` says what was charged and where; {_how(file)}"]
    return "\n\n".join(blocks) + "\n"


def _guarantee(answers: Mapping[str, Answer], schemas: tuple[Schema, ...], promise: Measure) -> str:
    receipt: Receipt = next(iter(answers.values())).receipt  # type: ignore[assignment]
    who = "; ".join(f"in `{schema.name}`, {schema.unit}" for schema in schemas if not schema.public)
    return (
        f"These tables are differentially private: {receipt.price} was spent on them together, of {promise} for all "
        f"that is ever published from this ledger, under {receipt.neighbours} neighbours. Protected is {who}. "
        "Whatever is done with the tables later cannot weaken this."
    )


def _table(name: str, file: ReleaseFile, answer: Answer, *, drawn: bool) -> list[str]:
    asked = file.questions[name]
    picture = [f"![{asked.title}]({name}.svg)"] if drawn else []
    raw = f"`measurements.json` has `{name}` before anything was moved, cells with their covariance: for models."
    made = [raw] if isinstance(answer.plan, Plan) and answer.plan.gap is not None else []
    return [
        f"## {asked.title}",
        f"`{name}.csv`, {len(answer)} rows",
        _rows(name, answer),
        f"```sql\n{describe(answer.plan.question)}\n```",
        f"How each column was made, and how far off it was expected to be before anything was spent:\n\n"
        f"```text\n{answer.plan}\n```",
        *made,
        *picture,
    ]


def _rows(name: str, answer: Answer) -> str:
    """Return the table as people read it, if it is not too long for a page."""
    if len(answer) > MOST_ROWS:
        return f"Too long for this page: see `{name}.csv`, or the picture."
    return answer.to_markdown().strip()


def _how(file: ReleaseFile) -> str:
    return "`discreet verify-receipt receipt.json` checks it" + (
        ", with `--ledger` also against the ledger." if not is_server(file.ledger) else "."
    )
