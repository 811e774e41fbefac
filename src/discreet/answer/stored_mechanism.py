"""Serialization of additive mechanisms as JSON, exact and permanent.

A stored answer needs them to state its confidence intervals at any level.

Guarantee: `mechanism_from_json(mechanism_to_json(mechanism)) == mechanism`.
Refuses: with InvalidArgument unknown mechanisms, unknown or missing fields, values of other types.
Law: tests/ledger/test_before_0_2_0.py
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from ..errors import InvalidArgument
from ..mechanisms.additive.discrete_gaussian import DiscreteGaussian
from ..mechanisms.additive.discrete_laplace import Geometric
from ..mechanisms.sensitivity import Sensitivity
from ..privacy.events.json import Json, read_amount
from ..privacy.neighbours import Neighbours, read_neighbours
from ..statistics.laws.noise_sum import Additive


@dataclass(slots=True)
class MechanismList:
    """List of the mechanisms of one answer, each written once; it lives for one call."""

    places: dict[Additive, int] = field(default_factory=dict)
    listed: list[Additive] = field(default_factory=list)
    seen: dict[int, int] = field(default_factory=dict)
    """Indices by identity, which is faster to look up than by value.

    The answer that is written keeps the mechanisms alive, so no identity is used twice.
    """

    def place(self, mechanism: Additive) -> int:
        """Return the index of a mechanism in the list; a new one is appended."""
        known = self.seen.get(id(mechanism))
        if known is not None:
            return known
        if mechanism not in self.places:
            self.places[mechanism] = len(self.listed)
            self.listed.append(mechanism)
        self.seen[id(mechanism)] = self.places[mechanism]
        return self.places[mechanism]


def read_object(data: object, fields: set[str], what: str) -> Json:
    """Check that JSON data is an object with exactly these fields."""
    if not isinstance(data, dict) or data.keys() != fields:
        raise InvalidArgument(
            f"{what} is a JSON object with exactly the fields {', '.join(sorted(fields))}"
        )
    return data


def mechanism_to_json(mechanism: Additive) -> Json:
    """Write an additive mechanism.

    >>> import discreet as dp
    >>> from discreet.answer.stored_mechanism import mechanism_to_json
    >>> mechanism_to_json(dp.Geometric("1/2", 1))
    {'mechanism': 'geometric', 'scale': '1/2', 'sensitivity': '1', 'neighbours': 'add-remove'}
    """
    facts: Json = {
        "scale": str(mechanism.scale),
        "sensitivity": _write_sensitivity(mechanism.sensitivity),
        "neighbours": mechanism.neighbours,
    }
    if isinstance(mechanism, DiscreteGaussian):
        return {"mechanism": "discrete-gaussian", **facts, "dimension": mechanism.dimension}
    return {"mechanism": "geometric", **facts}


def mechanism_from_json(data: object) -> Additive:
    """Read a mechanism written by `mechanism_to_json`.

    >>> import discreet as dp
    >>> from discreet.answer.stored_mechanism import mechanism_from_json, mechanism_to_json
    >>> mechanism_from_json(mechanism_to_json(dp.DiscreteGaussian(3, 1))) == dp.DiscreteGaussian(3, 1)
    True
    """
    fields = {"mechanism", "scale", "sensitivity", "neighbours"}
    match data:
        case {"mechanism": "geometric"}:
            given = read_object(data, fields, "a mechanism")
            return Geometric(*_facts(given), neighbours=read_neighbours(given["neighbours"]))
        case {"mechanism": "discrete-gaussian"}:
            given = read_object(data, fields | {"dimension"}, "a mechanism")
            dimension = None
            if given["dimension"] is not None:
                dimension = _count(given["dimension"])
            neighbours = read_neighbours(given["neighbours"])
            return DiscreteGaussian(*_facts(given), neighbours=neighbours, dimension=dimension)
    raise InvalidArgument("a mechanism is geometric or discrete-gaussian")


def _facts(given: Json) -> tuple[Fraction, Fraction | Sensitivity]:
    """Read the scale and the sensitivity of a mechanism."""
    neighbours = read_neighbours(given["neighbours"])
    scale = read_amount(given["scale"], "scale")
    sensitivity = _read_sensitivity(given["sensitivity"], neighbours)
    return scale, sensitivity


def _write_sensitivity(sensitivity: Fraction | Sensitivity) -> object:
    if not isinstance(sensitivity, Sensitivity):
        return str(sensitivity)
    return {
        "l1": str(sensitivity.l1),
        "squared_l2": str(sensitivity.squared_l2),
        "linf": str(sensitivity.linf),
        "changed": sensitivity.changed,
    }


def _read_sensitivity(data: object, neighbours: Neighbours) -> Fraction | Sensitivity:
    if not isinstance(data, dict):
        return read_amount(data, "sensitivity")
    given = read_object(data, {"l1", "squared_l2", "linf", "changed"}, "a sensitivity")
    l1 = read_amount(given["l1"], "l1")
    squared_l2 = read_amount(given["squared_l2"], "squared_l2")
    linf = read_amount(given["linf"], "linf")
    changed = _count(given["changed"])
    return Sensitivity(l1, squared_l2, linf, neighbours, changed)


def _count(value: object) -> int:
    # Not isinstance: true and false are ints in Python, and no numbers here.
    if type(value) is not int:
        raise InvalidArgument("a number of coordinates is a whole number")
    return value
