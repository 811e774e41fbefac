"""Help for choosing bounds: private quantiles of a column, on a public lattice of powers of two."""

from __future__ import annotations

import math
from fractions import Fraction

from ..arithmetic.rational import Number, rational
from ..data.unit import People
from ..errors import InvalidArgument
from ..frozen import frozen
from ..noise import Bits
from ..plan.mechanism_choice import choice_of
from ..plan.proportional_split import routes, split
from ..privacy.events import Event
from ..privacy.measures import ApproxDP, Measure, PureDP
from ..query.algebra.expression import Call, Constant, Expression, Field, Function
from ..query.algebra.tally import Tally, Term
from ..query.algebra.tree import PerPerson, Relation, Scan, Total
from ..query.bounds.contribution_bounds import row_share, weight_of
from ..query.bounds.public_cells import Cells
from ..query.bounds.relation_facts import columns_of
from ..query.bounds.sensitivity import rank_influence
from ..query.domains.domain import Whole
from ..query.domains.domain_of import domain_of
from ..statistics.releases.choice import ChoiceNeed, ChosenRelease
from .fresh_noise import choose_cells
from .tally_batch import TallyBatch, gather

USUAL_TAIL, LEAST_TAIL = Fraction(1, 100), Fraction(1, 1000)
"""How many of the rows are cut at either end where no size is declared, and the least that is cut."""


@frozen
class SuggestedBounds:
    """Suggested bounds for clipping, each 0 or a power of two times the step, and what finding them did."""

    low: Fraction
    high: Fraction
    events: tuple[Event, ...]


@frozen
class SuggestedCaps:
    """A suggested cap on the rows of one person that count, a power of two, and what finding it did."""

    max_rows: int
    events: tuple[Event, ...]


def suggest_bounds(
    column: str,
    rows: Relation,
    engine: TallyBatch,
    *,
    spend: Measure,
    tail: Number | None = None,
    bits: Bits | None = None,
) -> SuggestedBounds:
    """Suggest bounds outside of which about a part `tail` of the rows lies on either side.

    Two private quantiles, at `tail` and 1 − `tail`, on the lattice −2^j, …, −1, 0, 1, …, 2^j of steps: so coarse that
    the choice is among about 60 places, and the suggestion nearly always within a factor of two. The declared bounds
    must be wide enough to begin with; the answer is private, so it may be declared from then on. By default the tail is
    as many rows as the private quantiles may miss by, of the declared size: at most 1/100, which it is without a size.

    Refuses a column that holds no numbers, and a tail outside 0 … 1/2.
    """
    return run_bounds(plan_bounds(column, rows, spend=spend, tail=tail), engine, bits=bits)


@frozen
class BoundsPlan:
    """What finding bounds will do: the ends of the octaves, and two choices among them. No data is read."""

    ends: tuple[tuple[Fraction, Fraction], ...]
    releases: tuple[ChosenRelease, ...]

    @property
    def events(self) -> tuple[Event, ...]:
        """What a ledger is charged with before anything runs."""
        return tuple(release.event for release in self.releases)


def plan_bounds(
    column: str, rows: Relation, *, spend: Measure, tail: Number | None = None
) -> BoundsPlan:
    """Plan the search for bounds; refuses what `suggest_bounds` refuses, before anything is touched or spent."""
    if tail is None:
        return _planned(column, rows, spend, _told_apart(column, rows, spend, both=True), both=True)
    at = rational(tail, "tail")
    if not 0 < at < Fraction(1, 2):
        raise InvalidArgument(f"tail must lie between 0 and 1/2, got {tail}; 1/100 is usual")
    return _planned(column, rows, spend, at, both=True)


def plan_caps(rows: Scan, *, spend: Measure) -> BoundsPlan:
    """Plan the search for a cap on the rows of one person.

    A count misses what a cap k cuts off, about one row for each person above it, and has noise of k·√2/ε: their sum is
    least near the k that √2/ε people exceed. So the upper quantile is taken there, of the declared number of people, or
    at 1/100.

    Refuses tables whose unit is a row: nothing is capped there.
    """
    unit = rows.schema.unit
    if not isinstance(unit, People):
        raise InvalidArgument(
            f"the unit of {rows.schema.name} is a row, so no rows of a person are capped"
        )
    counted = Total("count", None, Fraction(1), 0, unit.max_rows)
    people = PerPerson(rows, (), (("rows", counted),))
    above = _told_apart("rows", people, spend, both=False)
    if rows.schema.size is not None:
        above = max(above, min(Fraction(3, 2) / _epsilon_of(spend) / rows.schema.size, USUAL_TAIL))
    return _planned("rows", people, spend, above, both=False)


