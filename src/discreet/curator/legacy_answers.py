"""Answers of release 0.1.0: whether one of them is what is asked for now.

Its keys hash the planned events, so a better planner does not find them by their key. They are found by the question's
fingerprint, and taken if nothing that the ledger knows speaks against it:

    quantiles    drawn with an interval at the asked level  stands in the answer
    counts       moved to 0 or above if that is asked for   stands in the answer
    noise        the same events as planned today, or as would be planned with totals of its own for every statistic;
                 or, for a spend without weights, the same price: what the old answer took is the spend itself, or what
                 today's plan would take

The spend itself was not written down, nor were weights and sizes. So one who asks with an error or with weights gets
an old answer only if the noise is the very same, and one who asks without weights may get an answer for the same spend
that was divided by weights then. Its intervals say how exact it is, as always.
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
from .answer_key import COUNTS, event_apart, event_of, old_key_of, terms_of
from .stored_answer import read_body

_NEAR = Fraction(1, 10**9)
"""Prices that differ by less differ in the last digit of a floating-point bound."""
_LEVELS = (0.95, 0.9, 0.99, 0.8, 0.5)


def fits_terms(plans: Mapping[str, Plan], terms: Terms, price: Measure) -> Fits:
    """Return the rule by which an answer with a key of the first format is taken; `price` is that of today's plan."""

    def fits(charge: Entry, text: str) -> bool:
        body, said = read_body(text), terms_of(plans, terms)
        if body.facts is not None:  # an old charge that was run by a newer release
            return body.facts.terms == said
        if body.answers.keys() != plans.keys():
            return False
        if not all(_same_style(body.answers[name], plan, terms) for name, plan in plans.items()):
            return False
        events = (to_json(event_of(plans)), to_json(event_apart(plans)))
        return charge.event in events or (
            "weights" not in said and fits_price(body.price, terms.spend, price)
        )

    return fits


def fits_price(old: Measure, spend: Measure | None, price: Measure) -> bool:
    """Return whether an old answer took what is to be spent now: the spend itself, or the price of today's plan.

    >>> from discreet import ApproxDP, PureDP
    >>> from discreet.curator.legacy_answers import fits_price
    >>> fits_price(PureDP(1), PureDP(1), PureDP("9/10")), fits_price(PureDP(1), PureDP(2), PureDP(2))
    (True, False)
    >>> fits_price(PureDP(1), ApproxDP(1, 0.25), PureDP(1)), fits_price(PureDP(1), None, PureDP(1))
    (True, False)
    """
    return spend is not None and any(_near(old, new) for new in (spend, price))


def _near(one: Measure, other: Measure) -> bool:
    if one == other or type(one) is not type(other) or isinstance(one, RenyiDP):
        return one == other
    pairs = [(measure_to_json(one)[name], text) for name, text in measure_to_json(other).items()]
    amounts = [
        (read_amount(a, "a price"), read_amount(b, "a price")) for a, b in pairs if _is_amount(a)
    ]
    return all(abs(a - b) <= _NEAR * max(a, b) for a, b in amounts)


def _is_amount(value: object) -> bool:
    return isinstance(value, str) and value[:1].isdigit()


def _same_style(answer: object, plan: Plan, terms: Terms) -> bool:
    """Return whether quantiles were drawn at the asked level, and counts moved to 0 as is asked."""
    counts = {name for name, statistic in plan.question.statistics if isinstance(statistic, COUNTS)}
    rows = answer.get("estimates", ()) if isinstance(answer, dict) else ()
    for row in rows:
        for name, estimate in row.items():
            if estimate["estimate"] == "place" and (
                float(estimate["level"]) != terms.level or not terms.intervals
            ):
                return False
            if name in counts and (estimate["low"] is not None) != terms.nonnegative:
                return False
    return True


def same_plan(charge: Entry, plans: Mapping[str, Plan], terms: Terms) -> bool:
    """Return whether an answer of 0.1.0 was planned as it is today; its key tells, for the levels that are usual."""
    if charge.event != to_json(event_of(plans)):
        return False
    keys = (
        old_key_of(plans, level, nonnegative=terms.nonnegative) for level in (terms.level, *_LEVELS)
    )
    return charge.key in keys
