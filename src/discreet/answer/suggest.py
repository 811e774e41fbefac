"""Private suggestion of clipping bounds and contribution bounds, by quantiles on powers of two.

Guarantee: the suggestion is released by the mechanisms in `BoundsPlan.events`, so it may be declared.
Refuses: with InvalidArgument columns without numbers, a tail outside of 0 … 1/2, units that are rows.
Law: tests/answer/test_suggest.py
"""

from __future__ import annotations

import math
from fractions import Fraction

from ..arithmetic.rational import Number, rational
from ..data.unit import People
from ..errors import InvalidArgument
from ..frozen import frozen
from ..noise import Bits
from ..plan.budget_allocation import choice_of, routes, split
from ..privacy.events import Event
from ..privacy.measures import ApproxDP, Measure, PureDP
from ..query.algebra.expression import Call, Constant, Expression, Field, Function
from ..query.algebra.tally import Tally, Term
from ..query.algebra.tree import PerPerson, Relation, Scan, Total, own_fields, unused_name
from ..query.bounds.contribution_bounds import row_share, weight_of
from ..query.bounds.public_cells import Cells
from ..query.bounds.relation_facts import columns_of
from ..query.bounds.sensitivity import rank_influence
from ..query.domains.domain import Whole
from ..query.domains.domain_of import domain_of
from ..statistics.releases.choice import ChoiceNeed, ChosenRelease
from .ask import TallyBatch, choose_cells, gather

USUAL_TAIL = Fraction(1, 100)
"""Fraction of the rows that is cut at either end if no size is declared; also the most that is cut."""
MIN_TAIL = Fraction(1, 1000)
"""Least fraction of the rows that is cut at either end."""
_MISS_CHANCE = 0.05
"""Failure probability of the rank error from which the default tail follows."""
_MAX_EXPONENT = 63
"""Powers of two up to 2^62: bounds are integers of 64 bits."""


@frozen
class SuggestedBounds:
    """Suggested clipping bounds, and the events that were paid.

    A bound is 0, plus or minus a power of two times the step (or one step beyond one), or an end of
    the declared range.
    """

    low: Fraction
    high: Fraction
    events: tuple[Event, ...]


@frozen
class SuggestedCaps:
    """Suggested contribution bound (rows of one person), and the events that were paid.

    The bound is a power of two, or the declared cap.
    `max_rows_per_group` is suggested where groups are named; `max_rows` is then the declared one.
    """

    max_rows: int
    events: tuple[Event, ...]
    max_rows_per_group: int | None = None


def suggest_bounds(
    column: str,
    rows: Relation,
    engine: TallyBatch,
    *,
    spend: Measure,
    tail: Number | None = None,
    bits: Bits | None = None,
) -> SuggestedBounds:
    """Suggest bounds outside of which about a fraction `tail` of the rows lies on either side.

    Two private quantiles are chosen, at `tail` and 1 − `tail`, on the lattice −2^j, …, −1, 0, 1, …,
    2^j of the column's steps. The lattice has so few cells that the suggestion is nearly always
    within a factor of two. The declared bounds of the column must be wide enough to begin with.

    By default `tail` is the rank error of the private quantiles over the declared size of the
    table, but at least 1/1000 and at most 1/100. Without a declared size it is 1/100.

    Refuses: a column that holds no numbers, and a tail outside 0 … 1/2.
    """
    plan = plan_bounds(column, rows, spend=spend, tail=tail)
    return run_bounds(plan, engine, bits=bits)


@frozen
class BoundsPlan:
    """Plan of a search for bounds: the ends of the octaves, and one or two choices among them."""

    ends: tuple[tuple[Fraction, Fraction], ...]
    releases: tuple[ChosenRelease, ...]

    @property
    def events(self) -> tuple[Event, ...]:
        """Events that a ledger is charged with before anything runs."""
        return tuple(release.event for release in self.releases)


def plan_bounds(
    column: str, rows: Relation, *, spend: Measure, tail: Number | None = None
) -> BoundsPlan:
    """Plan the search for bounds; nothing is touched or spent.

    Refuses: what `suggest_bounds` refuses.
    """
    if tail is None:
        smallest = _smallest_tail(column, rows, spend, both=True)
        return _planned(column, rows, spend, smallest, both=True)
    at = rational(tail, "tail")
    if not 0 < at < Fraction(1, 2):
        raise InvalidArgument(f"tail must lie between 0 and 1/2, got {tail}; 1/100 is usual")
    return _planned(column, rows, spend, at, both=True)


def plan_caps(rows: Scan, *, spend: Measure, by: tuple[str, ...] = ()) -> BoundsPlan:
    """Plan the search for a contribution bound: a cap on the rows of one person, or of one in a group.

    A cap that is higher by 1 keeps one row more of each person above it, and adds √2/ε to the noise.
    So rows cut off and noise together are least near the cap that √2/ε people exceed. The upper
    quantile is taken there, at that fraction of the declared number of people, but at 1/100 at most;
    at 1/100 without a declared number. With columns `by`, what is capped is a person's rows in one
    group of them, and the quantile is over all groups of all people.

    Refuses: tables whose unit is a row, where no cap applies.
    """
    unit = rows.schema.unit
    if not isinstance(unit, People):
        raise InvalidArgument(
            f"the unit of {rows.schema.name} is a row, so no rows of a person are capped"
        )
    counted = Total("count", None, Fraction(1), 0, unit.max_rows)
    # The name of the count must differ from the names of the groups.
    name = unused_name("rows", "rows", by)
    people = PerPerson(rows, own_fields(by), ((name, counted),))
    above = _smallest_tail(name, people, spend, both=False)
    if rows.schema.size is not None:
        # 3/2 is √2 rounded up to a simple fraction.
        best_tail = Fraction(3, 2) / _epsilon_of(spend) / rows.schema.size
        above = max(above, min(best_tail, USUAL_TAIL))
    return _planned(name, people, spend, above, both=False)


