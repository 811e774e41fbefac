"""Models as answers: charged before a row is read, stored, and given again free of charge."""

from __future__ import annotations

from copy import copy
from typing import Generic, Protocol, TypeVar

from ...arithmetic.canonical import hash_json
from ...arithmetic.rational import whole
from ...errors import InvalidArgument
from ...frozen import frozen
from ...learn.estimator import Estimator
from ...learn.explanation import TrainingExplanation
from ...learn.store.source import Stored, influence_of
from ...learn.stored import arrays_from_json, arrays_to_json, params_to_json
from ...learn.task import Task, Training
from ...ledger.charge_order import ChargeOrder
from ...plan.planner import Planner
from ...privacy.events import Event
from ...privacy.events.json import Json, measure_to_json
from ...privacy.measures import Measure
from ...query.algebra.expression import Field
from ...query.algebra.tree import Count, Finish, Question, Relation
from ...query.bounds.relation_facts import columns_of, tables_of
from ...query.sql.parse import parse_rows
from ...query.text.question import describe, fingerprint
from ..answer_key import key_name
from ..answers import receipt_of
from ..context import CuratorContext
from ..explain import check_rows
from ..pay import Locks, Work, pay
from ..receipt import Receipt
from ..signing import Signer
from ..stored_answer import Body, BodyFacts, Said, read_body, write_body

Model = TypeVar("Model", bound=Estimator)


class Learner(Protocol):
    """Who learns: the curator, as far as a model needs it."""

    @property
    def stand(self) -> CuratorContext:
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


@frozen(eq=False)
class Course(Generic[Model]):
    """A model that is to learn from the rows of a SELECT: its task, all its noise, and what is written down."""

    model: Model
    rows: Relation
    task: Task
    training: Training
    facts: BodyFacts

    def explain(self, n: int) -> TrainingExplanation:
        """Say what learning from about `n` rows would release, cost and lose; nothing is touched or spent."""
        return TrainingExplanation.of(
            type(self.model).__name__, self.task, self.training, whole(n, "n", least=1)
        )

    def taught(self, found: object, receipt: Receipt) -> Model:
        """Return a copy of the model with what was learned, from its JSON."""
        return copy(self.model).keep(
            self.task, columns_of(self.rows), self.training, arrays_from_json(found), receipt
        )


def course_of(planner: Planner, sql: str, model: Model, spend: Measure | None) -> Course[Model]:
    """Return what learning from the rows of a SELECT would do, from public facts alone."""
    if not isinstance(model, Estimator):
        raise InvalidArgument(f"learn takes a model of discreet.learn, got {type(model).__name__}")
    rows = parse_rows(sql, planner.schemas)
    said = planner.question(count_of(rows)).question
    task, price = model.task(columns_of(rows)), model.price(spend)
    training = model.recipe().plan(task, price, influence_of(rows))
    return Course(model, rows, task, training, _facts(said, rows, model, training, price))


def learn(asker: Learner, sql: str, model: Model, spend: Measure | None, why: str) -> Model:
    """Return a fitted copy of a model; the same model of the same rows on the same terms costs nothing.

    Everything before the charge needs public facts alone.
    """
    stand = asker.stand
    course = course_of(stand.planner, sql, model, spend)
    training, facts = course.training, course.facts
    price = stand.ledger.price(training.event)

    def run() -> str:
        found = model.recipe().train(
            course.task, training, Stored(stand.engine, course.rows), stand.bits
        )
        return write_body(Body(price, {"": arrays_to_json(found)}, facts))

    work = Work(run, lambda: check_rows(course.rows, stand.engine), stand.pause)
    paid = pay(stand.ledger, order_for(asker, facts, training.event, why), work, asker.locks)
    body = read_body(paid.body)
    receipt = receipt_of(paid.entry, body, body.facts or facts, stand.ledger.promise())
    if asker.signer is not None:
        receipt = receipt.signed(asker.signer)
    return course.taught(body.answers[""], receipt)


def count_of(rows: Relation) -> Question:
    """Return a question about the rows, to check and to name them by."""
    return Question(rows, (), (("n", Count()),), Finish((("n", Field("n")),)))


def _facts(
    said: Question, rows: Relation, model: Estimator, training: Training, price: Measure
) -> BodyFacts:
    made = {"learn": type(model).__name__, "params": params_to_json(model)}
    terms: Json = {**made, "spend": measure_to_json(price)}
    versions = {schema.name: schema.version for schema in tables_of(rows)}
    asked = hash_json({**made, "rows": fingerprint(said)})
    words = Said(f"{model!r} learned from: {describe(said)}", asked, str(training.event), ())
    return BodyFacts(terms, training.influence.neighbours, versions, {"": words})


def order_for(asker: Learner, facts: BodyFacts, event: Event, why: str) -> ChargeOrder:
    """Return the order by which the ledger knows what is made, a model or synthetic tables."""
    asked = facts.asked[""].fingerprint
    key, apart = key_name({"": asked}, facts.terms), not asker.stand.share_questions
    return ChargeOrder(asker.who, why, asked, key, event, text=facts.asked[""].text, apart=apart)
