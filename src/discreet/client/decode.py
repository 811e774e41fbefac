"""What comes in over the line, made the library's own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from typing import Any, cast

from ..answer.answer import Answer
from ..answer.provenance import Provenance
from ..answer.stored import answer_from_json
from ..answer.suggest import SuggestedBounds, SuggestedCaps
from ..curator.receipt import Receipt
from ..curator.receipt_check import read_receipt
from ..curator.stored_answer import BodyFacts
from ..curator.verbs.bounds import Wanted
from ..curator.verbs.learn import Course, Model
from ..curator.verbs.synthesize import Synthesis
from ..errors import DiscreetError, InvalidArgument, SchemaMismatch
from ..learn.estimator import Estimator
from ..plan import Plan
from ..privacy.events import Event
from ..query.text.question import fingerprint
from ..synthetic.stored import measured_from_json
from ..synthetic.synthetic import Synthetic
from ..wire.models import MODEL, model_to_words


def sql_text(text: object) -> str:
    """Refuse a question that is no SQL."""
    if not isinstance(text, str):
        raise InvalidArgument(f"a service is asked in SQL, got {type(text).__name__}")
    return text


def make_answer(reply: Mapping[str, Any], plan: Plan, plans: Mapping[str, Plan]) -> Answer:
    """Make an answer of what came over the line; refuses one to other questions than were asked here.

    A stored answer may have been planned by another release, or for another level. It then says how it was charged;
    values and intervals are those of the noise that was drawn.
    """
    receipt = _receipt(reply, {name: fingerprint(one.question) for name, one in plans.items()})
    events = [event for one in plans.values() for event in one.events]
    told = f"planned by the service, charged as {receipt.event}"
    made = plan if _same(receipt.event, events) else Provenance(plan.question, plan.level, told)
    with _known_form():
        return answer_from_json(reply["exact"], made).with_receipt(receipt, reply["caption"])


def sent_model(model: Model) -> Model:
    """Return a model as the service will read it; refuses what it does not train."""
    if not isinstance(model, Estimator):
        raise InvalidArgument(f"learn takes a model of discreet.learn, got {type(model).__name__}")
    read = MODEL.read(model_to_words(model), "model")
    return cast("Model", read.set_params(spend=model.spend))


def make_model(reply: Mapping[str, Any], course: Course[Model], model: Model) -> Model:
    """Make a fitted copy of a model of what came over the line; refuses one that was asked for otherwise."""
    receipt = _receipt(reply, _prints(course.facts))
    with _known_form():
        return replace(course, model=model).taught(reply["trained"]["fitted"], receipt)


def make_synthetic(reply: Mapping[str, Any], made: Synthesis) -> Synthetic:
    """Make released tables of what came over the line; refuses others than were asked for."""
    receipt = _receipt(reply, _prints(made.facts))
    with _known_form():
        return Synthetic(measured_from_json(reply["released"])).with_receipt(receipt, reply["text"])


def make_bounds(reply: Mapping[str, Any], wanted: Wanted) -> SuggestedBounds:
    """Make suggested bounds of what came over the line."""
    with _known_form():
        return SuggestedBounds(Fraction(reply["low"]), Fraction(reply["high"]), wanted.plan.events)


def make_caps(reply: Mapping[str, Any], wanted: Wanted) -> SuggestedCaps:
    """Make a suggested cap of what came over the line."""
    with _known_form():
        return SuggestedCaps(int(reply["max_rows"]), wanted.plan.events)


def _prints(facts: BodyFacts) -> dict[str, str]:
    return {name: said.fingerprint for name, said in facts.asked.items()}


def _receipt(reply: Mapping[str, Any], asked: Mapping[str, str]) -> Receipt:
    receipt = read_receipt(reply["receipt"])
    if {one.name: one.fingerprint for one in receipt.asked} != asked:
        raise SchemaMismatch(
            "the service reads this question in another way than this client; use the same version"
        )
    return receipt


@contextmanager
def _known_form() -> Iterator[None]:
    try:
        yield
    except (DiscreetError, ValueError, TypeError, KeyError):
        raise SchemaMismatch(
            "the service answers in a form that this client does not know; use the same version"
        ) from None


def _same(charged: Event, events: list[Event]) -> bool:
    inner = getattr(charged, "events", None)
    return list(inner) == events if inner is not None and len(events) != 1 else [charged] == events