def _smallest_tail(column: str, rows: Relation, spend: Measure, *, both: bool) -> Fraction:
    """Return the least tail that private quantiles distinguish from none.

    It is their error in ranks, as a fraction of the declared size.
    """
    size = declared_size(rows)
    if size is None:
        return USUAL_TAIL
    first = _planned(column, rows, spend, USUAL_TAIL, both=both)
    missed_rows = math.ceil(first.releases[0].error(_MISS_CHANCE))
    missed = Fraction(missed_rows, size)
    return min(max(missed, MIN_TAIL), USUAL_TAIL)


def _epsilon_of(spend: Measure) -> Fraction:
    """Return the ε of a later count, for any measure: a guess that decides only how wide a tail is."""
    if isinstance(spend, PureDP | ApproxDP):
        return spend.epsilon
    return Fraction(1)


def declared_size(rows: Relation) -> int | None:
    """Return the public number of units of a table, if it is declared."""
    table = rows.rows if isinstance(rows, PerPerson) else rows
    if isinstance(table, Scan):
        return table.schema.size
    return None


def _planned(
    column: str, rows: Relation, spend: Measure, at: Fraction, *, both: bool
) -> BoundsPlan:
    """Plan the quantiles `at` and 1 − `at` of a column, or only the upper one."""
    domain = domain_of(Field(column), columns_of(rows))
    if not isinstance(domain, Whole):
        raise InvalidArgument(f"bounds are suggested for numbers, and {column} holds none")
    ends = _octaves(domain)
    cells = _cells(Field(column), ends)
    share = row_share(rows)
    weight = weight_of(1, share)
    count = Term(Constant(True), weight, 0, weight)
    tally = Tally(rows, cells.expressions, (count,), share)
    quantiles = [1 - at]
    if both:
        quantiles = [at, 1 - at]
    needs = []
    for quantile in quantiles:
        # Scores count ranks in halves (see `ChoiceNeed.scores`), hence twice the influence.
        influence = 2 * rank_influence(tally, quantile, 1)
        needs.append(ChoiceNeed(tally, cells, influence, quantile))
    equal_weights = [Fraction(1)] * len(needs)
    plans = []
    for route in routes(spend):
        budgets = split(route, equal_weights)
        releases = []
        for need, budget in zip(needs, budgets, strict=True):
            releases.append(choice_of(need, budget))
        plans.append(releases)
    # Budget allocation: the route under which the first quantile is the most accurate.
    best = min(plans, key=lambda plan: plan[0].error())
    return BoundsPlan(tuple(ends), tuple(best))


def run_bounds(
    plan: BoundsPlan, engine: TallyBatch, *, bits: Bits | None = None
) -> SuggestedBounds:
    """Run a plan that has been paid for."""
    needs = [release.need for release in plan.releases]
    totals = gather(needs, [()], engine)
    chosen = []
    for release, counts in zip(plan.releases, totals, strict=True):
        [place] = choose_cells(release, counts, [()], bits=bits)
        chosen.append(place)
    # Noise may choose the upper quantile below the lower one: take the lesser as the lower end.
    low, _ = plan.ends[min(chosen)]
    _, high = plan.ends[max(chosen)]
    return SuggestedBounds(low, high, plan.events)


def _octaves(domain: Whole) -> list[tuple[Fraction, Fraction]]:
    """Cut the range at 0 and at plus and minus powers of two, in steps; a cell holds its upper end."""
    marks = {0}
    for exponent in range(_MAX_EXPONENT):
        marks.add(1 << exponent)
        marks.add(-(1 << exponent))
    inside = [mark for mark in sorted(marks) if domain.low <= mark < domain.high]
    ends: list[tuple[Fraction, Fraction]] = []
    lowest = domain.low
    for mark in [*inside, domain.high]:
        ends.append((lowest * domain.step, mark * domain.step))
        lowest = mark + 1
    return ends


def _cells(of: Expression, ends: list[tuple[Fraction, Fraction]]) -> Cells:
    """Return the cells of the octaves: CASE WHEN x <= end THEN number of the octave …; NULL has none."""
    branches: list[Expression] = []
    for place, (_, high) in enumerate(ends[:-1]):
        at_most = Call(Function.AT_MOST, (of, Constant(high)))
        branches += [at_most, Constant(place)]
    is_null = Call(Function.IS_NULL, (of,))
    last = Constant(len(ends) - 1)
    octave = Call(Function.CASE, (is_null, Constant(None), *branches, last))
    places = tuple((place,) for place in range(len(ends)))
    return Cells((octave,), places, tuple(ends))
