"""Measured table of an answer: all its keys and estimates, apart from how a question shows them.

A question is measured once. Names, order of columns, computed columns, HAVING, ORDER BY and LIMIT are
post-processing of the measured table (`query.text.measured_part`), so every other view of it is free.

    asked                                             stored
    SELECT COUNT(*) AS n, sex … ORDER BY n LIMIT 1    k0, s0 of every sex, in the order of the keys
    SELECT sex, COUNT(*) + 1 … HAVING COUNT(*) > 9    the same table

Guarantee: a stored table does not tell by which words it was asked for: names and order are canonical.
Law: tests/curator/test_views.py::TestAStoredTable
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from ..arithmetic.canonical import canonical_json
from ..errors import InvalidArgument
from ..plan.plan import Plan
from ..privacy.events.json import Json
from ..query.algebra.tree import Question
from ..query.bounds.nested import pick, set_cells
from ..query.text.measured_part import MeasuredPart, measured_part
from ..statistics.recipe import NoisyValue
from ..statistics.releases.total import KeyValues
from .answer import Answer
from .provenance import LatePlan, Provenance
from .stored import estimates_from_json, scalar_to_json, table_to_json

Row: TypeAlias = tuple[KeyValues, dict[str, NoisyValue]]
"""The keys of one row, and its estimates by statistic."""


def measured_to_json(answer: Answer, part: MeasuredPart | None = None) -> Json:
    """Write the measured table of an answer; the same table whatever the answer shows of it.

    `part` is the measured part of the question, if it is known.
    """
    if part is None:
        part = measured_part(answer.question)
    keys, estimates = answer.every or (answer.keys, answer.estimates)
    rows: list[Row] = []
    for key, row in zip(keys, estimates, strict=True):
        canonical: list[object] = [None] * len(key)
        for place, value in zip(part.places, key, strict=True):
            canonical[place] = value
        own = {}
        for asked, new in part.names.items():
            own[new] = row[asked]
        rows.append((tuple(canonical), own))  # type: ignore[arg-type]
    # The order of the rows would tell in which order the keys were named.
    rows.sort(key=_key_text)
    return table_to_json(*_columns(rows))


def _columns(rows: Iterable[Row]) -> tuple[list[KeyValues], list[dict[str, NoisyValue]]]:
    """Return the keys and the estimates of rows apart."""
    keys = []
    estimates = []
    for key, row in rows:
        keys.append(key)
        estimates.append(row)
    return keys, estimates


def _key_text(row: Row) -> str:
    return canonical_json([scalar_to_json(value) for value in row[0]])


def slice_table(data: object, titles: Sequence[str], pinned: Mapping[str, object]) -> Json:
    """Return the part of a written table in which keys have the pinned values, without these keys.

    `titles` are the names of the keys by which `pinned` names some of them.

    Refuses: with InvalidArgument what is no table, and names of other keys.
    """
    known = list(titles)
    if not isinstance(data, dict) or not set(known) >= pinned.keys():
        raise InvalidArgument("a part of a table is given by values of its keys")
    wanted = {known.index(title): canonical_json(value) for title, value in pinned.items()}
    left = [place for place in range(len(known)) if place not in wanted]
    keys = []
    estimates = []
    for key, row in zip(data["keys"], data["estimates"], strict=True):
        # Texts are compared and not values, because in Python True equals 1.
        if all(canonical_json(key[place]) == text for place, text in wanted.items()):
            keys.append(list(pick(key, left)))
            estimates.append(row)
    return {**data, "keys": keys, "estimates": estimates}


def view_from_json(data: object, plan: Plan | Provenance | LatePlan) -> Answer:
    """Read a measured table as the answer to the plan's question: its names, order and post-processing.

    Refuses: with InvalidArgument a table of another measured part.
    """
    question = plan.question
    part = measured_part(question)
    keys, estimates = estimates_from_json(data, part.question)
    rows = []
    for key, row in zip(keys, estimates, strict=True):
        own = {}
        for name in part.asked:
            own[name] = row[part.names[name]]
        rows.append((pick(key, part.places), own))
    return Answer.of(plan, *_columns(_in_order(question, rows)))


def _in_order(question: Question, rows: Sequence[Row]) -> list[Row]:
    """Return rows in the order of the question's keys; keys that noise selected, by their text."""
    if any(key.values is None for key in question.keys):
        return sorted(rows, key=_printed)
    by_key = dict(rows)
    # LIMIT 0 alone stores a table without rows.
    return [(key, by_key[key]) for key in set_cells(question) if key in by_key]


def _printed(row: Row) -> str:
    return repr(row[0])
