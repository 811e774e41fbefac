"""Decoders of replies: JSON of the service to objects of the library.

Answers, models and synthetic tables come with a receipt. Their decoders compare it with the
request, so an answer to another question is refused. Suggested bounds and caps have no receipt.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from typing import Any, cast

from ..answer.answer import Answer
from ..answer.body import BodyFacts
from ..answer.provenance import Provenance
from ..answer.stored import answer_from_json
from ..answer.suggest import SuggestedBounds, SuggestedCaps
from ..curator.receipt import Receipt
from ..curator.receipt_check import read_receipt
from ..curator.verbs.bounds import Wanted, suggested_caps
from ..curator.verbs.learn import Course, Model
from ..curator.verbs.synthesize import Synthesis
from ..errors import DiscreetError, InvalidArgument, SchemaMismatch
from ..learn.estimator import Estimator
from ..plan import Plan
from ..privacy.events import Event
from ..query.algebra.tree import Question
from ..query.bounds.contrast import contrast_of
from ..query.bounds.finer_questions import finer_questions
from ..query.bounds.keys import PublicValues
from ..query.bounds.siblings import wide_question
from ..query.text.measured_part import measured_part, measured_print
from ..query.text.question import fingerprint
from ..show.table import printable
from ..synthetic.stored import measured_from_json
from ..synthetic.synthetic import Synthetic
from ..wire.models import MODEL, model_to_json


def sql_text(text: object) -> str:
    """Return a question in SQL; refuse a question of another type."""
    if not isinstance(text, str):
        raise InvalidArgument(f"a service is asked in SQL, got {type(text).__name__}")
    return text


def make_answer(
    reply: Mapping[str, Any],
    plan: Plan,
    plans: Mapping[str, Plan],
    values: PublicValues | None = None,
) -> Answer:
    """Decode an answer.

    `plan` is the plan of this answer, `plans` those of all questions of the request by name; a
    single question has the name "". `values` returns the values of a column of a public table.

    The service may answer from what it stored before: the same totals, a wider or finer table, or
    a total and a signed count. The receipt then names that question. A stored answer may also
    have been planned by another version or for another confidence level. Then its plan says only
    how it was charged; values and intervals are those of the noise that was drawn.

    Refuses: an answer to other questions than `plans`, by `SchemaMismatch`.

    Law: tests/client/test_client.py::TestOtherVersions
    """
    questions = {name: planned.question for name, planned in plans.items()}
    measured = {name: measured_print(question) for name, question in questions.items()}
    # Answers that were stored before views name the spelling that was asked.
    spelled = {name: fingerprint(question) for name, question in questions.items()}
    wide = {}
    for name, question in questions.items():
        widened = wide_question(question)
        wide[name] = measured_print(question if widened is None else widened.question)
    others = _contrast(questions)
    finer = _finer(questions, values)
    receipt = _checked_receipt(reply, measured, spelled, wide, *others, finer=finer)
    events: list[Event] = []
    for planned in plans.values():
        events.extend(planned.events)
    source: Plan | Provenance = plan
    if not _is_charge_of(receipt.event, events):
        # The plan made here does not describe the noise: only the receipt does.
        charged = f"planned by the service, charged as {receipt.event}"
        source = Provenance(plan.question, plan.level, charged)
    with _known_form():
        answer = answer_from_json(reply["exact"], source)
        return answer.with_receipt(receipt, printable(reply["caption"]), details_notes(reply))


def details_notes(reply: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the sentences on an answer that the service sent; services of older versions send none."""
    return tuple(printable(reply.get("details", "")).splitlines())


def sent_model(model: Model) -> Model:
    """Return a model as the service will read it; refuse a model that it does not train."""
    if not isinstance(model, Estimator):
        raise InvalidArgument(f"learn takes a model of discreet.learn, got {type(model).__name__}")
    # Written and read back: floats become the same text that the service parses.
    as_read = MODEL.read(model_to_json(model), "model")
    return cast("Model", as_read.set_params(spend=model.spend))


