"""Wide measurement: a question with a pinned column is measured for all its values, same price.

    asked                              measured, if that is the same event     stored under the key of
    WHERE origin = 'JFK' GROUP BY m    GROUP BY m, origin                      the wide question
    anything else                      as asked                                the asked question

The wide table has one key and one charge, whichever value was asked for first. A later question
about another value finds the table under that key, and is given its part for free
(`query.bounds.siblings`).

A question is measured as asked if `siblings` or `reuse` is False, if it is one of several, and
where the ledger has parts or blocks.

Guarantee: a question is widened only if its event, which is charged, stays the same byte for byte.
Whether it is widened does not depend on the data.
Law: tests/curator/test_siblings.py::TestAWideMeasurement
"""

from __future__ import annotations

from collections.abc import Mapping

from ..answer.stored import scalar_to_json
from ..errors import DiscreetError
from ..plan.plan import Plan
from ..plan.planner import CheckedRequest
from ..privacy.events.json import Json, to_json
from ..query.bounds.check import CheckedQuestion
from ..query.bounds.siblings import WideQuestion, wide_question
from .answer_key import AnswerKey, event_of, key_of
from .charge_request import PaidMeasurement, plan_to_fit
from .context import CuratorContext


def widened(
    context: CuratorContext, request: CheckedRequest, asked: PaidMeasurement, who: str
) -> PaidMeasurement:
    """Return the measurement with all siblings of one question if that costs the same, else as asked."""
    [checked] = request.checked.values()
    wide = wide_question(checked.question)
    if wide is None:
        return asked
    wide_plans = _wide_plans(context, request, wide, who)
    if wide_plans is None or not same_event(wide_plans, asked.plans):
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
