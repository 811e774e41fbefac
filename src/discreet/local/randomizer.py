"""Protocol of every local mechanism: a device randomizes, a server estimates, nobody is trusted.

Besides the four members of the protocol, a mechanism says before anything is collected how large
its error will be, by three methods of this form (some take further arguments, such as a range):

    variance(*, n, frequency=…)        the variance of an estimate from n reports
    error(*, n, beta=0.05)             |estimate − truth| for one option, with probability ≥ 1 − β
    for_error(error, *, n, beta=0.05)  a class method: the least ε that reaches the error
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
    """Local mechanism: `randomize` on the device, `estimate` on the server, same parameters.

    `to_json()` gives the parameters as plain JSON types, exact amounts as text. `params_hash` of
    the parameters names the law.
    """

    @property
    def event(self) -> Event:
        """Privacy event of one report, for the person who sends it (neighbours: replace value)."""

    def randomize(self, value: Any, *, bits: Bits | None = None) -> Any:  # noqa: ANN401 - own types
        """Draw the report of one value, or an array of reports of different people.

        Refuses: `InvalidArgument` for values outside the domain, before a bit is drawn.
        """

    def estimate(self, reports: Any, *, level: float = 0.95) -> Estimate:  # noqa: ANN401
        """Estimate from the reports.

        Refuses: `InvalidArgument` for reports that no device could have sent.
        """

    def to_json(self) -> dict[str, object]:
        """Return the parameters: all that a device needs."""
