"""Help for choosing bounds: private quantiles of a column, on a public lattice of powers of two."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from ..arithmetic.rational import Number, rational
from ..errors import InvalidArgument
from ..noise import Bits
from ..plan.release import choice_of
from ..plan.split import routes, split
from ..privacy.events import Event
from ..privacy.measures import Measure
from ..query.algebra.expression import Call, Constant, Expression, Field, Function
from ..query.algebra.tally import Tally, Term
from ..query.algebra.tree import Relation
from ..query.bounds.cells import Cells
from ..query.bounds.rows import columns_of
from ..query.bounds.sensitivity import rank_influence
from ..query.bounds.shares import possible_shares, weight_of
from ..query.domains.domain import Whole
from ..query.domains.domain_of import domain_of
from ..statistics.releases.choice import ChoiceNeed, ChosenRelease
from .fresh_noise import choose_cells
from .gather import Tallier, gather

__all__ = ["BoundsPlan", "SuggestedBounds", "plan_bounds", "run_bounds", "suggest_bounds"]


@dataclass(frozen=True, slots=True)
class SuggestedBounds:
    """Suggested bounds for clipping, each 0 or a power of two times the step, and what finding them did."""

    low: Fraction
    high: Fraction
    events: tuple[Event, ...]


def suggest_bounds(
    column: str,
    rows: Relation,
    engine: Tallier,
    *,
    spend: Measure,
    tail: Number = "1/100",
    bits: Bits | None = None,
) -> SuggestedBounds:
    """Suggest bounds outside of which about a part `tail` of the rows lies on either side.

    Two private quantiles, at `tail` and 1 − `tail`, on the lattice −2^j, …, −1, 0, 1, …, 2^j of steps: so coarse that
    the choice is among about 60 places, and the suggestion nearly always within a factor of two. The declared bounds
    must be wide enough to begin with; the answer is private, so it may be declared from then on.

    Refuses a column that holds no numbers, and a tail outside 0 … 1/2.
    """
    return run_bounds(plan_bounds(column, rows, spend=spend, tail=tail), engine, bits=bits)


@dataclass(frozen=True, slots=True)
class BoundsPlan:
    """What finding bounds will do: the ends of the octaves, and two choices among them. No data is read."""

    ends: tuple[tuple[Fraction, Fraction], ...]
    releases: tuple[ChosenRelease, ...]

    @property
    def events(self) -> tuple[Event, ...]:
        """What a ledger is charged with before anything runs."""
        return tuple(release.event for release in self.releases)


def plan_bounds(column: str, rows: Relation, *, spend: Measure, tail: Number = "1/100") -> BoundsPlan:
    """Plan the search for bounds; refuses what `suggest_bounds` refuses, before anything is touched or spent."""
    at = rational(tail, "tail")
    if not 0 < at < Fraction(1, 2):
        raise InvalidArgument(f"tail must lie between 0 and 1/2, got {tail}; 1/100 is usual")
    kind = domain_of(Field(column), columns_of(rows))
    if not isinstance(kind, Whole):
        raise InvalidArgument(f"bounds are suggested for numbers, and {column} holds none")
    ends = _octaves(kind)
    cells = _cells(Field(column), ends)
    share = possible_shares(rows, keyed=False)[0]
    weight = weight_of(1, share)
    tally = Tally(rows, cells.expressions, (Term(Constant(True), weight, 0, weight),), share)
    needs = [ChoiceNeed(tally, cells, 2 * rank_influence(tally, q, 1), q) for q in (at, 1 - at)]
    halves = [split(way, [Fraction(1)] * 2) for way in routes(spend)]
    plans = [[choice_of(need, part) for need, part in zip(needs, parts, strict=True)] for parts in halves]
    best = min(plans, key=lambda plan: plan[0].error())
    return BoundsPlan(tuple(ends), tuple(best))


def run_bounds(plan: BoundsPlan, engine: Tallier, *, bits: Bits | None = None) -> SuggestedBounds:
    """Run a plan that has been paid for."""
    counts = gather([release.need for release in plan.releases], [()], engine)
    places = [choose_cells(r, c, [()], bits=bits)[0] for r, c in zip(plan.releases, counts, strict=True)]
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
