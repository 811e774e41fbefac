"""Plan of a synthetic table: the tables to measure, their noise, its price and expected quality.

1. **The total** gets 1/32 of the budget. Where nobody said how many rows there are, it is measured
   first, and all that follows is planned by it. Under replace neighbours the number of rows of a
   whole table is public, and costs nothing, if the store holds every record.
2. **Single columns** come next. Their noisy tables say which cells of a column are one cell in
   pairs (`groups`), so that a cell of a pair holds about as much as its noise allows.
3. **Pairs** of grouped columns. A pair that is not measured is made as if its columns were
   independent.

The budget's part for single columns, the number of pairs and the number of groups are those of
least expected error (`expected`), of a few that are tried. The part for columns is divided in
proportion to (cells)^⅔, which gives the least total variation; the part for pairs in proportion to
(cells)^⅓, times 4 for pairs with the target column. What is measured are contrasts
(`workloads.residual`).

Guarantee: the events after the total cost at most the rest of the budget, whatever the total says.
    Selection of tables and budget allocation see no row, only the noisy total.
Law: tests/synthetic/test_neighbours.py::TestThePriceIsTheSpend
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction

from ..errors import InvalidArgument
from ..frozen import frozen, replace
from ..mechanisms.additive.discrete_gaussian import DiscreteGaussian
from ..plan.budget_allocation import routes_under
from ..plan.layout import is_public_count
from ..privacy.events import Event, Promise
from ..privacy.events import Sequence as EventSequence
from ..privacy.filters.filter import Filter
from ..privacy.measures import ZCDP, GaussianDP, Measure, PureDP, decimal_text
from ..privacy.shown_price import shown_price
from ..query.algebra.expression import Constant
from ..query.algebra.tally import Tally, Term
from ..query.algebra.tree import Relation
from ..query.bounds.contribution_bounds import row_share
from ..show.table import text_table
from ..workloads.budget_shares import component_price
from ..workloads.residual import residual_block
from ..workloads.strategy_noise import Measurement, calibrate, shares_of, square_of
from ..workloads.workload import KeySet, cells_of, shape_of
from .expected import PairNoise
from .groups import SMALL
from .request import SyntheticRequest

HOPELESS = 0.3
"""Expected total variation above which noise drowns the tables."""
TOTAL = Fraction(1, 32)
"""Part of the budget of the total."""
TARGET_WEIGHT = 4.0
"""How many times a pair with the target column counts."""
COLUMN_PARTS = (0.1, 0.2, 0.4, 0.6, 0.8)
"""Parts of the budget after the total that are tried for single columns.

