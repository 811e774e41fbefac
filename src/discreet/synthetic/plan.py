"""Plan of a synthetic table: the tables to measure, their noise, its price and expected quality.

**Selection of tables** and budget allocation are data-independent. Measured are contrasts
("residuals") of the total, of single columns and of pairs (`workloads.residual`). Of a budget
Σ p_A/σ_A² = μ² each gets √(p_A·energy_A), the optimum for tables of equal weight. The energies of
single columns count ten times, since all pairs are started from them. That of the total counts a
hundred times, since all tables add up to it.

A pair that is not measured is made as if its columns were independent. The loss is a fact about the
data, so that it is not looked at: a constant stands for it. The error that `denoised` leaves in a
pair follows x = σ(√m + √n)/rows, the noise's largest singular value, as x^¾. It is never more than
the noise itself. Pairs are ordered by growing √m + √n. As many are taken as make the mean expected
error least. Constants were fitted on Adult; see benchmarks/synthetic.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from ..errors import InvalidArgument
from ..frozen import frozen, replace
from ..mechanisms.additive.discrete_gaussian import DiscreteGaussian
from ..plan.budget_allocation import routes_under
from ..privacy.events import Batch, Event
from ..privacy.filters.filter import Filter
from ..privacy.measures import ZCDP, GaussianDP, Measure, decimal_text
from ..privacy.shown_price import shown_price
from ..show.table import text_table
from ..workloads.budget_shares import cell_factor, component_price
from ..workloads.residual import residual_block
from ..workloads.strategy_noise import Measurement, calibrate, shares_of, square_of
from ..workloads.workload import KeySet, cells_of, shape_of, subsets_of
from .request import SyntheticRequest

HOPELESS = 0.3
"""Expected total variation above which noise drowns the tables."""
EXTRA = {0: 100.0, 1: 10.0}
"""Factor of the energy of the total and of single columns; that of pairs is 1."""
LOSS = 0.08
"""Total variation that independence loses in a pair: 0.07 on Adult, to which this was fitted."""
POWER = 0.75
NOISE = 0.4
"""E|noise|/2 of a normal law of deviation 1, as total variation counts it."""
FLAT = 0.1
"""The same for a single column, of which the projection leaves a quarter."""
# Numbers of pairs that are compared: multiples of a twelfth of all.
_STEPS = 12
NOT_GOOD_FOR = (
    "Records are for tools that need records: take counts from the tables, which have error bars. "
    "Records are not good for effects of three or more columns beyond what pairs imply, "
    "rare combinations, single extreme values, values inside a bin (spread evenly), "
    "error bars or tests (they look surer than they are), or finding real people. "
    "They are private by their ε and δ, not because they are made up."
)


@frozen
class BudgetShares:
    """The sets to measure, the share of the budget of each, and the expected total variation."""

    sets: tuple[KeySet, ...]
    shares: tuple[Fraction, ...]
    expected: float


@frozen
class SyntheticPlan:
    """The sets to measure, each with its noise; `expected` is the mean total variation of a pair.

    Guarantee: `event` fits the spend; a plan reads no row.
    Law: tests/synthetic/test_neighbours.py::TestThePriceIsTheSpend
    """

    request: SyntheticRequest
    sets: tuple[KeySet, ...]
    measured: tuple[Measurement, ...]
    expected: float
    spend: Measure

    def shown_price(self) -> Measure:
        """Return the price of the whole synthesis in the measure of the spend."""
        return shown_price(self.event, self.spend, self.spend)

    @property
    def event(self) -> Event:
        """The privacy event of the whole synthesis: one batch of known events."""
        return Batch([one.event for one in self.measured])

    @property
    def hopeless(self) -> bool:
        """Whether noise would drown the tables of about so many rows."""
        return self.expected > HOPELESS

    @property
    def deviations(self) -> dict[KeySet, float]:
        """The deviation of the noise on one cell of each measured component."""
        deviations = {}
        for part, one in zip(self.sets, self.measured, strict=True):
            # Contrasts are ∏n times the component.
            cells = cells_of(self.request.sizes, part)
            deviations[part] = math.sqrt(one.variance) / cells
        return deviations

    def __str__(self) -> str:
        noise = self.deviations
        lines = [("measured", "tables", "deviation of the noise on a count")]
        for keys, name in enumerate(("total", "columns", "pairs")):
            own = [deviation for part, deviation in noise.items() if len(part) == keys]
            if own:
                lines.append((name, str(len(own)), _range(own)))
        asked = len(self.request.pairs)
        measured = sum(len(part) == 2 for part in self.sets)
        names = ", ".join(attribute.name for attribute in self.request.attributes)
        advice = NOT_GOOD_FOR
        if self.hopeless:
            advice = "noise drowns these tables: spend more, or use fewer columns"
        return (
            f"synthetic table of {names}, planned for about {self.request.size:,} rows\n"
            f"{text_table(lines)}\n"
            f"{asked - measured} of {asked} pairs are made from single columns, as if independent; "
            f"expect a total variation of about {self.expected:.2g} a table\n"
            f"costs {decimal_text(self.shown_price())}\n"
            f"{advice}"
        )


def _range(values: list[float]) -> str:
    low = min(values)
    high = max(values)
    if math.isclose(low, high, rel_tol=1e-3):
        return f"{low:.3g}"
    return f"{low:.3g} to {high:.3g}"


def plan_synthetic(
    request: SyntheticRequest, spend: Measure, under: Filter | None = None
) -> SyntheticPlan:
    """Return the noise of every table that is worth measuring; no row is read.

    Refuses: pure ε, which Gaussian noise does not satisfy, by `InvalidArgument`.
    """
    budgets = [one for one in routes_under(spend, under) if isinstance(one, ZCDP | GaussianDP)]
    if not budgets:
        raise InvalidArgument(
            "tables are released with Gaussian noise, which keeps no pure ε; "
            "spend dp.ApproxDP(1, 1e-6), ZCDP or GaussianDP"
        )
    chosen = choose_sets(request, float(square_of(budgets[0])))
    blocks = []
    for part in chosen.sets:
        blocks.append(residual_block(shape_of(request.sizes, part)))
    measured = calibrate(blocks, chosen.shares, request.change, budgets[0])
    return SyntheticPlan(request, chosen.sets, tuple(map(_short, measured)), chosen.expected, spend)


def _short(one: Measurement) -> Measurement:
    """Return the same with its scale rounded up to ten binary digits: at most 0.2 % more noise.

    Prices of hundreds of tables are added up exactly. Scales with few odd factors keep the sum
    short.
    """
    scale = math.ceil(one.mechanism.scale)
    unit = 1 << max(0, scale.bit_length() - 10)
    # Rounded up: more noise costs less.
    rounded = -(-scale // unit) * unit
    return replace(one, mechanism=DiscreteGaussian(rounded, one.mechanism.sensitivity))


def choose_sets(request: SyntheticRequest, square: float) -> BudgetShares:
    """Return the sets to measure at the budget μ² = `square`.

    They are all that were given by name, else the number of pairs of least expected error.
    """
    pairs = request.pairs
    singles = request.singles
    if request.given or not pairs:
        return _shared(request, square, singles + pairs)

    def width(pair: KeySet) -> tuple[float, KeySet]:
        return sum(map(math.sqrt, shape_of(request.sizes, pair))), pair

    pairs.sort(key=width)
    counts = {round(len(pairs) * step / _STEPS) for step in range(_STEPS + 1)}
    # From the largest: of equal expectations that with more pairs is taken.
    tried = []
    for count in sorted(counts, reverse=True):
        tried.append(_shared(request, square, singles + pairs[:count]))
    return min(tried, key=lambda shares: shares.expected)


def _shared(request: SyntheticRequest, square: float, sets: Sequence[KeySet]) -> BudgetShares:
    """Return the shares of some sets and of all their subsets."""
    parts = subsets_of(sets, request.sizes)
    prices = []
    roots = []
    for part in parts:
        price = component_price(request.sizes, part)
        prices.append(price)
        roots.append(math.sqrt(price * _energy(request, part)))
    total = math.fsum(roots)
    # σ of each component in units of the totals, at its share of μ².
    sigmas = {}
    for part, price, root in zip(parts, prices, roots, strict=True):
        sigmas[part] = request.change.size * math.sqrt(price * total / (root * square))
    return BudgetShares(parts, shares_of(roots), _expected(request, sigmas))


def _energy(request: SyntheticRequest, part: KeySet) -> float:
    """Return the variance that noise of variance 1 in a component adds to the tables asked."""
    asked = request.pairs or request.sets
    factors = []
    for one in asked:
        if set(one).issuperset(part):
            factors.append(cell_factor(request.sizes, one, part))
    if not factors:
        factors.append(cell_factor(request.sizes, part, part))
    return math.fsum(factors) * EXTRA.get(len(part), 1.0)


def _expected(request: SyntheticRequest, sigmas: dict[KeySet, float]) -> float:
    """Return the mean total variation expected of pairs, or of single columns without pairs."""
    sizes = request.sizes
    rows = request.size
    flat = []
    for place, size in enumerate(sizes):
        flat.append(min(0.5, FLAT * sigmas.get((place,), 0.0) * size / rows))
    if not request.pairs:
        return math.fsum(flat) / len(flat)
    found = []
    for a, b in request.pairs:
        if (a, b) in sigmas:
            loss = _pair(sizes[a], sizes[b], sigmas[a, b] / rows)
        else:
            loss = LOSS + flat[a] + flat[b]
        found.append(min(1.0, loss))
    return math.fsum(found) / len(found)


def _pair(rows: int, columns: int, noise: float) -> float:
    """Return the total variation expected of a pair; `noise` is that of a cell, as a share."""
    all_noise = NOISE * rows * columns * noise
    denoised = math.pow(noise * (math.sqrt(rows) + math.sqrt(columns)), POWER)
    return min(all_noise, denoised)
