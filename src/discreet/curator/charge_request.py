"""Charge requests: choose plans that fit the budget, order their charge, and run what is paid.

    request ─► plans ─► order ─► charge ─► run ─► stored answer         `pay` has the effects, in this order

An order (`ledger.charge_order`) holds who asks and why, the event, the key of the answer, the part
of the data, and the rule by which an answer of release 0.1.0 is taken instead. All that comes before
the charge follows from the ledger, the question and its terms.

A plan is made under the ledger's filter as it was when the ledger was opened, so that it does not
change from day to day. One case is planned again, under the filter as it stands: an (ε, δ) spend
of at most `left()` whose plan no longer fits. The second plan has Gaussian noise that fits in
place of Laplace noise.

Answers of release 0.1.0 have keys that hash the planned events, so a better planner does not find
them by their key. They are found by the question's fingerprint, and taken if `fits_terms` finds in
the ledger:

    of            condition
    ------------  ---------------------------------------------------------------------------------
    quantiles     drawn with an interval, at the asked level
    counts        moved to 0 or above exactly if that is asked for
    noise         the events of today's plan, or of a plan with separate totals for every statistic;
                  or, for a spend without weights, the same price: the old answer cost the spend
                  itself, or what today's plan would cost

The spend itself was not stored, nor were weights and sizes. So a question with an error or with
weights gets an old answer only if the noise is the very same. A question without weights may get
an answer for the same spend that was divided by weights then. Its intervals say how exact it is.

Guarantee: the facts that are stored beside the answer, and the store's queries, do not depend on
the data. They are worked out before the charge, so what they refuse costs nothing.
Law: tests/curator/test_curator.py, tests/ledger/test_0_1_0.py, tests/curator/test_former_answers.py
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TypedDict

from ..answer.answer import Answer
from ..answer.ask import run_plans, store_texts
from ..answer.body import Body, made_by, read_body, write_body
from ..answer.measured_table import measured_tables
from ..data.columns.keys import KeyValue
from ..errors import BudgetExceeded
from ..frozen import field, frozen
from ..ledger import Entry, Ledger
from ..ledger.charge_order import ChargeOrder, Fits, Watch
from ..plan.asked.terms import Terms
from ..plan.plan import Plan
from ..plan.planner import CheckedRequest
from ..privacy.events import Promise
from ..privacy.events.json import Json, measure_to_json, read_amount, to_json
from ..privacy.measures import ApproxDP, Measure, PureDP, RenyiDP
from ..privacy.shown_price import Price
from . import answer_key
from .answer_key import (
    MEANING,
    AnswerKey,
    Questions,
    event_of,
    question_name,
    questions_of,
    same_target,
    texts_of,
)
from .charged_part import charged_part, require_kept
from .context import CuratorContext
from .pay import Locks, Paid, Work, pay
from .stored_answer import facts_of


@frozen
class PaidMeasurement:
    """Measurement for a request: its key, its plans, and which part of it was asked for.

    `slice` says that part: the values of pinned columns by the titles of the measured keys, as
    JSON. It is empty if all that is measured was asked for.
    """

    key: AnswerKey
    plans: Mapping[str, Plan] = field(hash=False)
    slice: Json = field(default_factory=dict, hash=False)
    split: str = ""
    """Title of the key that says whether the condition holds, where both sides are measured."""

    def titles(self) -> tuple[str, ...]:
        """Return the titles of the measured keys; none if several questions are measured."""
        if list(self.key.measured) != [""]:
            return ()
        part = self.key.measured[""]
        return tuple(part.titles()[: len(part.places)])


@frozen
class Priced:
    """An order with its price now, in the measure of the ledger's filter and as it is shown."""

    order: ChargeOrder
    price: Measure
    shown: Price


