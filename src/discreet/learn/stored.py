"""JSON format of fitted models: parameters, public domains and trained arrays.

Floats are written with `repr`, so that they read back to the same bits. The format only grows.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from ..errors import InvalidArgument
from ..query.domains.domain import Day, Domain, Second, Texts, Truth, Whole
from .estimator import Estimator
from .task import Fitted

_DOMAINS = {"whole": Whole, "truth": Truth, "texts": Texts, "day": Day, "second": Second}
_STORED_APART = ("schema", "spend")


def arrays_to_json(found: Fitted) -> dict[str, object]:
    """Return trained arrays as nested lists of numbers."""
    return {name: array.tolist() for name, array in found.items()}


def arrays_from_json(data: object) -> Fitted:
    """Read what `arrays_to_json` wrote."""
    if not isinstance(data, Mapping):
        raise InvalidArgument("a stored model holds arrays by name")
    return {str(name): np.array(values, dtype=np.float64) for name, values in data.items()}


def params_to_json(model: Estimator) -> dict[str, object]:
    """Return a model's parameters, without its schema and spend, as plain values."""
    plain: dict[str, object] = {}
    for name, value in model.get_params().items():
        if name not in _STORED_APART:
            # Through JSON, so that tuples compare equal to lists that were read back.
            plain[name] = json.loads(json.dumps(value, default=str))
    return plain


def model_to_json(model: Estimator) -> str:
    """Return a fitted model as one line of JSON; nothing in it is private."""
    domains = {name: _domain_to_json(domain) for name, domain in model.known_.items()}
    return json.dumps(
        {
            "model": 1,
            "kind": type(model).__name__,
            "params": params_to_json(model),
            "columns": domains,
            "fitted": arrays_to_json(model.fitted_),
        }
    )


def model_from_json(text: str, kinds: Mapping[str, type[Estimator]]) -> Estimator:
    """Read a model that `model_to_json` wrote.

    Refuses: other text, with `InvalidArgument`.
    Law: tests/learn/test_models.py::TestManners
    """
    try:
        data = json.loads(text)
        # Version 1 is the only one; another raises KeyError.
        kinds_of_version = {1: kinds}[data["model"]]
        model = kinds_of_version[data["kind"]](**data["params"])
        domains = {name: _domain_from_json(given) for name, given in data["columns"].items()}
        return model.restore(domains, arrays_from_json(data["fitted"]))
    except (ValueError, KeyError, TypeError, AttributeError):
        raise InvalidArgument("this is no model of discreet, or one of a newer release") from None


def _domain_to_json(domain: Domain) -> dict[str, Any]:
    kind = next(name for name, known in _DOMAINS.items() if isinstance(domain, known))
    stored: dict[str, Any] = {"kind": kind}
    for name in type(domain).__dataclass_fields__:
        value = getattr(domain, name)
        # JSON has no fractions; their text is exact.
        stored[name] = str(value) if isinstance(value, Fraction) else value
    return stored


def _domain_from_json(given: dict[str, Any]) -> Domain:
    fields = {name: value for name, value in given.items() if name != "kind"}
    if fields.get("keys") is not None:
        fields["keys"] = tuple(fields["keys"])
    if "step" in fields:
        fields["step"] = Fraction(fields["step"])
    return _DOMAINS[given["kind"]](**fields)  # type: ignore[no-any-return]
