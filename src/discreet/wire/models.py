"""Models on the line: which kinds there are, and which words each is made with.

What a model is made with decides what it costs and how long it trains, so every number has bounds here: nothing that
is sent can make a training without end, or one that fails after it was paid for.
"""

from __future__ import annotations

from collections.abc import Mapping

from .. import learn
from ..errors import InvalidArgument
from ..learn.estimator import Estimator
from ..learn.recipes.moments import LIFTS
from ..learn.recipes.steps import CLIPS, RATES
from ..learn.stored import params_to_json
from .record import Record, Slot
from .shape import (
    NUMBER,
    JsonSchema,
    JsonShape,
    between,
    choice,
    listing,
    mapping,
    refer,
    text,
    whole,
)

MOST_FEATURES = 1000
_NAME = text(100)
TARGET = Slot("target", _NAME, required=False, null=True)
FEATURES = Slot(
    "features",
    listing(_NAME, "names of columns", least=1, most=MOST_FEATURES),
    required=False,
    null=True,
)
LIFT = Slot("lift", between(*LIFTS), required=False)
BINS = Slot("bins", whole(1000), required=False)
_EDGES = listing(refer("Number", NUMBER), "numbers", least=1, most=1000)
EDGES = Slot(
    "edges",
    mapping(_EDGES, "columns to lists of numbers", most=MOST_FEATURES, longest=100),
    required=False,
    null=True,
)
STEPS = Slot("steps", whole(1000), required=False)
CLIP = Slot("clip", between(*CLIPS), required=False)
RATE = Slot("rate", between(*RATES), required=False)
AT = Slot("at", between(1e-6, 1 - 1e-6), required=False)
CLUSTERS = Slot("n_clusters", whole(1000), required=False)
ROUNDS = Slot("rounds", whole(100), required=False)
COMPONENTS = Slot("n_components", whole(1000), required=False, null=True)

_GOAL = (TARGET, FEATURES)
_BINNED = (*_GOAL, BINS, EDGES)
_STEPPED = (STEPS, CLIP, RATE)
KINDS: Mapping[type[Estimator], tuple[Slot[object], ...]] = {
    learn.LinearRegression: (*_GOAL, LIFT),
    learn.AdditiveRegressor: (*_BINNED, LIFT),
    learn.QuantileRegression: (*_GOAL, AT, *_STEPPED),
    learn.LogisticRegression: (*_GOAL, *_STEPPED),
    learn.AdditiveClassifier: (*_BINNED, *_STEPPED),
    learn.CategoricalNB: _BINNED,
    learn.GaussianNB: _GOAL,
    learn.NearestCentroid: _GOAL,
    learn.KMeans: (CLUSTERS, ROUNDS, FEATURES),
    learn.PCA: (COMPONENTS, FEATURES),
}
"""Every model that a service trains, with the words it may be made with; a test compares them with the models' own."""
_BY_NAME = {kind.__name__: kind for kind in KINDS}


def _record(kind: type[Estimator]) -> Record:
    return Record((Slot("kind", choice(kind.__name__)), *KINDS[kind]))


MODELS: dict[str, JsonSchema] = {
    f"{name}Model": _record(kind).schema for name, kind in _BY_NAME.items()
}
"""The shape of every kind of model, by its name in the description."""


def _read_model(value: object, name: str) -> Estimator:
    said = value.get("kind") if isinstance(value, dict) else None
    kind = _BY_NAME.get(said) if isinstance(said, str) else None
    if kind is None:
        known = ", ".join(_BY_NAME)
        hint = '{"kind": "LinearRegression", "target": "income"}'
        raise InvalidArgument(f"{name} must be a model such as {hint}; its kind is one of {known}")
    found = _record(kind).read(value, name)
    return kind(**_words(found))


def _words(found: Mapping[str, object]) -> dict[str, object]:
    """Return what a model is made with: the words that were said, edges as floats."""
    said = {name: value for name, value in found.items() if name != "kind"}
    if isinstance(edges := said.get("edges"), dict):
        said["edges"] = {column: [float(one) for one in marks] for column, marks in edges.items()}
    return said


MODEL: JsonShape[Estimator] = JsonShape(
    _read_model,
    {
        "description": "A model to train, by its kind and what it is made with.",
        "examples": [
            {"kind": "LinearRegression", "target": "income", "features": ["age", "region"]}
        ],
        "oneOf": [{"$ref": f"#/components/schemas/{name}"} for name in MODELS],
    },
)


def model_to_words(model: object) -> dict[str, object]:
    """Return a model as the words it is made with; its schema and spend are said elsewhere.

    >>> from discreet.learn import PCA
    >>> from discreet.wire.models import MODEL, model_to_words
    >>> words = model_to_words(PCA(n_components=2))
    >>> words, MODEL.read(words, "model")
    ({'kind': 'PCA', 'n_components': 2}, PCA(n_components=2))

    Refuses what a service does not train.
    """
    kind = type(model)
    if not isinstance(model, Estimator) or kind not in KINDS:
        raise InvalidArgument(f"a service trains {', '.join(_BY_NAME)}; got {kind.__name__}")
    said = params_to_json(model).items()
    return {
        "kind": kind.__name__,
        **{name: _exact(value) for name, value in said if value is not None},
    }


def _exact(value: object) -> object:
    """Return a plain value with every float as the shortest text that reads back alike."""
    if isinstance(value, dict):
        return {name: _exact(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_exact(one) for one in value]
    return repr(value) if isinstance(value, float) else value
