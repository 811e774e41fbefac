"""README of a release: its tables with their errors, and the privacy guarantee."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from ...arithmetic.rounding import shown
from ...connection import is_server
from ...plan.plan import Plan
from ...privacy.measures import Measure
from ...query.text.question import describe

if TYPE_CHECKING:
    from ...answer.answer import Answer
    from ...curator import Receipt
    from ...data.schema import Schema
    from .release_file import ReleaseFile

MAX_DRAWN_ROWS = 400
"""Rows of the largest table with a picture; a larger one is unreadable as a picture."""

MAX_ROWS = 60
"""Rows of the largest table that the page shows in full."""


def page(
    file: ReleaseFile,
    answers: Mapping[str, Answer],
    schemas: tuple[Schema, ...],
    promise: Measure,
    drawn: Collection[str],
) -> str:
    """Return the README of a release as Markdown.

    `promise` is the budget of the ledger; `drawn` names the tables that have a picture.
    """
    percent = f"{100 * file.level:g} %"
    blocks = [f"# {file.title}", _guarantee(answers, schemas, promise)]
    blocks += [
        "## Reading the tables",
        "Numbers carry noise. Here they are rounded to their error; in the files they have every "
        "digit, and each has two columns beside it, `_low` and `_high`: the value without noise "
        f"lies between them with a probability of at least {percent}, number by number. Empty "
        "cells: nothing is known. What the bounds of the schema cut off (values beyond them, rows "
        "of one person beyond the most) is in no number.",
    ]
    if file.other:
        blocks.append(
            f"In a row *{file.other}* is what has no listed value of its column: the value is "
            "missing, cannot be read, or is not in the list."
        )
    for name, answer in answers.items():
        blocks += _table(name, file, answer, drawn=name in drawn)
    check = _how_to_check(file)
    blocks += ["## Checking", f"`receipt.json` says what was charged and where; {check}"]
    return "\n\n".join(blocks) + "\n"


def _guarantee(answers: Mapping[str, Answer], schemas: tuple[Schema, ...], promise: Measure) -> str:
    """Write the paragraph with price, budget, neighbours and protected units."""
    # All answers of a release have one charge, hence one receipt.
    receipt: Receipt = next(iter(answers.values())).receipt  # type: ignore[assignment]
    units = [f"in `{schema.name}`, {schema.unit}" for schema in schemas if not schema.public]
    return (
        f"These tables are differentially private: {receipt.shown_price()} was spent on them together, "
        f"of {promise} for all that is ever published from this ledger, "
        f"under {receipt.neighbours} neighbours. Protected is {'; '.join(units)}. "
        "Whatever is done with the tables later cannot weaken this."
    )


def _table(name: str, file: ReleaseFile, answer: Answer, *, drawn: bool) -> list[str]:
    """Return the paragraphs about one table: rows, SQL, errors, plan and picture."""
    asked = file.questions[name]
    blocks = [
        f"## {asked.title}",
        f"`{name}.csv`, {len(answer)} rows",
        _rows(name, answer),
        _details(answer),
        f"```sql\n{describe(answer.question)}\n```",
        errors_known(answer, file.level),
        "How each column was made, and how far off it was expected to be before anything was "
        f"spent:\n\n```text\n{answer.plan}\n```",
    ]
    if isinstance(answer.plan, Plan) and answer.plan.gap is not None:
        blocks.append(
            f"`measurements.json` has `{name}` before anything was moved, cells with their "
            "covariance: for models."
        )
    if drawn:
        blocks.append(f"![{asked.title}]({name}.svg)")
    elif len(answer) <= MAX_DRAWN_ROWS:
        blocks.append(
            "No picture: this table needs matplotlib (`pip install 'discreet[plot]'`). The same "
            "release again costs nothing."
        )
    return blocks


def errors_known(answer: Answer, level: float) -> str:
    """Say in a sentence half the width of each column's intervals, from narrowest to widest.

    These are the errors of the answer itself, not those that its plan predicted.
    """
    halves: dict[str, list[float]] = {}
    for row in answer.interval(level):
        for name, ends in row.items():
            low, high = ends or (None, None)
            if isinstance(low, int | float) and isinstance(high, int | float):
                halves.setdefault(name, []).append((high - low) / 2)
    texts = []
    for name, found in halves.items():
        least, most = shown(min(found), 3), shown(max(found), 3)
        texts.append(f"{name} ± {least}" if least == most else f"{name} ± {least} to {most}")
    if not texts:
        return "As answered, no column has an interval."
    return f"As answered, half of each {100 * level:g} % interval: {', '.join(texts)}."


def _rows(name: str, answer: Answer) -> str:
    """Return the rounded table, or where to find it if it is too long for a page."""
    if len(answer) > MAX_ROWS:
        return f"Too long for this page: see `{name}.csv`, or the picture."
    return answer.to_markdown().strip()


def _details(answer: Answer) -> str:
    """Return a fold with the sentences that the line below the table leaves out."""
    sentences = [f"- {sentence}" for sentence in answer.details().splitlines()]
    return "\n".join(["<details><summary>Details</summary>", "", *sentences, "", "</details>"])


def _how_to_check(file: ReleaseFile) -> str:
    """Return the sentence on how to check the receipt; a server's address is not named."""
    check = "`discreet verify-receipt receipt.json` checks it"
    # The address of a server is no business of the readers of a release.
    if is_server(file.ledger):
        return f"{check}."
    return f"{check}, with `--ledger` also against the ledger."
