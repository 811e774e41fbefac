"""Trade-off of privacy, error and number of queries: given two of them, find the third.

    given             found
    spend, queries    the error of each of so many equal questions within one budget
    spend, error      how many such questions fit the budget
    error, queries    the price of so many of them together

Without `under` the questions are fixed beforehand. Their number is the largest whose tightest
joint price is within the spend; a budget is divided evenly among them; a price is the sum of pure
ε. With a filter `under`, questions may be chosen after seeing answers (adaptive composition). Then
a fresh filter of that kind says what fits and what it costs.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Literal, Unpack

from ...arithmetic.rational import whole
from ...arithmetic.rounding import fraction_down
from ...errors import InvalidArgument, UnsupportedQuery
from ...frozen import frozen, replace
from ...privacy.calibrate import most_queries
from ...privacy.events import Event, Repeated
from ...privacy.filters.filter import Filter, open_filter
from ...privacy.measures import ZCDP, ApproxDP, Measure, PureDP, RenyiDP
from ...query.algebra.tree import Question
from ...query.bounds.check import CheckedQuestion, check_question
from ...query.bounds.keys import PublicValues
from ..asked.terms import TermOptions, Terms, read_terms
from ..budget_allocation import Divisible, routes, times
from ..choose import plan_checked
from ..plan import Plan
from ..text.plan import range_text

# Beyond this number of queries a question counts as free of charge.
_MAX_QUERIES = 2**60


@frozen
class Tradeoff:
    """Plan of one question, the number of such questions (`queries`) and their joint `spend`.

    `found` says which of error, queries and spend was not given but found.
    """

    found: Literal["error", "queries", "spend"]
    plan: Plan
    queries: int
    spend: Measure

    @property
    def errors(self) -> dict[str, float]:
        """The predicted error of each statistic of one question."""
        return self.plan.statistic_errors()

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        # An error that was asked for is met for the data that the plan supposes. One that was found
        # is told as the range in which other data put it.
        ranges = self.plan.error_ranges() if self.found == "error" else {}
        told = []
        for name, error in self.errors.items():
            number = range_text(ranges[name]) if name in ranges else f"{error:.6g}"
            told.append(f"{name} ± {number}")
        summary = (
            f"{self.queries:,} such questions within {self.spend}, "
            f"each with {', '.join(told)} (found: {self.found})"
        )
        return f"{summary}\n{self.plan}"

    def to_dict(self) -> dict[str, object]:
        """Return the trade-off as plain values for JSON."""
        return {
            "found": self.found,
            "queries": self.queries,
            "spend": str(self.spend),
            "errors": self.errors,
            "plan": self.plan.to_dict(),
        }


def solve_tradeoff(
    question: Question,
    *,
    spend: Measure | None = None,
    queries: int | None = None,
    under: Filter | None = None,
    public_values: PublicValues | None = None,
    **terms: Unpack[TermOptions],
) -> Tradeoff:
    """Find the third of spend, error and number of queries, given two.

    No data is read and nothing is spent.

    >>> from discreet.plan import solve_tradeoff
    >>> import discreet as dp
    >>> votes = {"votes": dp.Schema("votes", dp.Rows(), {"yes": dp.Boolean()})}
    >>> count = dp.parse_sql("SELECT COUNT(*) AS n FROM votes", votes)
    >>> solve_tradeoff(count, spend=dp.PureDP(1), queries=10).errors
    {'n': 30.0}
    >>> solve_tradeoff(count, spend=dp.PureDP(1), error=30).queries
    10
    >>> solve_tradeoff(count, error=30, queries=10).spend <= dp.PureDP(1)
    True

    Refuses: all three or fewer than two, fewer than one query (InvalidArgument), and everything
    that `plan_question` refuses.

    Law: tests/plan/test_tradeoff.py::TestError
    """
    read = read_terms(spend, **terms)
    checked = check_question(question, public_values)
    return tradeoff_of(checked, read, queries=queries, under=under)


def tradeoff_of(
    checked: CheckedQuestion, terms: Terms, *, queries: int | None, under: Filter | None
) -> Tradeoff:
    """Find the third of spend, error and queries for a checked question; see `solve_tradeoff`."""
    missing = sum(given is None for given in (terms.spend, terms.error, queries))
    if missing != 1:
        raise InvalidArgument("give exactly two of spend=, error= and queries=: the third is found")
    spend = terms.spend
    if queries is None and spend is not None:
        return _find_queries(checked, spend, replace(terms, spend=None), under)
    count = whole(queries, "queries", least=1)
    if spend is not None:
        return _find_error(checked, spend, count, terms, under)
    plan = plan_checked(checked, terms, under=under)
    gate = under or open_filter(PureDP(1))
    price = gate.stated(Repeated(plan.event, count))
    return Tradeoff("spend", plan, count, price)


def _find_error(
    checked: CheckedQuestion, spend: Measure, count: int, terms: Terms, under: Filter | None
) -> Tradeoff:
    """Divide the budget evenly over `count` questions, in every measure; take the least error."""
    fresh: Filter | None = None
    if under is None:
        pieces = [_nth(route, count) for route in routes(spend)]
        if isinstance(spend, ApproxDP):
            pieces.append(_nth(spend, count))
    else:
        fresh = _fresh(under, spend)
        pieces = [_piece(fresh, count)]
    plans: list[Plan] = []
    refused: Exception | None = None
    for piece in pieces:
        try:
            plans.append(plan_checked(checked, replace(terms, spend=piece), under=fresh))
        except (InvalidArgument, UnsupportedQuery) as why:
            # Another route may be possible. The last refusal is told if none is.
            refused = why
    if refused is not None and not plans:
        raise refused
    even_weights = [Fraction(1)] * len(checked.question.statistics)
    best = min(plans, key=lambda plan: plan.loss(even_weights))
    return Tradeoff("error", best, count, spend)


def _find_queries(
    checked: CheckedQuestion, spend: Measure, terms: Terms, under: Filter | None
) -> Tradeoff:
    """Count how often the plan that meets the error fits.

    With a filter: in a fresh one of its kind. Without: by the tightest price of all together.
    """
    if under is not None:
        fresh = _fresh(under, spend)
        plan = plan_checked(checked, terms, under=fresh)
        return Tradeoff("queries", plan, _count_admitted(fresh, plan.event), spend)
    # Without a filter a plan has geometric noise; a Gaussian filter makes the other plan.
    gates: list[Filter | None] = [None]
    if not isinstance(spend, PureDP):
        gates.append(open_filter(_gaussian(spend)))
    tradeoffs: list[Tradeoff] = []
    for gate in gates:
        plan = plan_checked(checked, terms, under=gate)
        count = most_queries(plan.event, spend)
        tradeoffs.append(Tradeoff("queries", plan, count, spend))
    return max(tradeoffs, key=lambda tradeoff: tradeoff.queries)


def _gaussian(spend: Measure) -> Measure:
    """Return the route of a budget that allows Gaussian noise."""
    if isinstance(spend, RenyiDP):
        return spend
    return routes(spend)[-1]


def _fresh(under: Filter, spend: Measure) -> Filter:
    """Open a filter of the same kind for this budget; it keeps the same fraction of δ for leaks."""
    budget = under.terms.budget
    kept = under.terms.delta
    delta = None
    # Filters of the other kinds keep a fraction of δ apart, which has to be stated again.
    keeps_delta = bool(kept) and under.kind != "approximate"
    if keeps_delta and isinstance(budget, ApproxDP) and isinstance(spend, ApproxDP):
        delta = spend.delta * kept / budget.delta
    return open_filter(spend, under.kind, delta=delta, neighbours=under.neighbours)


def _piece(fresh: Filter, count: int) -> Measure:
    """Return the spend of each of so many questions in a fresh filter, in a divisible measure."""
    left = fresh.left()
    if isinstance(left, RenyiDP):
        # ρ-zCDP has Rényi divergence at most ρ·α at every order α, so the least ratio fits all.
        rho = min(epsilon / alpha for alpha, epsilon in left.orders)
        return _nth(ZCDP(rho), count)
    if fresh.kind == "advanced" and isinstance(left, ZCDP):
        # Advanced composition counts Σε², shown as ρ = Σε²/2. Rounded down: a smaller ε fits.
        return PureDP(fraction_down(math.sqrt(2 * left.rho / count)))
    return _nth(left, count)


def _nth(budget: Divisible | ApproxDP, count: int) -> Measure:
    """Return one of so many equal parts of a budget."""
    if isinstance(budget, ApproxDP):
        return ApproxDP(budget.epsilon / count, budget.delta / count)
    return times(budget, Fraction(1, count))


def _count_admitted(fresh: Filter, event: Event) -> int:
    """Count how many such events a filter admits one after the other, by doubling and bisection.

    Refuses: an event that costs nothing, since there is no largest number (InvalidArgument).
    """
    # `low` events are admitted, `high` events are not once the first loop has ended.
    low = 0
    high = 1
    while fresh.admits(Repeated(event, high)):
        low = high
        high = 2 * high
        if high > _MAX_QUERIES:
            raise InvalidArgument(
                "the question costs nothing in this filter, so there is no largest number of them"
            )
    while high - low > 1:
        middle = (low + high) // 2
        if fresh.admits(Repeated(event, middle)):
            low = middle
        else:
            high = middle
    return low