def order_of(
    plans: Mapping[str, Plan],
    request: CheckedRequest,
    key: AnswerKey,
    context: CuratorContext,
    measured: AnswerKey | None = None,
    *,
    who: str,
    why: str = "",
    told: Questions | None = None,
    watch: Watch | None = None,
) -> Priced:
    """Return the order that charges a ledger for plans of a request. Nothing is charged.

    `key` is the key of the request's questions. `measured` is the key under which their answers
    are stored if more is measured than was asked. `told` are the questions that the history shows,
    if the plans are of others. `watch` are entries that must not be there when it is charged.

    Refuses: plans that release nothing, events that the ledger cannot price, and questions about
    times whose rows the schema no longer keeps.
    """
    ledger = context.ledger
    terms = request.terms
    questions = questions_of(plans)
    event = event_of(plans)
    # Most tables keep their rows, and most ledgers count in all the data: nothing is looked for there.
    if any(schema.keeps is not None for schema in context.schemas.values()):
        require_kept(questions)
    part = _part_of(questions, ledger)
    price = ledger.price(event, part=part)
    shown = ledger.shown_price(event, terms.spend, part=part)
    if isinstance(event, Promise) and event.measure == PureDP(0):
        # A public answer costs nothing in any measure; the δ of the budget is not a part of it.
        shown = Price(event.measure, event.measure)
    texts = texts_of(told or questions)
    # An answer of an earlier meaning is given again only if it counted what is counted now.
    former = ""
    same_alone = same_target(request.checked)
    if same_alone:
        former = key.former
    elif len(questions) > 1:
        # Release 0.1.0 planned every question by itself.
        same_alone = all(same_target({"": one}) for one in request.checked.values())
    fits = None
    if same_alone:
        fits = fits_terms(plans, terms, price)
    stored = measured or key
    order = ChargeOrder(
        who,
        why,
        stored.question,
        stored.text,
        event,
        part,
        fits,
        text=_text_for_steward(texts),
        former=former,
        spelled=question_name(key.prints),
        apart=not context.share_questions,
        price=shown,
        watch=watch,
    )
    return Priced(order, price, shown)


def _part_of(questions: Questions, ledger: Ledger) -> KeyValue | None:
    """Return the part or the blocks that questions are charged to; None if it is all the data."""
    if not ledger.terms.divided:
        return None
    return charged_part(questions, ledger.terms)


def require_answer(ledger: Ledger, priced: Priced) -> None:
    """Check that the ledger holds the answer of an order, for a request with `reuse="only"`.

    Refuses: an order that would be charged, or run under a pending charge (BudgetExceeded).
    """
    known = ledger.find(priced.order)
    if known is not None and known.body is not None:
        return
    raise BudgetExceeded(
        f'reuse="only": no released answer answers this; it would cost {priced.shown}, '
        "which reuse=True pays; nothing was spent",
        asked=priced.shown.amount,
        left=ledger.left(priced.order.who, priced.order.part),
    )


def _text_for_steward(texts: Mapping[str, str]) -> str:
    """Write the questions one a line; a single question has no name."""
    lines = []
    for name, text in texts.items():
        if name:
            lines.append(f"{name}: {text}")
        else:
            lines.append(text)
    return "\n".join(lines)


def plan_to_fit(context: CuratorContext, request: CheckedRequest, who: str) -> dict[str, Plan]:
    """Return the plans of a request under the ledger's filter as it was opened, if these fit now.

    Only an (ε, δ) spend of at most the remaining ε is planned again if they do not fit: under the
    filter as it stands. Those plans are returned if they fit. In every other case the first plans
    are returned, also where they do not fit: the charge will refuse them.
    """
    ledger = context.ledger
    opened = ledger.terms.filter
    plans = request.plans(opened)
    spend = request.terms.spend
    # Only an (ε, δ) filter that also adds up ε admits Gaussian noise where Laplace noise no longer fits.
    if not isinstance(spend, ApproxDP) or not opened.adds:
        return plans
    part = _part_of(request.questions, ledger)
    left = ledger.left(who, part)
    if ledger.admits(event_of(plans), who=who, part=part):
        return plans
    if not isinstance(left, ApproxDP) or spend.epsilon > left.epsilon:
        return plans
    plans_now = request.plans(ledger.filter(who, part))
    if ledger.admits(event_of(plans_now), who=who, part=part):
        return plans_now
    return plans


