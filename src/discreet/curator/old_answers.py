"""Answers of release 0.1.0: which of them answer a question of today.

Their keys hash the planned events, so a better planner does not find them by
their key. They are found by the question's fingerprint, and taken if nothing that the ledger knows speaks
against it (`fits_terms`):

    quantiles    drawn with an interval at the asked level  stands in the answer
    counts       moved to 0 or above if that is asked for   stands in the answer
    noise        the same events as planned today, or as would be planned with totals of its own for every statistic;
                 or, for a spend without weights, the same price: what the old answer took is the spend itself, or what
                 today's plan would take

The spend itself was not stored, nor were weights and sizes. So a question with an error or with weights
gets an old answer only if the noise is the very same. A question without weights may get an answer for
the same spend that was divided by weights then. Its intervals say how exact it is.

Law: tests/ledger/test_0_1_0.py, tests/curator/test_former_answers.py
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from ..ledger import Entry
from ..ledger.charge_order import Fits
from ..plan.asked.terms import Terms
from ..plan.plan import Plan
from ..privacy.events.json import measure_to_json, read_amount, to_json
from ..privacy.measures import Measure, RenyiDP
from . import answer_key
from .stored_answer import read_body

_NEAR = Fraction(1, 10**9)
"""Prices that differ by less differ in the last digit of a floating-point bound."""


def fits_terms(plans: Mapping[str, Plan], terms: Terms, price: Measure) -> Fits:
    """Return the rule for answers with a key of the first format; `price` is that of today's plan."""

    def fits(charge: Entry, text: str) -> bool:
        body = read_body(text)
        said = answer_key.terms_of(answer_key.questions_of(plans), terms)
        if body.facts is not None:
            # An old pending charge that a newer release ran: its terms are known.
            return body.facts.terms == said
        if body.answers.keys() != plans.keys():
            return False
        for name, plan in plans.items():
            if not _same_style(body.answers[name], plan, terms):
                return False
        if charge.event in (
            *answer_key.planned_events(plans),
            to_json(answer_key.event_apart(plans)),
        ):
            return True
        # Other noise for the same price is the same question, unless weights divide it otherwise.
        return "weights" not in said and fits_price(body.price, terms.spend, price)

    return fits


def fits_price(old: Measure, spend: Measure | None, price: Measure) -> bool:
    """Return whether an old answer cost the spend itself, or the price of today's plan.

    >>> from discreet import ApproxDP, PureDP
    >>> from discreet.curator.old_answers import fits_price
    >>> fits_price(PureDP(1), PureDP(1), PureDP("9/10")), fits_price(PureDP(1), PureDP(2), PureDP(2))
    (True, False)
    >>> fits_price(PureDP(1), ApproxDP(1, 0.25), PureDP(1)), fits_price(PureDP(1), None, PureDP(1))
    (True, False)
    """
    if spend is None:
        return False
    return _near(old, spend) or _near(old, price)


def _near(one: Measure, other: Measure) -> bool:
    """Return whether two prices are equal up to the last digits of a floating-point bound."""
    if one == other:
        return True
    if type(one) is not type(other) or isinstance(one, RenyiDP):
        return False
    texts = measure_to_json(one)
    for name, other_text in measure_to_json(other).items():
        if not _is_amount(texts[name]):
            continue
        a = read_amount(texts[name], "a price")
        b = read_amount(other_text, "a price")
        if abs(a - b) > _NEAR * max(a, b):
            return False
    return True


def _is_amount(value: object) -> bool:
    return isinstance(value, str) and value[:1].isdigit()


def _same_style(answer: object, plan: Plan, terms: Terms) -> bool:
    """Return whether quantiles were drawn at the asked level, and counts moved to 0 as is asked."""
    if not isinstance(answer, dict):
        return True
    counts = {
        name for name, statistic in plan.question.statistics if answer_key.is_count(statistic)
    }
    for row in answer.get("estimates", ()):
        for name, estimate in row.items():
            if estimate["estimate"] == "place":
                # The interval of a quantile is fixed when it is drawn.
                same_level = float(estimate["level"]) == terms.level
                if not same_level or not terms.intervals:
                    return False
            if name in counts:
                moved = estimate["low"] is not None
                if moved != terms.nonnegative:
                    return False
    return True
