"""What every local mechanism does: a device randomizes, a server estimates, and nobody in between is trusted.

Besides these four, a mechanism says before anything is collected how far off it will be, by three methods of one form:

    variance(*, n, frequency=…)        the variance of an estimate from n reports
    error(*, n, beta=0.05)             |estimate − truth| for one option, with probability at least 1 − β
    for_error(error, *, n, beta=0.05)  a class method: the least ε that reaches it
"""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

from ..noise import Bits
from ..privacy.events import Event
from .estimates.estimate import Estimate
from .reports.report import LocalReport, pack, pack_block, params_hash, unpack, unpack_block

__all__ = [
    "Estimate",
    "LocalReport",
    "Randomizer",
    "pack",
    "pack_block",
    "params_hash",
    "unpack",
    "unpack_block",
]


@runtime_checkable
class Randomizer(Protocol):
    """A local mechanism: `randomize` on the device, `estimate` on the server, both made from the same parameters.

    `to_json()` gives the parameters as plain JSON types, exact amounts as text; `params_hash` of them names the law.
    """

    @property
    def event(self) -> Event:
        """What one report costs the person who sends it (neighbours: replace the value)."""

    def randomize(self, value: Any, *, bits: Bits | None = None) -> Any:  # noqa: ANN401 - each has its own types
        """Draw the report of one value, or an array of reports of different people; refuses before a bit is drawn."""

    def estimate(self, reports: Any, *, level: float = 0.95) -> Estimate:  # noqa: ANN401
        """Estimate from the reports; refuses those that no device could have sent."""

    def to_json(self) -> dict[str, object]:
        """Return the parameters, all a device needs."""
