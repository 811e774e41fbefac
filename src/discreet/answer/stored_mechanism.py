"""Additive mechanisms as JSON, exactly: what an answer keeps to state its intervals at any level, for good."""

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
    """The mechanisms of one answer, each written once; it does not outlive one call."""

    places: dict[Additive, int] = field(default_factory=dict)
    listed: list[Additive] = field(default_factory=list)
    seen: dict[int, int] = field(default_factory=dict)
    """Places by identity, which is faster to look up; the answer that is written holds what is identified."""

    def place(self, mechanism: Additive) -> int:
        """Return where a mechanism stands in the list; a new one comes last."""
        known = self.seen.get(id(mechanism))
        if known is not None:
            return known
        if mechanism not in self.places:
            self.places[mechanism] = len(self.listed)
            self.listed.append(mechanism)
        self.seen[id(mechanism)] = self.places[mechanism]
        return self.places[mechanism]


def read_object(data: object, fields: set[str], what: str) -> Json:
    """Read a JSON object that has exactly these fields."""
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
            dimension = None if given["dimension"] is None else _count(given["dimension"])
            near = read_neighbours(given["neighbours"])
            return DiscreteGaussian(*_facts(given), neighbours=near, dimension=dimension)
    raise InvalidArgument("a mechanism is geometric or discrete-gaussian")


def _facts(given: Json) -> tuple[Fraction, Fraction | Sensitivity]:
    near = read_neighbours(given["neighbours"])
    return read_amount(given["scale"], "scale"), _read_sensitivity(given["sensitivity"], near)


def _write_sensitivity(sensitivity: Fraction | Sensitivity) -> object:
    if not isinstance(sensitivity, Sensitivity):
        return str(sensitivity)
    norms = {"l1": sensitivity.l1, "squared_l2": sensitivity.squared_l2, "linf": sensitivity.linf}
    return {**{name: str(norm) for name, norm in norms.items()}, "changed": sensitivity.changed}


def _read_sensitivity(data: object, neighbours: Neighbours) -> Fraction | Sensitivity:
    if not isinstance(data, dict):
        return read_amount(data, "sensitivity")
    given = read_object(data, {"l1", "squared_l2", "linf", "changed"}, "a sensitivity")
    l1, squared, linf = (read_amount(given[name], name) for name in ("l1", "squared_l2", "linf"))
    return Sensitivity(l1, squared, linf, neighbours, _count(given["changed"]))


def _count(value: object) -> int:
    if type(value) is not int:
        raise InvalidArgument("a number of coordinates is a whole number")
    return value
