"""Three axes, privacy, error and number of queries: given two of them, the third.

    spend, queries    the error of each of so many equal questions within one budget
    spend, error      how many such questions fit the budget
    error, queries    what so many of them cost

Without a filter the questions are taken to be fixed beforehand, and the tightest price of all of them together counts.
With `under`, questions may be chosen after seeing answers: then the arithmetic of a fresh filter of that kind counts.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Literal, Unpack, assert_never

from ...arithmetic.rational import whole
from ...arithmetic.rounding import fraction_down
from ...errors import InvalidArgument, UnsupportedQuery
from ...frozen import frozen, replace
from ...privacy.calibrate import most_queries
from ...privacy.events import Event, Repeated
from ...privacy.filters.filter import Filter, open_filter
from ...privacy.measures import ZCDP, ApproxDP, GaussianDP, Measure, PureDP, RenyiDP
from ...query.algebra.tree import Question
from ...query.bounds.keys import PublicValues
from ..asked.checked_question import CheckedQuestion, check_question
from ..asked.terms import Terms, TermWords, read_terms
from ..plan import Plan
from ..proportional_split import Divisible, routes
from ..question import plan_checked

_MOST = 2**60


@frozen
class Tradeoff:
    """The plan of one question, how many such questions there are, what they spend together, and which was found."""

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
        misses = ", ".join(f"{name} ± {error:.6g}" for name, error in self.errors.items())
        line = f"{self.queries:,} such questions within {self.spend}, each with {misses} (found: {self.found})"
        return f"{line}\n{self.plan}"

    def to_dict(self) -> dict[str, object]:
        """Return it as plain values for JSON."""
        plain = {
            "found": self.found,
            "queries": self.queries,
            "spend": str(self.spend),
            "errors": self.errors,
        }
        return plain | {"plan": self.plan.to_dict()}


def solve_tradeoff(
    question: Question,
    *,
    spend: Measure | None = None,
    queries: int | None = None,
    under: Filter | None = None,
    public_values: PublicValues | None = None,
    **terms: Unpack[TermWords],
) -> Tradeoff:
    """Find the third of spend, error and number of queries, given two. No data is touched, nothing is spent.

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

    Refuses all three or fewer than two, fewer than one query, and what `plan_question` refuses.
    """
    read = read_terms(spend, **terms)
    return tradeoff_of(check_question(question, public_values), read, queries=queries, under=under)


def tradeoff_of(
    checked: CheckedQuestion, terms: Terms, *, queries: int | None, under: Filter | None
) -> Tradeoff:
    """Find the third for a question that was checked; see `solve_tradeoff`."""
    if sum(given is None for given in (terms.spend, terms.error, queries)) != 1:
        raise InvalidArgument("give exactly two of spend=, error= and queries=: the third is found")
    count = None if queries is None else whole(queries, "queries", least=1)
    if count is None and terms.spend is not None:
        return _queries(checked, terms.spend, replace(terms, spend=None), under)
    if count is not None and terms.spend is not None:
        return _error(checked, terms.spend, count, terms, under)
    plan = plan_checked(checked, terms, under=under)
    event = Repeated(plan.event, count or 1)
    price = (under or open_filter(PureDP(1))).price(event)
    return Tradeoff("spend", plan, count or 1, price)


def _error(
    checked: CheckedQuestion, spend: Measure, count: int, terms: Terms, under: Filter | None
) -> Tradeoff:
    """Divide the budget evenly over so many questions, by each of its routes, and take the least error."""
    if under is None:
        fresh, pieces = None, [_nth(route, count) for route in routes(spend)]
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
        except (InvalidArgument, UnsupportedQuery) as why:  # another route may do
            refused = why
    if refused is not None and not plans:
        raise refused
    even = [Fraction(1)] * len(checked.question.statistics)
    return Tradeoff("error", min(plans, key=lambda plan: plan.loss(even)), count, spend)


def _queries(
    checked: CheckedQuestion, spend: Measure, terms: Terms, under: Filter | None
) -> Tradeoff:
    """Count how often the plan that meets the error fits: in a fresh filter, or by the tightest price of all."""
    if under is not None:
        fresh = _fresh(under, spend)
        plan = plan_checked(checked, terms, under=fresh)
        return Tradeoff("queries", plan, _count_admitted(fresh, plan.event), spend)
    gates = [None] if isinstance(spend, PureDP) else [None, open_filter(_gaussian(spend))]
    found = []
    for gate in gates:
        plan = plan_checked(checked, terms, under=gate)
        found.append(Tradeoff("queries", plan, most_queries(plan.event, spend), spend))
    return max(found, key=lambda third: third.queries)


def _gaussian(spend: Measure) -> Measure:
    """Return the route of a budget that allows Gaussian noise."""
    return spend if isinstance(spend, RenyiDP) else routes(spend)[-1]


def _fresh(under: Filter, spend: Measure) -> Filter:
    """Open a filter of the same kind for this budget; a part of its δ is kept for leaks in the same proportion."""
    budget, kept = under.terms.budget, under.terms.delta
    delta = None
    if (
        kept
        and under.kind != "approximate"
        and isinstance(budget, ApproxDP)
        and isinstance(spend, ApproxDP)
    ):
        delta = spend.delta * kept / budget.delta
    return open_filter(spend, under.kind, delta=delta, neighbours=under.neighbours)


def _piece(fresh: Filter, count: int) -> Measure:
    """Return what each of so many questions may spend in a fresh filter, in a measure that a plan can divide."""
    left = fresh.left()
    if isinstance(left, RenyiDP):
        return _nth(ZCDP(min(epsilon / alpha for alpha, epsilon in left.orders)), count)
    if fresh.kind == "advanced" and isinstance(left, ZCDP):  # it counts Σε², shown as ρ = Σε²/2
        return PureDP(fraction_down(math.sqrt(2 * left.rho / count)))
    return _nth(left, count)


def _nth(budget: Divisible | ApproxDP, count: int) -> Measure:
    """Return one of so many equal parts of a budget."""
    match budget:
        case PureDP(epsilon=amount):
            return PureDP(amount / count)
        case ZCDP(rho=amount):
            return ZCDP(amount / count)
        case GaussianDP(squared=amount):
            return GaussianDP.of_square(amount / count)
        case ApproxDP(epsilon=epsilon, delta=delta):
            return ApproxDP(epsilon / count, delta / count)
        case _:
            assert_never(budget)


def _count_admitted(fresh: Filter, event: Event) -> int:
    """Count how many such events a filter admits one after the other, by doubling and halving."""
    low, high = 0, 1
    while fresh.admits(Repeated(event, high)):
        low, high = high, 2 * high
        if high > _MOST:
            raise InvalidArgument(
                "the question costs nothing in this filter, so there is no largest number of them"
            )
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fresh.admits(Repeated(event, middle)) else (low, middle)
    return low
