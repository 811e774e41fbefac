"""Wide measurement: what is charged and run for a question, with the siblings that its price pays for.

    asked                              measured, if that is the same event     key and answer
    WHERE origin = 'JFK' GROUP BY m    GROUP BY m, origin                      those of the wide table
    anything else                      as asked                                those of the question

The wide table has one key and one charge, whichever part of it was asked for first. Every question about
another part finds it under that key, and is given its part for free.

Guarantee: a question is widened only if the charge is the same, byte for byte, and only by public facts.
Law: tests/curator/test_siblings.py::TestAWideMeasurement
"""

from __future__ import annotations

from collections.abc import Mapping

from ..answer.stored import scalar_to_json
from ..errors import DiscreetError
from ..frozen import field, frozen
from ..plan.plan import Plan
from ..plan.planner import CheckedRequest
from ..privacy.events.json import Json, to_json
from ..query.bounds.check import CheckedQuestion
from ..query.bounds.siblings import WideQuestion, wide_question
from .answer_key import AnswerKey, event_of, key_of
from .charge_request import plan_to_fit
from .context import CuratorContext


@frozen
class PaidMeasurement:
    """Key and plans of what is measured; `slice` is the part of it that was asked for.

    `slice` has the values of pinned columns by the titles of the measured keys, as JSON; it is empty if
    all that is measured was asked for.
    """

    key: AnswerKey
    plans: Mapping[str, Plan] = field(hash=False)
    slice: Json = field(default_factory=dict, hash=False)
    split: str = ""
    """Name of the key that says whether a condition holds, if both sides of it are measured."""

    def titles(self) -> tuple[str, ...]:
        """Return the names of the measured keys; of several questions none."""
        if list(self.key.measured) != [""]:
            return ()
        part = self.key.measured[""]
        return tuple(part.titles()[: len(part.places)])


def measurement_of(
    context: CuratorContext,
    request: CheckedRequest,
    key: AnswerKey,
    plans: Mapping[str, Plan],
    who: str,
) -> PaidMeasurement:
    """Return what is to be measured for a request: a wide table if it costs the same, else its plans."""
    asked = PaidMeasurement(key, plans)
    ledger_terms = context.ledger.terms
    # Parts and blocks are charged one by one: what is measured must not reach into another.
    divided = ledger_terms.parts is not None or ledger_terms.blocks is not None
    if not context.siblings or request.several or divided:
        return asked
    if request.terms.reuse is False:
        return asked
    [checked] = request.checked.values()
    wide = wide_question(checked.question)
    if wide is None:
        return asked
    wide_plans = _wide_plans(context, request, wide, who)
    if wide_plans is None or not same_event(wide_plans, plans):
        return asked
    wide_key = key_of({"": wide.question}, request.terms)
    return PaidMeasurement(wide_key, wide_plans, _slice(wide, wide_key))


def same_event(some: Mapping[str, Plan], others: Mapping[str, Plan]) -> bool:
    """Return whether two plans are charged as the same event, byte for byte."""
    return to_json(event_of(some)) == to_json(event_of(others))


def _wide_plans(
    context: CuratorContext, request: CheckedRequest, wide: WideQuestion, who: str
) -> dict[str, Plan] | None:
    """Plan the wide question on the terms of the request; None if there is no such plan."""
    [checked] = request.checked.values()
    question = CheckedQuestion(wide.question, checked.public_values, checked.rows_public)
    try:
        return plan_to_fit(context, CheckedRequest({"": question}, request.terms), who)
    except DiscreetError:
        # As "replace" neighbours or terms may have it: the question is then measured as asked.
        return None


def _slice(wide: WideQuestion, key: AnswerKey) -> Json:
    part = key.measured[""]
    titles = part.titles()
    values: Json = {}
    for position, value in wide.pinned:
        values[titles[part.places[position]]] = scalar_to_json(value)
    return values