def make_model(reply: Mapping[str, Any], course: Course[Model], model: Model) -> Model:
    """Decode a fitted copy of a model; refuse a model of another request."""
    receipt = _checked_receipt(reply, _fingerprints(course.facts))
    with _known_form():
        fitted = reply["trained"]["fitted"]
        return replace(course, model=model).taught(fitted, receipt)


def make_synthetic(reply: Mapping[str, Any], made: Synthesis) -> Synthetic:
    """Decode released tables; refuse tables of another request."""
    receipt = _checked_receipt(reply, _fingerprints(made.facts))
    with _known_form():
        measured = measured_from_json(reply["released"])
        return Synthetic(measured).with_receipt(receipt, reply["text"])


def make_bounds(reply: Mapping[str, Any], wanted: Wanted) -> SuggestedBounds:
    """Decode suggested bounds."""
    with _known_form():
        low = Fraction(reply["low"])
        high = Fraction(reply["high"])
        return SuggestedBounds(low, high, wanted.plan.events)


def make_caps(reply: Mapping[str, Any], wanted: Wanted) -> SuggestedCaps:
    """Decode a suggested cap."""
    with _known_form():
        # A service of an older version refuses `by`, and sends no cap of a group.
        rows = reply["max_rows_per_group" if wanted.per_group else "max_rows"]
        return suggested_caps(wanted, int(rows))


def _fingerprints(facts: BodyFacts) -> dict[str, str]:
    return {name: asked.fingerprint for name, asked in facts.asked.items()}


def _contrast(questions: Mapping[str, Question]) -> list[dict[str, str]]:
    """List the fingerprints of both questions that a count under conditions may be computed from.

    One is a signed count, +1 for a row where the conditions hold and −1 otherwise; the other groups
    by whether they hold. Empty for every other question and for requests of several questions.
    """
    if list(questions) != [""]:
        return []
    contrast = contrast_of(measured_part(questions[""]).question)
    if contrast is None:
        return []
    return [{"": measured_print(one)} for one in (contrast.signed, contrast.split)]


def _finer(
    questions: Mapping[str, Question], values: PublicValues | None
) -> Callable[[], Iterator[dict[str, str]]]:
    """Return a function that iterates over finer questions, as fingerprints.

    The cells of each add up to the answer of the question that was asked.
    """

    def listed() -> Iterator[dict[str, str]]:
        if list(questions) == [""]:
            for finer in finer_questions(questions[""], values):
                yield {"": measured_print(finer.question)}

    return listed


def _none() -> Iterator[dict[str, str]]:
    return iter(())


def _checked_receipt(
    reply: Mapping[str, Any],
    *asked: Mapping[str, str],
    finer: Callable[[], Iterator[dict[str, str]]] = _none,
) -> Receipt:
    """Read the receipt of a reply; refuse a receipt of other questions than those of `asked`.

    A question is compared by the fingerprint of the totals that noise is added to. `finer` lists
    further questions; they are many, so they are made only if none of `asked` fits.
    """
    receipt = read_receipt(reply["receipt"])
    answered = {question.name: question.fingerprint for question in receipt.asked}
    if answered not in asked and answered not in finer():
        raise SchemaMismatch(
            "the service reads this question in another way than this client; use the same version"
        )
    return receipt


@contextmanager
def _known_form() -> Iterator[None]:
    """Turn every error of decoding into one refusal: a newer service may send other forms."""
    try:
        yield
    except (DiscreetError, ValueError, TypeError, KeyError):
        raise SchemaMismatch(
            "the service answers in a form that this client does not know; use the same version"
        ) from None


def _is_charge_of(charged: Event, events: list[Event]) -> bool:
    """Return whether the charge of a receipt is that of the planned events: one event, or a batch."""
    inner = getattr(charged, "events", None)
    if inner is None or len(events) == 1:
        return [charged] == events
    # A charge has its events in an order of its own.
    return sorted(map(repr, inner)) == sorted(map(repr, events))