class PaidBy(TypedDict):
    """Payer of a request, and why; `locks` let threads that ask the same wait for one answer."""

    who: str
    why: str
    locks: Locks


def pay_request(
    context: CuratorContext,
    request: CheckedRequest,
    key: AnswerKey,
    plans: Mapping[str, Plan],
    measured: PaidMeasurement,
    *,
    who: str,
    why: str,
    locks: Locks,
    told: Questions | None = None,
    watch: Watch | None = None,
) -> tuple[Paid, Mapping[str, Answer]]:
    """Charge for a request, run `measured` and store its answers, or return the stored ones.

    `key` and `plans` are those of the request's questions, which are priced. `measured` has the
    same price and may have more cells. `told` are the questions that the history shows, if the
    plans are of others.

    The second result has the answers of this run, by name, if they are those that the ledger
    stored; else it is empty, and the stored text has to be read. With `reuse="only"` nothing is
    charged.

    Refuses: what the ledger, the engine and `require_answer` refuse, before the charge; with
    Overtaken a charge that `watch` forbids.
    """
    terms = request.terms
    words = {"who": who, "why": why}
    priced = order_of(plans, request, key, context, measured.key, told=told, watch=watch, **words)
    if terms.reuse == "only":
        require_answer(context.ledger, priced)
    # Before the charge: they do not depend on the data, and nothing may fail after it.
    facts = facts_of(measured.plans, measured.key)
    # Answers made here, by their stored text: if that text is the one that is released, they need
    # not be read back from it.
    made_here: dict[str, dict[str, Answer]] = {}

    def check() -> None:
        for plan in measured.plans.values():
            store_texts(plan, context.engine)

    def run() -> str:
        """Run the plans and return the text that the ledger stores."""
        answers = run_plans(
            measured.plans,
            context.engine,
            level=terms.level,
            nonnegative=terms.nonnegative,
            whole=terms.whole,
            bits=context.bits,
        )
        written = measured_tables(answers, measured.key.measured)
        body = Body(
            priced.price,
            written,
            facts,
            MEANING,
            priced.shown,
            measured=True,
            titles=measured.titles(),
            split=measured.split,
            made=made_by(context.engine, answers, measured.key.measured),
        )
        text = write_body(body)
        # Selected keys are put in the order of their names when they are read, and of a wide
        # measurement a part is read.
        if measured.plans is plans and all(one.selection is None for one in plans.values()):
            made_here[text] = answers
        return text

    work = Work(run, check, context.pause)
    paid = pay(context.ledger, priced.order, work, locks)
    # Another process may have stored first: then the text is not ours and has to be read.
    return paid, made_here.get(paid.body, {})


_NEAR = Fraction(1, 10**9)
"""Prices that differ by less differ in the last digit of a floating-point bound."""


def fits_terms(plans: Mapping[str, Plan], terms: Terms, price: Measure) -> Fits:
    """Return the rule by which an answer of release 0.1.0 is taken for plans of today.

    The rule gets the entry of a charge and the text of its stored answer. `price` is today's price
    of the plans in the measure of the ledger's filter.
    """

    def fits(charge: Entry, text: str) -> bool:
        """Return whether a stored answer fits; see the table of the module."""
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
    >>> from discreet.curator.charge_request import fits_price
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
    """Return whether an answer of release 0.1.0 has quantiles and counts as `terms` ask for them.

    Quantiles must have been drawn with an interval at the asked level. Counts must have been moved
    to 0 or above exactly if `nonnegative` is asked for.
    """
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
