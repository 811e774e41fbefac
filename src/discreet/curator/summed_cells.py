"""Roll-up: an answer that is the sum of cells which this asker has paid for, with nothing spent.

    asked                           stored, by this asker       given
    GROUP BY month                  GROUP BY month, origin      sums over the origins
    WHERE hour = 9                  GROUP BY hour, origin       the sum of that hour's cells
    GROUP BY month, spend ε = 1/2   GROUP BY month, at ε = 1    the same cells, if `within` is set

A sum of m cells has m times the variance of one. So it is given only if its error at the asked
level is at most `within` times the error of the plan that would be paid for (1 by default). Cells
that are not summed, but were measured on other terms, are given only where `within` is stated: an
asker who states another spend may want another draw.

Only counts and sums of tables whose unit is a row are added up (`query.bounds.finer_questions`),
for one question without `reuse=False`, `nonnegative` and `whole`.

Of several stored tables the one that was charged first is taken. It stays the first, so the same
question has the same answer for ever. No entry is written: the receipt is that of the charge whose
cells are summed, and says which they are (`Receipt.shown`).

Only answers that the asker has paid for are used, or everybody's if the steward lets analysts share
questions (decision 23). So no sum tells what another analyst has asked.

Guarantee: nothing is charged, run or written; a ledger with parts or blocks has no such sums.
Law: tests/curator/test_summed_cells.py::TestARollUp
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from itertools import islice
from typing import TypeAlias

from ..answer.body import Body, read_body
from ..answer.stored import estimates_from_json, scalar_to_json
from ..errors import InvalidArgument
from ..frozen import field, frozen
from ..plan.plan import Plan
from ..plan.planner import CheckedRequest
from ..privacy.events.json import Json
from ..query.bounds.finer_questions import FinerQuestion, finer_questions
from ..query.domains.domain import Values
from ..query.text.measured_part import MeasuredPart, measured_part
from ..query.text.question import fingerprint
from .answer_key import key_start
from .context import CuratorContext
from .pay import Paid
from .receipt import is_sum
from .stored_answer import is_moved, part_of_table

MAX_LOOKED_FOR = 100
"""Most finer questions that are looked for: to fingerprint one takes a millisecond or two."""
FinerTables: TypeAlias = Mapping[str, tuple[FinerQuestion, MeasuredPart]]
"""Finer questions with their measured parts, by the start of the keys under which they are stored."""
_ROUNDING = 1 + 1e-9
"""Factor by which two bounds of one error may differ because they were searched for apart."""


@frozen
class SummedCells:
    """A stored answer, and which of its cells are summed, as a receipt says it (`shown`)."""

    paid: Paid
    part: Json = field(hash=False)
    times: float = 1.0
    """Its error at the asked level, in errors of the plan."""


def find_sums(
    context: CuratorContext,
    request: CheckedRequest,
    plan: Plan,
    paid_keys: Collection[str],
    tables: FinerTables,
    *,
    who: str,
) -> SummedCells | None:
    """Return the earliest stored answer whose cells add up to the question; else None.

    The error of the sums must be at most `within` times that of `plan`. `paid_keys` are the keys
    of all measured tables that this asker has paid for, `tables` those that would do.
    """
    terms = request.terms
    found: list[SummedCells] = []
    for key in paid_keys:
        # A key is the start of its measured part, and the hash of its terms.
        start = key[: key.rindex(":") + 1]
        if start not in tables:
            continue
        shown = _shown(*tables[start])
        if terms.within is None and not any(map(is_sum, shown.values())):
            # Who asks for the same cells at another spend may want another draw: so it is said.
            continue
        paid = context.find_paid(who, key)
        if paid is None:
            continue
        times = _times_planned(paid, shown, plan)
        # Both errors were searched for numerically, so equal ones may differ in the last digits.
        if times <= (terms.within or 1) * _ROUNDING:
            found.append(SummedCells(paid, shown, times))
    # The first one and not the best: a later charge must not change an answer that was given before.
    return min(found, key=_number, default=None)


def _number(rolled: SummedCells) -> int:
    return rolled.paid.entry.number


def finer_tables(request: CheckedRequest) -> FinerTables:
    """Return the finer questions whose cells add up to the asked ones, by the start of their keys."""
    [checked] = request.checked.values()
    by_start: dict[str, tuple[FinerQuestion, MeasuredPart]] = {}
    listed_questions = finer_questions(checked.question, checked.public_values)
    for finer in islice(listed_questions, MAX_LOOKED_FOR):
        part = measured_part(finer.question)
        # Two finer questions may have one measured part; the one with fewer keys comes first.
        by_start.setdefault(key_start(fingerprint(part.question)), (finer, part))
    return by_start


def _shown(finer: FinerQuestion, part: MeasuredPart) -> Json:
    """Write which cells are summed, by the titles of the measured keys, as a receipt says it.

    Of a key that was not asked for:

    - {"sum": values}   it is summed over these values
    - value             its one value

    Of a key that was asked for:

    - {"of": values}    only these values of it are shown
    - no entry          all its values are shown
    """
    titles = part.titles()
    chosen: Json = {}
    keys = finer.question.keys
    for place, values in enumerate((*finer.kept, *finer.summed)):
        title = titles[part.places[place]]
        written = [scalar_to_json(value) for value in _in_order(values)]
        # The keys that were asked for come first; the others are summed over, or pinned to one value.
        if place >= len(finer.kept):
            chosen[title] = {"sum": written} if len(written) > 1 else written[0]
        elif len(values) < len(keys[place].values or ()):
            chosen[title] = {"of": written}
    return chosen


def _in_order(values: Values) -> list[object]:
    """Sort values by their Python text, so that receipts of equal sums are equal."""
    return sorted(values, key=repr)


def _times_planned(paid: Paid, shown: Json, plan: Plan) -> float:
    """Return the largest error of sums of stored cells, divided by the error that a plan predicts.

    It is infinite if the stored numbers cannot be summed, or have no interval.
    """
    body = read_body(paid.body)
    if not _adds_up(body):
        return math.inf
    part = measured_part(plan.question)
    try:
        _, rows = estimates_from_json(part_of_table(body, "", shown), part.question)
    except InvalidArgument:
        # Numbers that do not add up, as those that share their noise.
        return math.inf
    # The worst cell decides: every number of the answer is as good as asked.
    beta = float(1 - plan.level)
    times = 0.0
    for row in rows:
        for name, planned in plan.statistic_errors().items():
            ends = row[part.names[name]].interval(beta)
            # A planned error of 0 cannot be met by a sum with any noise.
            if ends is None or not rows or planned <= 0:
                return math.inf
            low, high = map(float, ends)  # type: ignore[arg-type]
            times = max(times, (high - low) / 2 / planned)
    return times if rows else math.inf


def _adds_up(body: Body) -> bool:
    """Return whether a stored answer is one table whose numbers were not moved after the noise."""
    if not body.measured or body.facts is None or list(body.answers) != [""]:
        return False
    return not is_moved(body)
