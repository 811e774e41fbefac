"""JSON format of models to train: the kinds of models and the parameters of each.

The parameters of a model decide its price and the duration of its training. Every number has
bounds here, so no request can start an endless training or one that fails after its charge.
"""

from __future__ import annotations

from collections.abc import Mapping

from .. import learn
from ..errors import InvalidArgument
from ..json_shape import (
    NUMBER,
    JsonField,
    JsonObject,
    JsonSchema,
    JsonShape,
    Record,
    between,
    choice,
    listing,
    mapping,
    optional,
    positive_integer,
    refer,
    text,
)
from ..learn.estimator import Estimator
from ..learn.recipes.moments import LIFTS
from ..learn.recipes.steps import CLIPS, RATES
from ..learn.stored import params_to_json

MAX_FEATURES = 1000
_NAME = text(100)
TARGET = optional("target", _NAME, null=True)
FEATURES = optional(
    "features",
    listing(_NAME, "names of columns", least=1, most=MAX_FEATURES),
    null=True,
)
LIFT = optional("lift", between(*LIFTS))
BINS = optional("bins", positive_integer(1000))
_EDGES = listing(refer("Number", NUMBER), "numbers", least=1, most=1000)
EDGES = optional(
    "edges",
    mapping(_EDGES, "columns to lists of numbers", most=MAX_FEATURES, longest=100),
    null=True,
)
STEPS = optional("steps", positive_integer(1000))
CLIP = optional("clip", between(*CLIPS))
RATE = optional("rate", between(*RATES))
# A quantile level away from 0 and 1, where the regression has no finite solution.
AT = optional("at", between(1e-6, 1 - 1e-6))
CLUSTERS = optional("n_clusters", positive_integer(1000))
ROUNDS = optional("rounds", positive_integer(100))
COMPONENTS = optional("n_components", positive_integer(1000), null=True)

_GOAL = (TARGET, FEATURES)
_BINNED = (*_GOAL, BINS, EDGES)
_STEPPED = (STEPS, CLIP, RATE)
KINDS: Mapping[type[Estimator], tuple[JsonField[object], ...]] = {
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
"""Models that a service trains, with their parameters.

Law: tests/client/test_making.py::TestWords
"""
_BY_NAME = {kind.__name__: kind for kind in KINDS}


def _record(kind: type[Estimator]) -> Record:
    return Record((JsonField("kind", choice(kind.__name__)), *KINDS[kind]))


MODELS: dict[str, JsonSchema] = {f"{kind.__name__}Model": _record(kind).schema for kind in KINDS}
"""JSON Schema of every kind of model, by its name in the OpenAPI document."""


def _read_model(value: object, name: str) -> Estimator:
    """Read a model from JSON by its kind; refuse unknown kinds and parameters out of range."""
    kind = _kind_of(value)
    if kind is None:
        known = ", ".join(_BY_NAME)
        hint = '{"kind": "LinearRegression", "target": "income"}'
        raise InvalidArgument(f"{name} must be a model such as {hint}; its kind is one of {known}")
    fields = _record(kind).read(value, name)
    return kind(**_parameters(fields))


def _kind_of(value: object) -> type[Estimator] | None:
    """Return the class that `kind` of a JSON object names; None if there is none."""
    if not isinstance(value, dict):
        return None
    kind_name = value.get("kind")
    # Lists and objects cannot be looked up: they have no hash.
    if not isinstance(kind_name, str):
        return None
    return _BY_NAME.get(kind_name)


def _parameters(fields: Mapping[str, object]) -> JsonObject:
    """Return the parameters of a model: the fields that were sent, edges as floats."""
    parameters = {name: value for name, value in fields.items() if name != "kind"}
    edges = parameters.get("edges")
    if isinstance(edges, dict):
        # The reader gives exact fractions, the models take floats.
        parameters["edges"] = {name: [float(edge) for edge in edges[name]] for name in edges}
    return parameters


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


def model_to_json(model: object) -> JsonObject:
    """Return a model as JSON: its kind and parameters, without its schema and its spend.

    >>> from discreet.learn import PCA
    >>> from discreet.wire.models import MODEL, model_to_json
    >>> words = model_to_json(PCA(n_components=2))
    >>> words, MODEL.read(words, "model")
    ({'kind': 'PCA', 'n_components': 2}, PCA(n_components=2))

    Refuses: models that a service does not train, by `InvalidArgument`.
    """
    kind = type(model)
    if not isinstance(model, Estimator) or kind not in KINDS:
        raise InvalidArgument(f"a service trains {', '.join(_BY_NAME)}; got {kind.__name__}")
    words: JsonObject = {"kind": kind.__name__}
    for name, value in params_to_json(model).items():
        if value is not None:
            words[name] = _exact(value)
    return words


def _exact(value: object) -> object:
    """Return a plain value with every float as the shortest text that reads back alike."""
    if isinstance(value, dict):
        return {name: _exact(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_exact(inner) for inner in value]
    if isinstance(value, float):
        return repr(value)
    return value
