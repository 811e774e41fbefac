"""The parameters that both count-mean sketches have: ε, rows, width and the key of their hashes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, Protocol, TypeVar

from ...arithmetic.rational import Number, whole
from ...frozen import fill
from ...privacy.measures import Measure, PureDP
from ..estimates.calibration import least_epsilon
from ..reports.parameters import fields_of
from .flip import epsilon_of
from .hashing import read_key, read_width


class HasError(Protocol):
    """What foretells its error."""

    def error(self, *, n: int, beta: Number = 0.05) -> float:
        """Bound |estimate − frequency| with probability 1 − β."""


Sketch = TypeVar("Sketch", bound=HasError)


def fill_shape(made: object, spend: Measure, *, rows: int, width: int, key: str) -> None:
    """Check the parameters and put them into a sketch that is being made."""
    fields = {"epsilon": epsilon_of(spend), "rows": whole(rows, "rows", least=1, most=1 << 20)}
    fill(made, **fields, width=read_width(width, "width"), key=read_key(key))


def reach_error(make: Callable[[Measure], Sketch], error: Number, *, n: int, beta: Number) -> Sketch:
    """Make the sketch with the least ε at which n reports give a frequency to within `error`."""
    return make(PureDP(least_epsilon(lambda epsilon: make(PureDP(epsilon)).error(n=n, beta=beta), error)))


def write_shape(name: str, epsilon: Fraction, *, rows: int, width: int, key: str) -> dict[str, object]:
    """Return the parameters of a sketch, all a device needs."""
    return {"mechanism": name, "version": 1, "epsilon": str(epsilon), "rows": rows, "width": width, "key": key}


def read_shape(name: str, given: Mapping[str, Any]) -> tuple[PureDP, dict[str, Any]]:
    """Read what `write_shape` wrote; refuses unknown or missing fields, and other versions."""
    read = fields_of(given, name, ("epsilon", "rows", "width", "key"))
    return PureDP(read.pop("epsilon")), read