Single columns get all of it where no pair is measured."""
GROUPS = (3, 4, 6, 8, 10, 12, 16, 20, 24, 32, 48, 1000)
"""Numbers of groups of a column that are tried; the last stands for none."""
CROWDED = 5.0
"""Least rows of a cell of two grouped columns, in deviations of its noise: finer cells keep less
of a correlation, though their total variation is hardly larger."""
# Numbers of pairs that are compared: multiples of a quarter of all.
_STEPS = 4
NOT_GOOD_FOR = (
    "Records are for tools that need records: take counts from the tables, which have error bars. "
    "Records are not good for effects of three or more columns beyond what pairs imply, "
    "rare combinations, single extreme values, values inside a bin (spread evenly), "
    "error bars or tests (they look surer than they are), or finding real people. "
    "They are private by their ε and δ, not because they are made up."
)


@frozen
class BudgetShares:
    """The sets of columns to measure, and how the budget after the total is shared among them.

    `shares` add up to 1. `cells` has the number of groups of each column's cells in pairs.
    `expected` is the mean total variation that is expected of a pair of columns of records.
    `crowded`: groups are so many that their cells hold less than noise allows.
    """

    sets: tuple[KeySet, ...]
    shares: tuple[Fraction, ...]
    cells: tuple[int, ...]
    expected: float
    crowded: bool


@frozen
class SyntheticPlan:
    """The total and the sets to measure, each with its noise, for about `rows` rows.

    `total` is None where the number of rows is public. `first`: pairs are to be chosen, and nobody
    said how many rows there are, so that all is planned anew once the total is known (`after`).

    Guarantee: `event` fits the spend; a plan reads no row.
    Law: tests/synthetic/test_neighbours.py::TestThePriceIsTheSpend
    """

    request: SyntheticRequest
    budget: ZCDP | GaussianDP
    spend: Measure
    total: Measurement | None
    chosen: BudgetShares
    measured: tuple[Measurement, ...]
    rows: int
    first: bool

    def shown_price(self) -> Measure:
        """Return the price of the whole synthesis in the measure of the spend."""
        return shown_price(self.event, self.spend, self.spend)

    @property
    def sets(self) -> tuple[KeySet, ...]:
        """The sets of columns that are measured beside the total."""
        return self.chosen.sets

    @property
    def expected(self) -> float:
        """The mean total variation that is expected of a pair of columns of records."""
        return self.chosen.expected

    @property
    def event(self) -> Event:
        """The privacy event of the whole synthesis: slots that are fixed before a row is read."""
        neighbours = self.request.change.neighbours
        events: list[Event] = []
        if self.total is not None:
            events.append(self.total.event)
        if self.first:
            events.append(Promise(_rest(self.budget, self.total), neighbours=neighbours))
        else:
            events += [one.event for one in self.measured]
        return EventSequence(events or [Promise(PureDP(0), neighbours=neighbours)])

    def after(self, total: int) -> SyntheticPlan:
        """Return the plan for a noisy, or public, number of rows: other sets at the same price."""
        rows = max(1, total)
        chosen, measured = _tables(self.request, self.budget, self.total, rows)
        return replace(self, chosen=chosen, measured=measured, rows=rows)

    @property
    def hopeless(self) -> bool:
        """True if noise would drown the tables of about so many rows."""
        return self.expected > HOPELESS

    @property
    def numbers(self) -> int:
        """Number of noisy numbers that are released; at most so many, if the total decides."""
        if self.first:
            return 1 + sum(cells_of(self.request.sizes, one) for one in self.request.sets)
        return 1 + sum(one.block.rows for one in self.measured)

    @property
    def deviations(self) -> dict[KeySet, float]:
        """The deviation of the noise on one cell of each measured component."""
        measured = dict(zip(self.sets, self.measured, strict=True))
        if self.total is not None:
            measured = {(): self.total, **measured}
        # Contrasts are ∏n times the component.
        return {part: math.sqrt(one.variance) / one.block.rows for part, one in measured.items()}

    def __str__(self) -> str:
        noise = self.deviations
        lines = [("measured", "tables", "deviation of the noise on a count")]
        for keys, name in enumerate(("total", "columns", "pairs")):
            own = [deviation for part, deviation in noise.items() if len(part) == keys]
            if own:
                lines.append((name, str(len(own)), _range(own)))
        names = ", ".join(attribute.name for attribute in self.request.attributes)
        how = "planned for"
        if self.first:
            how = "planned anew once the total is known; this is the plan for"
        advice = NOT_GOOD_FOR
        if self.hopeless:
            advice = "noise drowns these tables: spend more, or use fewer columns"
        return (
            f"synthetic table of {names}, {how} about {self.rows:,} rows\n"
            f"{text_table(lines)}\n"
            f"{self._pairs_text()}; "
            f"expect a total variation of about {self.expected:.2g} in a pair of records\n"
            f"costs {decimal_text(self.shown_price())}\n"
            f"{advice}"
        )

    def _pairs_text(self) -> str:
        """Return how many pairs are not measured, and which columns have grouped cells, as text."""
        asked = len(self.request.pairs)
        measured = sum(len(part) == 2 for part in self.sets)
        text = (
            f"{asked - measured} of {asked} pairs are made from single columns, as if independent"
        )
        grouped = []
        for attribute, cells in zip(self.request.attributes, self.chosen.cells, strict=True):
            if measured and cells < attribute.size:
                grouped.append(f"{attribute.name} {cells} of {attribute.size}")
        if grouped:
            text += f"; groups of cells in pairs: {', '.join(grouped)}"
        return text


def _range(values: list[float]) -> str:
    low = min(values)
    high = max(values)
    if math.isclose(low, high, rel_tol=1e-3):
        return f"{low:.3g}"
    return f"{low:.3g} to {high:.3g}"


def count_tally(rows: Relation) -> Tally:
    """Return the tally that counts all rows."""
    return Tally(rows, (), (Term(Constant(True), 1, 0, 1),), row_share(rows))


def plan_synthetic(
    request: SyntheticRequest,
    spend: Measure,
    under: Filter | None = None,
    *,
    rows_public: bool = False,
) -> SyntheticPlan:
    """Return the noise of every table that is worth measuring; no row is read.

    `under` is the filter of the ledger that will be charged. `rows_public` says that the store
    holds every record that it was given.

    Refuses: pure ε, which Gaussian noise does not satisfy, by `InvalidArgument`.
    """
    budgets = [one for one in routes_under(spend, under) if isinstance(one, ZCDP | GaussianDP)]
    if not budgets:
        raise InvalidArgument(
            "tables are released with Gaussian noise, which keeps no pure ε; "
            "spend dp.ApproxDP(1, 1e-6), ZCDP or GaussianDP"
        )
    budget = budgets[0]
    total = None
    if not (rows_public and is_public_count(count_tally(request.rows))):
        (total,) = calibrate([residual_block(())], [TOTAL], request.change, budget)
        total = _short(total)
    chosen, measured = _tables(request, budget, total, request.size)
    # Where all sets are measured anyway, the total would decide next to nothing.
    first = not (request.size_known or request.given) and bool(request.pairs)
    return SyntheticPlan(request, budget, spend, total, chosen, measured, request.size, first)


def _rest(budget: ZCDP | GaussianDP, total: Measurement | None) -> ZCDP | GaussianDP:
    """Return the budget that the total leaves."""
    part = Fraction(1)
    if total is not None:
        part -= TOTAL
    if isinstance(budget, ZCDP):
        return ZCDP(budget.rho * part)
    return GaussianDP.of_square(budget.squared * part)


def _tables(
    request: SyntheticRequest, budget: ZCDP | GaussianDP, total: Measurement | None, rows: int
) -> tuple[BudgetShares, tuple[Measurement, ...]]:
    """Return the sets of least expected error for this number of rows, with their noise."""
    rest = _rest(budget, total)
    chosen = choose_sets(request, float(square_of(rest)), rows)
    blocks = []
    for part in chosen.sets:
        cells = _cells(request, chosen.cells, part)
        blocks.append(residual_block(shape_of(cells, part)))
    measured = calibrate(blocks, chosen.shares, request.change, rest)
    return chosen, tuple(map(_short, measured))


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


def choose_sets(request: SyntheticRequest, square: float, rows: float) -> BudgetShares:
    """Return the sets to measure at μ² = `square` for so many rows.

    They are all that were given by name; else those of least expected error, choices with crowded
    groups last.
    """
    tried = [_shared(request, square, rows, choice) for choice in _choices(request)]
    return min(tried, key=lambda shares: (shares.crowded, shares.expected))


@frozen
class _Choice:
    """The part of single columns, the pairs to measure, and the cells of every column in them."""

    part: float
    pairs: tuple[KeySet, ...]
    cells: tuple[int, ...]


def _choices(request: SyntheticRequest) -> Iterator[_Choice]:
    """Yield what is tried: parts of single columns, numbers of groups and numbers of pairs."""
    pairs = _live(request, request.pairs)
    if not pairs:
        yield _Choice(1.0, (), request.sizes)
        return
    if request.given:
        for part in COLUMN_PARTS:
            yield _Choice(part, tuple(pairs), request.sizes)
        return
    counts = {round(len(pairs) * step / _STEPS) for step in range(1, _STEPS + 1)} - {0}
    for cells in sorted({_grouped_sizes(request, groups) for groups in GROUPS}, reverse=True):
        ranked = sorted((_width(request, cells, pair), pair) for pair in pairs)
        ordered = [pair for _, pair in ranked]
        for count in sorted(counts, reverse=True):
            for part in COLUMN_PARTS:
                yield _Choice(part, tuple(ordered[:count]), cells)
    yield _Choice(1.0, (), request.sizes)


def _cells(request: SyntheticRequest, grouped: tuple[int, ...], one: KeySet) -> tuple[int, ...]:
    """Return the cells of all columns as a set has them: grouped in pairs, declared in columns."""
    if len(one) == 2:
        return grouped
    return request.sizes


def _live(request: SyntheticRequest, sets: Sequence[KeySet]) -> list[KeySet]:
    """Return the sets without columns of one cell, which tell nothing."""
    return [one for one in sets if all(request.sizes[place] > 1 for place in one)]


def _grouped_sizes(request: SyntheticRequest, groups: int) -> tuple[int, ...]:
    """Return the cells of every column in pairs: small columns and asked bins stay as they are."""
    sizes = []
    for place, size in enumerate(request.sizes):
        if size <= SMALL or place in request.kept:
            sizes.append(size)
        else:
            sizes.append(min(size, groups))
    return tuple(sizes)


def _width(request: SyntheticRequest, cells: Sequence[int], pair: KeySet) -> tuple[bool, float]:
    """Return what pairs are sorted by: the target column first, then few cells."""
    return request.target not in pair, sum(math.sqrt(cells[place]) for place in pair)


def _shared(request: SyntheticRequest, square: float, rows: float, choice: _Choice) -> BudgetShares:
    """Return the shares of the sets of one choice, and its expected error."""
    singles = _live(request, request.singles)
    weights = []
    for (place,) in singles:
        weights.append(math.pow(request.sizes[place], 2 / 3))
    all_singles = math.fsum(weights)
    shares = [choice.part * weight / all_singles for weight in weights]
    pair_weights = []
    for pair in choice.pairs:
        cells = math.prod(shape_of(choice.cells, pair))
        pair_weights.append(math.pow(cells, 1 / 3) * weight_of(request, pair))
    all_pairs = math.fsum(pair_weights)
    shares += [(1 - choice.part) * weight / all_pairs for weight in pair_weights]
    sets = (*singles, *choice.pairs)
    deviations = {}
    for one, share in zip(sets, shares, strict=True):
        price = component_price(_cells(request, choice.cells, one), one)
        deviations[one] = request.change.size * math.sqrt(price / (share * square))
    noise = PairNoise(request.sizes, choice.cells, rows, deviations)
    crowded = not request.given and _crowded(request, noise)
    expected = _expected(request, noise)
    return BudgetShares(sets, shares_of(shares), choice.cells, expected, crowded)


def _crowded(request: SyntheticRequest, noise: PairNoise) -> bool:
    """Return whether a cell of two grouped columns holds less than its noise allows.

    All pairs count, also those that would not be measured: leaving a pair out is no cure.
    """
    deviations = [noise.deviations[pair] for pair in noise.deviations if len(pair) == 2]
    if not deviations:
        return False
    deviation = max(deviations)
    for pair in request.pairs:
        if request.kept.intersection(pair):
            continue
        cells = shape_of(noise.cells, pair)
        large = min(shape_of(request.sizes, pair)) > SMALL
        # The fewest groups are never too many.
        grouped = large and min(cells) > GROUPS[0]
        if grouped and noise.rows < CROWDED * deviation * math.prod(cells):
            return True
    return False


def _expected(request: SyntheticRequest, noise: PairNoise) -> float:
    """Return the mean total variation expected of pairs, or of single columns without pairs."""
    if not request.pairs:
        return math.fsum(noise.single(place) for (place,) in request.singles) / len(request.sizes)
    weights = []
    errors = []
    for pair in request.pairs:
        weight = weight_of(request, pair)
        weights.append(weight)
        errors.append(weight * noise.pair(pair))
    return math.fsum(errors) / math.fsum(weights)


def weight_of(request: SyntheticRequest, pair: KeySet) -> float:
    """Return how many times a pair counts: more often with the target column."""
    if request.target in pair:
        return TARGET_WEIGHT
    return 1.0
