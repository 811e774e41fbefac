"""A planned synthetic table: what will be measured, with which noise, at which price, how good it may become."""

from __future__ import annotations

import math

from ..errors import InvalidArgument
from ..frozen import frozen, replace
from ..mechanisms.additive.discrete_gaussian import DiscreteGaussian
from ..plan.proportional_split import routes_under
from ..privacy.events import Batch, Event
from ..privacy.filters.filter import Filter
from ..privacy.measures import ZCDP, GaussianDP, Measure
from ..show.table import text_table
from ..workloads.residual import residual_block
from ..workloads.strategy_noise import Measurement, calibrate, square_of
from .request import KeySet, SyntheticRequest
from .table_selection import choose_sets

HOPELESS = 0.3
NOT_GOOD_FOR = (
    "Records are for tools that need records: take counts from the tables, which have error bars. Records are not good "
    "for effects of three or more columns beyond what pairs imply, rare combinations, single extreme values, values "
    "inside a bin (spread evenly), error bars or tests (they look surer than they are), or finding real people. "
    "They are private by their ε and δ, not because they are made up."
)


@frozen
class SyntheticPlan:
    """The sets that are measured, each with its noise; `expected` is the mean total variation expected of a pair."""

    request: SyntheticRequest
    sets: tuple[KeySet, ...]
    measured: tuple[Measurement, ...]
    expected: float

    @property
    def event(self) -> Event:
        """All that is done, as one batch of known events."""
        return Batch([one.event for one in self.measured])

    @property
    def hopeless(self) -> bool:
        """Whether noise would drown the tables of about so many rows."""
        return self.expected > HOPELESS

    @property
    def deviations(self) -> dict[KeySet, float]:
        """The deviation of the noise on one cell of each measured component."""
        sizes = self.request.sizes
        rows = zip(self.sets, self.measured, strict=True)
        return {
            part: math.sqrt(one.variance) / math.prod(sizes[place] for place in part)
            for part, one in rows
        }

    def __str__(self) -> str:
        pairs = [one for one in self.request.sets if len(one) == 2]
        taken: list[KeySet] = [one for one in self.sets if len(one) == 2]
        names, noise = [one.name for one in self.request.attributes], self.deviations
        singles: list[KeySet] = [one for one in self.sets if len(one) == 1]
        groups: list[tuple[str, list[KeySet]]] = [
            ("total", [()]),
            ("columns", singles),
            ("pairs", taken),
        ]
        lines = [
            (name, str(len(sets)), _range([noise[one] for one in sets]))
            for name, sets in groups
            if sets
        ]
        return (
            f"synthetic table of {', '.join(names)}, planned for about {self.request.size:,} rows\n"
            f"{text_table([('measured', 'tables', 'deviation of the noise on a count'), *lines])}\n"
            f"{len(pairs) - len(taken)} of {len(pairs)} pairs are made from single columns, as if independent; "
            f"expect a total variation of about {self.expected:.2g} a table\n"
            f"{'noise drowns these tables: spend more, or use fewer columns' if self.hopeless else NOT_GOOD_FOR}"
        )


def _range(values: list[float]) -> str:
    low, high = min(values), max(values)
    return f"{low:.3g}" if math.isclose(low, high, rel_tol=1e-3) else f"{low:.3g} to {high:.3g}"


def plan_synthetic(
    request: SyntheticRequest, spend: Measure, under: Filter | None = None
) -> SyntheticPlan:
    """Return the noise of every table that is worth measuring; no row is read.

    Refuses pure ε: Gaussian noise keeps none.
    """
    budgets = [one for one in routes_under(spend, under) if isinstance(one, ZCDP | GaussianDP)]
    if not budgets:
        raise InvalidArgument(
            "tables are released with Gaussian noise, which keeps no pure ε; "
            "spend dp.ApproxDP(1, 1e-6), ZCDP or GaussianDP"
        )
    chosen = choose_sets(request, float(square_of(budgets[0])))
    blocks = [residual_block([request.sizes[place] for place in part]) for part in chosen.sets]
    measured = calibrate(blocks, chosen.shares, request.change, budgets[0])
    return SyntheticPlan(request, chosen.sets, tuple(map(_short, measured)), chosen.expected)


def _short(one: Measurement) -> Measurement:
    """Return the same with its scale rounded up to ten binary digits: at most 0.2 % more noise.

    Prices of hundreds of tables are added up exactly; of scales with few odd factors the sum stays short.
    """
    scale = math.ceil(one.mechanism.scale)
    unit = 1 << max(0, scale.bit_length() - 10)
    return replace(
        one, mechanism=DiscreteGaussian(-(-scale // unit) * unit, one.mechanism.sensitivity)
    )
