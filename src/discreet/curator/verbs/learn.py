"""Private training of models through the ledger: charged before a row is read, then stored.

Guarantee: the charge is durable before training starts; the same model of the same rows on the same
terms is returned from the ledger for free.
Refuses: before the charge, what the model, the planner, the ledger or the engine would refuse.
Law: tests/learn/test_curator_learn.py
"""

from __future__ import annotations

from copy import copy
from typing import Generic, Protocol, TypeVar

from ...answer.body import Body, BodyFacts, Said, made_by, read_body, write_body
from ...arithmetic.canonical import hash_json
from ...arithmetic.rational import whole
from ...data.unit import People
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
from ...privacy.events.json import Json, measure_from_json, measure_to_json
from ...privacy.measures import Measure
from ...query.algebra.expression import Field
from ...query.algebra.statistic import Count
from ...query.algebra.tree import Finish, Question, Relation
from ...query.bounds.relation_facts import columns_of, tables_of, unit_of
from ...query.sql.question import read_row_sql
from ...query.text.question import describe, fingerprint
from ..answer_key import MEANING, key_name
from ..context import CuratorContext
from ..explain import check_rows
from ..pay import Locks, Work, pay
from ..receipt import Receipt
from ..signing import Signer
from ..stored_answer import receipt_of

Model = TypeVar("Model", bound=Estimator)


class Learner(Protocol):
    """Interface of the curator that these requests use."""

    @property
    def context(self) -> CuratorContext:
        """Engine, schemas and ledger of the curator."""

    @property
    def signer(self) -> Signer | None:
        """Key that signs the receipts, if there is one."""

    @property
    def locks(self) -> Locks:
        """The locks of the keys."""

    @property
    def who(self) -> str:
        """Name of the analyst who asks, and is charged."""


@frozen(eq=False)
class Course(Generic[Model]):
    """Plan of a training from the rows of a SELECT.

    `task` says which columns are features and target, `training` holds the noise of every release,
    `facts` is stored beside the fitted model.
    """

    model: Model
    rows: Relation
    task: Task
    training: Training
    facts: BodyFacts

    def explain(self, n: int) -> TrainingExplanation:
        """Explain releases, cost and loss of learning from about `n` rows; nothing is spent."""
        name = type(self.model).__name__
        count = whole(n, "n", least=1)
        return TrainingExplanation.of(name, self.task, self.training, count)

    def taught(self, found: object, receipt: Receipt) -> Model:
        """Return a copy of the model with the parameters of the JSON `found` and a receipt."""
        arrays = arrays_from_json(found)
        columns = columns_of(self.rows)
        return copy(self.model).keep(self.task, columns, self.training, arrays, receipt)


def plan_training(planner: Planner, sql: str, model: Model, spend: Measure | None) -> Course[Model]:
    """Plan learning from the rows of a SELECT, from public facts alone."""
    if not isinstance(model, Estimator):
        raise InvalidArgument(f"learn takes a model of discreet.learn, got {type(model).__name__}")
    rows = read_row_sql(sql, planner.schemas)
    said = planner.question(count_of(rows)).question
    task = model.task(columns_of(rows))
    price = model.price(spend)
    training = model.recipe().plan(task, price, influence_of(rows))
    facts = _facts(said, rows, model, training, price)
    return Course(model, rows, task, training, facts)


def learn(asker: Learner, sql: str, model: Model, spend: Measure | None, why: str) -> Model:
    """Charge for a model, train it, store it, and return a fitted copy with its receipt.

    The same model of the same rows on the same spend costs nothing again. `why` is kept in the
    ledger. Everything before the charge needs public facts alone.
    """
    context = asker.context
    course = plan_training(context.planner, sql, model, spend)
    training = course.training
    facts = course.facts
    order = charge_order_of(asker, facts, training.event, why)
    price = context.ledger.price(training.event)

    def run() -> str:
        source = Stored(context.engine, course.rows)
        arrays = model.recipe().train(course.task, training, source, context.bits)
        made = made_by(context.engine)
        answers = {"": arrays_to_json(arrays)}
        return write_body(Body(price, answers, facts, shown=order.price, made=made))

    def check() -> None:
        check_rows(course.rows, context.engine)

    paid = pay(context.ledger, order, Work(run, check, context.pause), asker.locks)
    body = read_body(paid.body)
    # The receipt states the facts as they were stored, which another process may have written.
    promise = context.ledger.promise()
    receipt = receipt_of(paid.entry, body, body.facts or facts, promise, numbers=context.numbers)
    if asker.signer is not None:
        receipt = receipt.signed(asker.signer)
    return course.taught(body.answers[""], receipt)


def count_of(rows: Relation) -> Question:
    """Return the question that counts rows: the planner checks it, its fingerprint identifies the rows."""
    return Question(rows, (), (("n", Count()),), Finish((("n", Field("n")),)))


def _facts(
    said: Question, rows: Relation, model: Estimator, training: Training, price: Measure
) -> BodyFacts:
    """Return the facts of a training that are stored with it; their names are a stored format."""
    made = {"learn": type(model).__name__, "params": params_to_json(model)}
    terms: Json = {**made, "spend": measure_to_json(price)}
    if isinstance(unit_of(rows), People):
        # Rows without a label came to count among those of their person.
        terms["meaning"] = MEANING
    versions = {schema.name: schema.version for schema in tables_of(rows)}
    asked = hash_json({**made, "rows": fingerprint(said)})
    text = f"{model!r} learned from: {describe(said)}"
    question = Said(text, asked, str(training.event), ())
    return BodyFacts(terms, training.influence.neighbours, versions, {"": question})


def charge_order_of(asker: Learner, facts: BodyFacts, event: Event, why: str) -> ChargeOrder:
    """Return the order that charges a ledger with the event of a model or of synthetic tables.

    `facts` are stored with the result: its one question, and its terms, among them the spend.
    """
    question = facts.asked[""]
    asked = question.fingerprint
    key = key_name({"": asked}, facts.terms)
    apart = not asker.context.share_questions
    spend = measure_from_json(facts.terms["spend"])
    price = asker.context.ledger.shown_price(event, spend)
    return ChargeOrder(
        asker.who, why, asked, key, event, text=question.text, apart=apart, price=price
    )
