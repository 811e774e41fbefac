"""Verbs about private models: learn, which is charged, and explain_model, which is free.

A model in a reply was released privately: it is computed from noisy sums alone (post-processing).
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from ...curator.verbs.learn import plan_training
from ...frozen import field, frozen
from ...json_shape import JsonField, JsonObject, Record, anything, positive_integer, refer, text
from ...learn import stored
from ...learn.estimator import Estimator
from ...privacy.budget_text import budget_to_table
from ...privacy.measures import Measure
from ..fields import BUDGET_REFERENCE, PAID, SQL, WHY
from ..models import MODEL, MODELS, model_to_json
from ..reply import FACTS
from ..verb import ReplyFormat, Request, RequestFormat, Verb, check_count

if TYPE_CHECKING:
    from ...curator import Curator
    from ...learn.explanation import TrainingExplanation

_TEXT = text()
_MODEL = JsonField("model", refer("Model", MODEL))
_ROWS_ABOUT = JsonField("n", positive_integer(10**12))
_EXAMPLE: JsonObject = {
    "sql": "SELECT age, region, income FROM people",
    "model": {"kind": "LinearRegression", "target": "income"},
    "spend": {"epsilon": "1", "delta": "1e-6"},
}


@frozen
class LearnRequest(Request):
    """Model to be trained on the rows of a SELECT."""

    sql: str
    model: Estimator = field(hash=False)
    spend: Measure
    why: str = ""

    def arguments(self) -> JsonObject:
        """Return the arguments, the model by its kind and parameters."""
        model = model_to_json(self.model)
        return {"sql": self.sql, "model": model, "spend": self.spend, "why": self.why}


@frozen
class TrainingRequest(Request):
    """Training to be explained; `n` is a rough number of rows."""

    sql: str
    model: Estimator = field(hash=False)
    spend: Measure
    n: int

    def arguments(self) -> JsonObject:
        """Return the arguments, the model by its kind and parameters."""
        model = model_to_json(self.model)
        return {"sql": self.sql, "model": model, "spend": self.spend, "n": self.n}


LEARN = RequestFormat(
    "LearnRequest",
    Record((SQL, _MODEL, PAID, WHY), example=_EXAMPLE | {"why": "incomes"}),
    LearnRequest,
)
TRAINING = RequestFormat(
    "TrainingRequest",
    Record((SQL, _MODEL, PAID, _ROWS_ABOUT), example=_EXAMPLE | {"n": 10_000}),
    TrainingRequest,
)


def read_learn(body: object) -> LearnRequest:
    """Read a model to be trained from JSON.

    >>> from discreet.wire.verbs.training import LEARN, read_learn
    >>> read_learn(LEARN.record.example).model
    LinearRegression(target='income')

    Refuses: unknown fields, and numbers for which a training would not end or would fail after its
    charge, by `InvalidArgument`.
    """
    return LEARN.read(body)


def _check_learn(curator: Curator, asked: LearnRequest | TrainingRequest, max_cells: int) -> None:
    """Refuse a training without a plan, or with a release of more than `max_cells` numbers."""
    course = plan_training(curator.context.planner, asked.sql, asked.model, asked.spend)
    # Every step releases one vector: the longest vector is the largest size at once.
    dimensions = [release.noise.dimension or 1 for release in course.training.releases]
    check_count(max(dimensions), max_cells)


def _learn(curator: Curator, asked: LearnRequest) -> JsonObject:
    model = curator.learn(asked.sql, asked.model, asked.spend, why=asked.why)
    trained = json.loads(stored.model_to_json(model))
    receipt = model.receipt_.to_json()  # type: ignore[attr-defined]
    return {"trained": trained, "text": model.summary(), "receipt": receipt}


def _explain_model(curator: Curator, asked: TrainingRequest, max_cells: int) -> JsonObject:
    """Explain a training that passes the check of `learn`, and whose charge has a price."""
    _check_learn(curator, asked, max_cells)
    explained = curator.explain_model(asked.sql, asked.model, asked.spend, n=asked.n)
    # Refused as the charge would be: an event that the ledger cannot price.
    curator.ledger.price(explained.event)
    return training_reply(explained)


def training_reply(explained: TrainingExplanation) -> JsonObject:
    """Return the reply with the explanation of a training."""
    return {
        "model": explained.model,
        "columns": explained.columns,
        "rows": explained.rows,
        "price": budget_to_table(explained.price),
        "signal": explained.signal,
        "text": str(explained),
    }


_TRAINED_MODEL = Record.of(
    "A trained model as the library writes it into a file.",
    model=anything("The version of this form.", type="integer"),
    kind=_TEXT,
    params=FACTS,
    columns=FACTS,
    fitted=anything("What was learned: arrays of numbers by name.", type="object"),
)
TRAINED = ReplyFormat(
    "Trained",
    Record.of(
        "A trained model, a few lines about it, and its receipt.",
        trained=refer("TrainedModel", _TRAINED_MODEL.shape),
        text=_TEXT,
        receipt=_TEXT,
    ),
    {"TrainedModel": _TRAINED_MODEL.schema, "Model": MODEL.schema, **MODELS},
)
TRAINING_EXPLANATION = ReplyFormat(
    "TrainingExplanation",
    Record.of(
        model=_TEXT,
        columns=anything("How many columns the model sees.", type="integer"),
        rows=anything("About how many rows.", type="integer"),
        price=BUDGET_REFERENCE,
        signal=anything("Rows against noise; below 1 noise drowns them.", type="number"),
        text=_TEXT,
    ),
)
VERBS = (
    Verb(
        "learn",
        "learn_model",
        "Train a model on the rows of a SELECT; charged.",
        LEARN,
        TRAINED,
        _check_learn,
        _learn,
    ),
    Verb(
        "explain_model",
        "explain_model",
        "Say what training would release, cost and lose; free.",
        TRAINING,
        TRAINING_EXPLANATION,
        _explain_model,
    ),
)
