"""Models as answers: charged before a row is read, stored, and given again free of charge."""

from __future__ import annotations

from copy import copy
from typing import Protocol, TypeVar

from ...arithmetic.canonical import hash_json
from ...arithmetic.rational import whole
from ...errors import InvalidArgument
from ...learn.estimator import Estimator
from ...learn.explanation import TrainingExplanation
from ...learn.store.source import Stored, influence_of
from ...learn.stored import arrays_from_json, arrays_to_json, params_to_json
from ...learn.task import Training
from ...ledger.order import Order
from ...privacy.events.json import Json, measure_to_json
from ...privacy.measures import Measure
from ...query.algebra.expression import Field
from ...query.algebra.tree import Count, Finish, Question, Relation
from ...query.bounds.rows import columns_of, tables_of
from ...query.sql.parse import parse_rows
from ...query.text.question import describe, fingerprint
from ..answers import receipt_of
from ..body import Body, BodyFacts, Said, read_body, write_body
from ..key import key_name
from ..pay import Locks, pay
from ..sign import Signer
from ..stand import Stand

__all__ = ["Learner", "Model", "counted", "explain_model", "learn"]

Model = TypeVar("Model", bound=Estimator)


class Learner(Protocol):
    """Who learns: the curator, as far as a model needs it."""

    @property
    def stand(self) -> Stand:
        """What the curator stands on."""

    @property
    def signer(self) -> Signer | None:
        """Who signs the receipts."""

    @property
    def locks(self) -> Locks:
        """The locks of the keys."""

    @property
    def who(self) -> str:
        """Who asks, and is charged."""


def learn(asker: Learner, sql: str, model: Model, spend: Measure | None, why: str) -> Model:
    """Return a fitted copy of a model; the same model of the same rows on the same terms costs nothing.

    Everything before the charge needs public facts alone.
    """
    if not isinstance(model, Estimator):
        raise InvalidArgument(f"learn takes a model of discreet.learn, got {type(model).__name__}")
    stand = asker.stand
    rows = parse_rows(sql, stand.schemas)
    said = stand.planner.question(counted(rows)).question
    task, domains, price = model.task(columns_of(rows)), columns_of(rows), model.price(spend)
    training = model.recipe().plan(task, price, influence_of(rows))
    facts = _facts(said, rows, model, training, price)
    order = _order(asker, facts, training, why)

    def run() -> str:
        found = model.recipe().train(task, training, Stored(stand.engine, rows))
        return write_body(Body(stand.ledger.price(training.event), {"": arrays_to_json(found)}, facts))

    charge, text = pay(stand.ledger, order, run, asker.locks)
    body = read_body(text)
    receipt = receipt_of(charge, body, body.facts or facts, stand.ledger.promise())
    if asker.signer is not None:
        receipt = receipt.signed(asker.signer)
    return copy(model).keep(task, domains, training, arrays_from_json(body.answers[""]), receipt)


def explain_model(asker: Learner, sql: str, model: Estimator, spend: Measure | None, n: int) -> TrainingExplanation:
    """Say what learning from about `n` rows of a SELECT would release, cost and lose; nothing is touched or spent."""
    rows = parse_rows(sql, asker.stand.schemas)
    asker.stand.planner.question(counted(rows))
    task = model.task(columns_of(rows))
    training = model.recipe().plan(task, model.price(spend), influence_of(rows))
    return TrainingExplanation.of(type(model).__name__, task, training, whole(n, "n", least=1))


def counted(rows: Relation) -> Question:
    """Return a question about the rows, to check and to name them by."""
    return Question(rows, (), (("n", Count()),), Finish((("n", Field("n")),)))


def _facts(said: Question, rows: Relation, model: Estimator, training: Training, price: Measure) -> BodyFacts:
    made = {"learn": type(model).__name__, "params": params_to_json(model)}
    terms: Json = {**made, "spend": measure_to_json(price)}
    versions = {schema.name: schema.version for schema in tables_of(rows)}
    asked = hash_json({**made, "rows": fingerprint(said)})
    words = Said(f"{model!r} learned from: {describe(said)}", asked, str(training.event), ())
    return BodyFacts(terms, training.influence.neighbours, versions, {"": words})


def _order(asker: Learner, facts: BodyFacts, training: Training, why: str) -> Order:
    asked = facts.asked[""].fingerprint
    key, apart = key_name({"": asked}, facts.terms), not asker.stand.share_questions
    return Order(asker.who, why, asked, key, training.event, text=facts.asked[""].text, apart=apart)
