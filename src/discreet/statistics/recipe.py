"""What plans and answers ask of a statistic, whichever it is. Each file of this room gives one `Recipe`:

    needs         what must be released for it, with the sensitivity of each
    noise_model   how strongly noise on these moves it, and how far off it will be, for which data
    estimate      its value and interval, from what was released

Numbers here never flatter: what is predicted is met at least as often as said, on any data that it supposes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import ClassVar, Protocol, TypeAlias

from ..frozen import frozen
from ..query.meaning.post_processing import Value
from .laws.noise_sum import IntegerNoise
from .releases.basis import Basis
from .releases.choice import ChoiceNeed, ChosenCell, ChosenRelease
from .releases.partition import JointRelease, PartitionNeed
from .releases.quantile_release import ChosenPlaces, PlaceNeed, PlaceRelease
from .releases.set_totals import SetsRelease
from .releases.stored import StoredForm
from .releases.total import DistinctNeed, NoisyRelease, NoisyTotal, TotalNeed

Need: TypeAlias = TotalNeed | DistinctNeed | PartitionNeed | ChoiceNeed | PlaceNeed
PlannedRelease: TypeAlias = NoisyRelease | JointRelease | ChosenRelease | PlaceRelease | SetsRelease
Drawn: TypeAlias = NoisyTotal | tuple[NoisyTotal, ...] | ChosenCell | ChosenPlaces
"""What was released for one key."""
ANY_DATA = "any data"
ROUNDED_DATA = "any data, as they are rounded"
SIZED_DATA = "any data of so many rows"
EVEN_DATA = "so many rows, spread evenly over their range"
WIDE_DATA = "any data of so many rows with a deviation of at least a twelfth of their range"
WIDE = 1 / 144
"""The least variance of such data, of a range of width 1."""
Law: TypeAlias = Callable[[Sequence[IntegerNoise], int, float], float]
"""An error from the noises, at so many rows, with probability at least 1 − β."""


@frozen
class NoiseModel:
    """How noise on what it is made from moves a statistic, in the order of its needs.

    `coefficients` say how strongly noise on each moves it, at worst, up to a common factor; `fixed` which part of its
    budget each gets where no search decides that. `most` is the greatest error there can be, the width of the public
    range where estimates are moved into it; `least` the error without any noise, from the rounding of products.
    `counts`: it counts rows or people, so an error relative to their number means something. `law` predicts the error
    from the noises, at so many rows and with probability at least 1 − β, for the data that it `supposes`; None for one
    total or choice, whose release knows its error; `elsewhere` is the same for other data, which it names. `joint`: it
    is made from totals that are released together.
    """

    labels: tuple[str, ...] = ("",)
    coefficients: tuple[float, ...] = (1.0,)
    fixed: tuple[float, ...] | None = None
    most: float = math.inf
    least: float = 0.0
    counts: bool = False
    law: Law | None = None
    joint: bool = False
    supposes: str = ANY_DATA
    elsewhere: tuple[tuple[str, Law], ...] = ()


@frozen
class Draws:
    """What was released for one statistic in one key, in the order of its needs.

    `level` is that of intervals which are fixed when they are drawn; `nonnegative` moves counts to 0 or above.
    """

    totals: tuple[NoisyTotal, ...]
    cells: tuple[ChosenCell, ...]
    places: tuple[ChosenPlaces, ...]
    level: float
    nonnegative: bool

    @classmethod
    def of(cls, drawn: Sequence[Drawn], *, level: float, nonnegative: bool) -> Draws:
        """Sort what was drawn into totals, cells and places; totals released together stand one after the other."""
        each = (one if isinstance(one, tuple) else (one,) for one in drawn)
        totals = tuple(one for several in each for one in several if isinstance(one, NoisyTotal))
        cells = tuple(one for one in drawn if isinstance(one, ChosenCell))
        places = tuple(one for one in drawn if isinstance(one, ChosenPlaces))
        return cls(totals, cells, places, level, nonnegative)


class NoisyValue(Protocol):
    """A statistic of one key as it was released; `stored` says how a ledger keeps it, for good."""

    stored: ClassVar[StoredForm]

    @property
    def value(self) -> Value:
        """The value that is shown; None if there seem to be too few rows."""

    def interval(self, beta: float) -> tuple[Value, Value] | None:
        """Bound the exact value with probability at least 1 − β; None where no bound is known."""


class Recipe(Protocol):
    """How a statistic of certain columns is made. A frozen value: equal questions have equal recipes."""

    @property
    def noise_model(self) -> NoiseModel:
        """How noise moves it."""

    def needs(self, basis: Basis) -> list[Need]:
        """List what must be released for it; refuses what has no bound."""

    def estimate(self, draws: Draws) -> NoisyValue:
        """Put it together from what was released."""