def _told_apart(column: str, rows: Relation, spend: Measure, *, both: bool) -> Fraction:
    """Return the least tail that private quantiles tell from none: what they may miss by, of the declared size."""
    size = declared_size(rows)
    if size is None:
        return USUAL_TAIL
    first = _planned(column, rows, spend, USUAL_TAIL, both=both)
    missed = Fraction(math.ceil(first.releases[0].error(0.05)), size)
    return min(max(missed, LEAST_TAIL), USUAL_TAIL)


def _epsilon_of(spend: Measure) -> Fraction:
    """Return the ε that a count would be asked with, for any measure: a guess that decides how wide a tail is."""
    return spend.epsilon if isinstance(spend, PureDP | ApproxDP) else Fraction(1)


def declared_size(rows: Relation) -> int | None:
    """Return the public number of units of a table, if it is declared."""
    found = rows.rows if isinstance(rows, PerPerson) else rows
    return found.schema.size if isinstance(found, Scan) else None


def _planned(
    column: str, rows: Relation, spend: Measure, at: Fraction, *, both: bool
) -> BoundsPlan:
    """Plan the quantiles at both ends, or at the upper end only."""
    kind = domain_of(Field(column), columns_of(rows))
    if not isinstance(kind, Whole):
        raise InvalidArgument(f"bounds are suggested for numbers, and {column} holds none")
    ends = _octaves(kind)
    cells = _cells(Field(column), ends)
    share = row_share(rows)
    weight = weight_of(1, share)
    tally = Tally(rows, cells.expressions, (Term(Constant(True), weight, 0, weight),), share)
    needs = [
        ChoiceNeed(tally, cells, 2 * rank_influence(tally, q, 1), q)
        for q in ((at, 1 - at) if both else (1 - at,))
    ]
    halves = [split(way, [Fraction(1)] * len(needs)) for way in routes(spend)]
    plans = [
        [choice_of(need, part) for need, part in zip(needs, parts, strict=True)] for parts in halves
    ]
    best = min(plans, key=lambda plan: plan[0].error())
    return BoundsPlan(tuple(ends), tuple(best))


def run_bounds(
    plan: BoundsPlan, engine: TallyBatch, *, bits: Bits | None = None
) -> SuggestedBounds:
    """Run a plan that has been paid for."""
    counts = gather([release.need for release in plan.releases], [()], engine)
    places = [
        choose_cells(r, c, [()], bits=bits)[0] for r, c in zip(plan.releases, counts, strict=True)
    ]
    return SuggestedBounds(plan.ends[min(places)][0], plan.ends[max(places)][1], plan.events)


def _octaves(kind: Whole) -> list[tuple[Fraction, Fraction]]:
    """Cut the range at 0 and at plus and minus powers of two, in steps; a cell holds its upper end."""
    marks = sorted({0, *(1 << j for j in range(63)), *(-(1 << j) for j in range(63))})
    ends: list[tuple[Fraction, Fraction]] = []
    below = kind.low
    for mark in [*(m for m in marks if kind.low <= m < kind.high), kind.high]:
        ends.append((below * kind.step, mark * kind.step))
        below = mark + 1
    return ends


def _cells(of: Expression, ends: list[tuple[Fraction, Fraction]]) -> Cells:
    """Return the cells that say in which octave a value lies, by comparing it with their ends."""
    branches: list[Expression] = []
    for place, (_, high) in enumerate(ends[:-1]):
        branches += [Call(Function.AT_MOST, (of, Constant(high))), Constant(place)]
    last = Constant(len(ends) - 1)
    inner = Call(Function.CASE, (Call(Function.IS_NULL, (of,)), Constant(None), *branches, last))
    return Cells((inner,), tuple((place,) for place in range(len(ends))), tuple(ends))
